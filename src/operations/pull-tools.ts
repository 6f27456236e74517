import { SetpointError } from '../model/error.ts';
import type { Secret } from '../model/secret.ts';
import { secretsIn } from '../model/value.ts';
import type { PullTools } from '../edit/pulled-target.ts';
import { referenceSource } from '../host/reference-source.ts';
import { compareEntry } from '../plan/mcp-entry.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';

/** What a pull compares with: references from the environment, and the plan that an apply would make. */
export function pullTools({ env }: Options): PullTools {
  return {
    source: referenceSource(env),
    plan: (desired, observed) => planSettings(desired, observed, NOTHING_KNOWN),
    compare: compareEntry,
  };
}

/** What references of a target stand for, its keys among it: written nowhere, wherever else a service has it. */
export function hiddenIn({ server, desired }: Prepared): Secret[] {
  const declared = desired.fields.flatMap(({ value }) => secretsIn(value));
  const secrets = declared.filter(({ ref }) => ref !== null);
  if (server instanceof SetpointError) return secrets;
  const key = server.apiKey === null ? [] : [server.apiKey];
  return [...secrets, ...key, ...server.headers.values()];
}
