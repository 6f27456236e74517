import { readRequiredBody } from './http/body.ts';
import type { Routes } from './http/route.ts';
import { openVault } from './native/vault.ts';
import { collectionRoutes } from './collections/collection.ts';
import { settingsV0Secrets } from './collections/settings-v0-secrets.ts';
import { conversationRoutes } from './conversations/routes.ts';
import { sandboxRoutes } from './sandboxes/routes.ts';
import { settingsRoutes } from './settings/routes.ts';

/** The dialects of the settings that the service speaks, each as one release does; a test compares them with those of settings.yaml. */
export const emulatorDialects = ['settings-v0', 'app-server', 'agent-server'] as const;

export type EmulatorDialect = (typeof emulatorDialects)[number];

export function isEmulatorDialect(value: unknown): value is EmulatorDialect {
  return emulatorDialects.some((dialect) => dialect === value);
}

/** Loads the paths of a dialect. `apiKey` is the service's key, with which it keeps secrets out of its store. */
export async function routesOf(
  dialect: EmulatorDialect,
  apiKey: string | undefined,
): Promise<Routes> {
  if (dialect === 'agent-server') {
    const { agentServerRoutes } = await import('./agent-server/routes.ts');
    return agentServerRoutes(apiKey);
  }
  const shared = [...sandboxRoutes, ...conversationRoutes];
  if (dialect === 'app-server') {
    const { appServerRoutes } = await import('./app-server/routes.ts');
    return [...appServerRoutes(apiKey), ...shared];
  }
  const secrets = collectionRoutes(settingsV0Secrets(openVault(apiKey)), readRequiredBody);
  return [...settingsRoutes, ...secrets, ...shared];
}
