import { partsWithReferences } from '../desired/blocks.ts';
import { travelPolicyIn } from '../desired/key-travel.ts';
import type { Node } from '../desired/node.ts';
import { secretsRead, whyNotAsked } from '../desired/secret-uses.ts';
import type { Target } from '../desired/target.ts';
import type { Options } from './options.ts';
import type { Running } from './redacting.ts';

/**
 * Has the secret commands give what targets read, before their references are looked up. `servers` are targets of which only the server is
 * read. What the lists of the environment do not allow is not asked for.
 */
export async function askSecrets(
  targets: Iterable<Target>,
  servers: Iterable<Target>,
  { env, checkout, secrets, signal }: Running<Options>,
): Promise<void> {
  const read = secretsRead(partsOf(targets, servers));
  if (read.length === 0) return;
  const policy = travelPolicyIn(env, checkout !== undefined);
  const allowed = read.filter((one) => whyNotAsked(one, policy) === null);
  await secrets.ask(allowed, signal);
}

function* partsOf(
  targets: Iterable<Target>,
  servers: Iterable<Target>,
): Iterable<Node | undefined> {
  for (const target of targets) if (target.mayReadSecrets) yield* partsWithReferences(target);
  for (const target of servers) if (target.mayReadSecrets) yield target.server;
}
