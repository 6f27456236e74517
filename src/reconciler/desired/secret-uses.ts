import { matches } from '../model/matcher.ts';
import { secretName, type SecretPath } from '../model/ports.ts';
import { eachText, type Node } from './node.ts';
import { isMalformed, mayHoldSecret, parseTemplate } from './references.ts';

/** What the environment says of secret commands: see TravelPolicy. */
export interface SecretPolicy {
  /** Globs of what the file may ask for, NAME/PATH; null if the list is not set. */
  readonly secrets: readonly string[] | null;
  readonly required: { readonly why: string; readonly set: string } | null;
}

/** The secrets that parts of a file read, each once. */
export function secretsRead(parts: Iterable<Node | undefined>): readonly SecretPath[] {
  const found = new Map<string, SecretPath>();
  const take = (text: string): void => {
    const template = mayHoldSecret(text) ? parseTemplate(text) : [];
    if (isMalformed(template)) return;
    for (const part of template)
      if (typeof part === 'object' && part.kind === 'secret') found.set(secretName(part), part);
  };
  for (const part of parts) eachText(part, take);
  return [...found.values()];
}

/** Why a command is not asked for a secret; null if it may be. Holds for every service, also on loopback: a branch chooses what is asked. */
export function whyNotAsked(secret: SecretPath, policy: SecretPolicy): string | null {
  const { secrets, required } = policy;
  if (secrets === null)
    return required === null
      ? null
      : `${required.why}, SETPOINT_ALLOWED_SECRETS must list the secrets that the file may read.`;
  return isListed(secretName(secret), secrets)
    ? null
    : `The file reads ${secretName(secret)}, which SETPOINT_ALLOWED_SECRETS does not list.`;
}

/** The first secret that may not be asked for, and what to do about it; null if there is none. */
export function secretProblem(
  parts: readonly (Node | undefined)[],
  policy: SecretPolicy,
): { readonly code: 'secret-not-allowed'; readonly message: string; readonly hint: string } | null {
  if (policy.secrets === null && policy.required === null) return null;
  const read = secretsRead(parts);
  for (const secret of read) {
    const message = whyNotAsked(secret, policy);
    if (message === null) continue;
    const line = `SETPOINT_ALLOWED_SECRETS=${read.map(secretName).join(',')}`;
    const hint =
      policy.secrets === null && policy.required !== null
        ? `${policy.required.set} ${line}`
        : 'If this is intended, add it outside the branch.';
    return { code: 'secret-not-allowed', message, hint };
  }
  return null;
}

/** Globs whose `*` takes in no slash; one that ends with `/**` takes in all below. */
function isListed(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) =>
    glob.endsWith('/**') ? name.startsWith(glob.slice(0, -2)) : matches(name, [glob]),
  );
}
