import type { Routes } from './http/route.ts';
import { conversationRoutes } from './conversations/routes.ts';
import { sandboxRoutes } from './sandboxes/routes.ts';
import { settingsRoutes } from './settings/routes.ts';

/** The dialects of the settings that the service speaks, each as one release does; a test compares them with those of settings.yaml. */
export const emulatorDialects = ['settings-v0', 'app-server', 'agent-server'] as const;

export type EmulatorDialect = (typeof emulatorDialects)[number];

export function isEmulatorDialect(value: unknown): value is EmulatorDialect {
  return emulatorDialects.some((dialect) => dialect === value);
}

/** How a service of a dialect answers beside its paths. */
export interface Dialogue {
  readonly routes: Routes;
  /** Whether a path with a slash at its end is answered with a redirect to the path without. */
  readonly redirectsSlash: boolean;
  /** Whether a 405 names one method, or all. */
  readonly allows: 'first' | 'all';
}

/** Loads what a dialect needs. `apiKey` is the service's key, with which it keeps secrets out of its store. */
export async function dialogueOf(
  dialect: EmulatorDialect,
  apiKey: string | undefined,
): Promise<Dialogue> {
  if (dialect === 'agent-server') {
    const { agentServerRoutes } = await import('./agent-server/routes.ts');
    return { routes: agentServerRoutes(apiKey), redirectsSlash: true, allows: 'first' };
  }
  const shared = [...sandboxRoutes, ...conversationRoutes];
  if (dialect === 'app-server') {
    const { appServerRoutes } = await import('./app-server/routes.ts');
    const routes = [...appServerRoutes(apiKey), ...shared];
    return { routes, redirectsSlash: true, allows: 'first' };
  }
  return { routes: [...settingsRoutes, ...shared], redirectsSlash: false, allows: 'all' };
}
