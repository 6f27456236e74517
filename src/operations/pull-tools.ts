import { member, textOf } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import { SetpointError } from '../model/error.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import { secretsIn } from '../model/value.ts';
import type { PullTools } from '../edit/pulled-target.ts';
import { compareEntry } from '../plan/mcp-entry.ts';
import { NOTHING_KNOWN, planSettings } from '../plan/plan-settings.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { sourceFor, type Running } from './redacting.ts';

/** What a pull compares with: references from the environment, and the plan that an apply would make. */
export function pullTools(options: Running<Options>, targets: readonly string[]): PullTools {
  return {
    source: sourceFor(targets, options),
    plan: (desired, observed) => planSettings(desired, observed, NOTHING_KNOWN),
    compare: compareEntry,
  };
}

/** What references of a target stand for, its keys among it: written nowhere, wherever else a service has it. */
export function hiddenIn({ target, server, desired }: Prepared): Secret[] {
  const declared = desired.fields.flatMap(({ value }) => secretsIn(value));
  const secrets = declared.filter((one) => one.ref !== null && !(one instanceof UnseenSecret));
  if (server instanceof SetpointError) return secrets;
  const key = server.apiKey === null ? [] : [server.apiKey];
  const written = textOf(member(target.server, 'url')) ?? '';
  const url = mayHoldReference(written) ? [new Secret(server.url, written)] : [];
  return [...secrets, ...key, ...url, ...server.headers.values()];
}
