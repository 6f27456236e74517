import type { Variables } from '../model/ports.ts';
import type { ErrorCode } from '../model/error.ts';
import { matches } from '../model/glob.ts';
import { isLoopback, parsedUrl } from '../model/address.ts';
import type { ServerSettings } from '../model/state.ts';
import { partsWithReferences } from './blocks.ts';
import type { Node } from './node.ts';
import {
  isMalformed,
  mayHoldReference,
  parseTemplate,
  wholeReference,
  type Reference,
} from './references.ts';
import type { Target } from './target.ts';

/** Where keys may be sent. Read from the environment alone, never from the branch. A list that is not set is null. */
export interface TravelPolicy {
  readonly origins: readonly string[] | null;
  readonly variables: readonly string[] | null;
  /** If both lists must be set: in a pipeline, and if a branch is followed. */
  readonly required: Requirement | null;
  /** Certificates are not checked in this process. */
  readonly unverifiedTls: boolean;
}

export interface TravelProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** Why the lists must be set, and where to set them, as a message has it. */
interface Requirement {
  readonly why: string;
  readonly set: string;
}

const PIPELINE: Requirement = { why: 'With CI set', set: 'Add to the pipeline:' };
const BRANCH: Requirement = { why: 'With --git', set: 'Set it for the controller:' };

/** `followsBranch` is whether the files are those of whatever commit a branch has by then. */
export function travelPolicyIn(env: Variables, followsBranch: boolean): TravelPolicy {
  const pipeline = (env['CI'] ?? '') !== '';
  return {
    origins: listIn(env['SETPOINT_ALLOWED_ORIGINS']),
    variables: listIn(env['SETPOINT_ALLOWED_VARIABLES']),
    required: pipeline ? PIPELINE : followsBranch ? BRANCH : null,
    unverifiedTls: env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
  };
}

/** Why a target's service may not be sent what its file reads; null if it may. Loopback and `embedded:` need no list. */
export function travelProblem(
  target: Target,
  server: ServerSettings,
  policy: TravelPolicy,
): TravelProblem | null {
  const read = partsWithReferences(target);
  const unlisted = unlistedProblem(read, policy);
  if (unlisted !== null || isLocal(server)) return unlisted;
  return (
    revealProblem(server) ??
    originProblem(parsedUrl(server.url), server.origin, policy) ??
    readingProblem(read, server, policy)
  );
}

/** Why a file may not read the variables in parts of it, for a target with this server; null if it may. */
export function readingProblem(
  parts: readonly (Node | undefined)[],
  server: ServerSettings,
  policy: TravelPolicy,
): TravelProblem | null {
  return (
    unlistedProblem(parts, policy) ??
    (isLocal(server) ? null : listProblem([...variablesRead(parts)], policy))
  );
}

function isLocal({ url }: ServerSettings): boolean {
  return url.startsWith('embedded:') || isLoopback(parsedUrl(url).hostname);
}

function unlistedProblem(
  parts: readonly (Node | undefined)[],
  { variables }: TravelPolicy,
): TravelProblem | null {
  if (variables === null) return null;
  const unlisted = [...variablesRead(parts)].filter((name) => !matches(name, variables));
  if (unlisted.length === 0) return null;
  return {
    code: 'variable-not-allowed',
    message: `The file reads ${namesOf(unlisted)}, which SETPOINT_ALLOWED_VARIABLES does not list.`,
    hint: 'If this is intended, add it outside the branch.',
  };
}

const SHOWN_NAMES = 20;

function namesOf(names: readonly string[]): string {
  const more = names.length - SHOWN_NAMES;
  const shown = names.slice(0, SHOWN_NAMES).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Secrets that a service shows never travel in the clear, whatever is listed. */
function revealProblem({ url, origin, compareSecrets }: ServerSettings): TravelProblem | null {
  if (!compareSecrets || parsedUrl(url).protocol === 'https:') return null;
  return {
    code: 'origin-not-allowed',
    message: `server.compare_secrets would have ${origin} send its secrets in the clear.`,
    hint: 'Use https:, or remove server.compare_secrets.',
  };
}

function originProblem(
  url: Readonly<URL>,
  shown: string,
  policy: TravelPolicy,
): TravelProblem | null {
  const code = 'origin-not-allowed';
  if (policy.unverifiedTls && url.protocol === 'https:') {
    const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 would hand the key to anybody who answers.';
    return {
      code,
      message,
      hint: 'Unset it; server.ca_file names a certificate authority of your own.',
    };
  }
  if (policy.origins === null && policy.required !== null) {
    const message = `${policy.required.why}, SETPOINT_ALLOWED_ORIGINS must list where keys may be sent.`;
    return { code, message, hint: `${policy.required.set} SETPOINT_ALLOWED_ORIGINS=${shown}` };
  }
  const withScheme = (policy.origins ?? []).some(
    (entry) => entry.includes('://') && matches(url.origin, [originGlob(entry)]),
  );
  const listed =
    withScheme ||
    (url.protocol === 'https:' &&
      matches(
        url.host,
        (policy.origins ?? []).map((entry) => entry.toLowerCase()),
      ));
  if (url.protocol === 'http:' && !withScheme) {
    const message = `http: would send the key to ${shown} in the clear.`;
    return {
      code,
      message,
      hint: `Use https:, or list it with its scheme outside the branch: SETPOINT_ALLOWED_ORIGINS=${shown}`,
    };
  }
  if (policy.origins === null || listed) return null;
  const message = `${shown} is not among SETPOINT_ALLOWED_ORIGINS.`;
  return { code, message, hint: 'If this is intended, add it outside the branch.' };
}

function listProblem(variables: readonly string[], policy: TravelPolicy): TravelProblem | null {
  if (policy.required === null || policy.variables !== null || variables.length === 0) return null;
  const message = `${policy.required.why}, SETPOINT_ALLOWED_VARIABLES must list the variables that the file may read.`;
  const line = `SETPOINT_ALLOWED_VARIABLES=${variables.join(',')}`;
  return { code: 'variable-not-allowed', message, hint: `${policy.required.set} ${line}` };
}

/** The variables and files that are sent as keys in one run, and the origin of each. */
export class KeyUses {
  readonly #fileOf: (path: string) => string;
  readonly #used = new Map<string, { readonly origin: string; readonly target: string }>();

  /** `fileOf` identifies the file that a path leads to. */
  constructor(fileOf: (path: string) => string) {
    this.#fileOf = fileOf;
  }

  /** Adds the keys of a target. Returns the first variable or file that is sent to another origin as well, or null. */
  add(
    { name }: Pick<Target, 'name'>,
    server: ServerSettings,
  ): { readonly key: string; readonly targets: readonly string[] } | null {
    const origin = server.url.startsWith('embedded:') ? server.url : parsedUrl(server.url).origin;
    for (const secret of [server.apiKey, ...server.headers.values()]) {
      const reference = wholeReference(secret?.ref ?? '');
      if (reference === null) continue;
      const source = sourceOf(reference, this.#fileOf);
      const other = this.#used.get(source);
      if (other !== undefined && other.origin !== origin)
        return { key: referenceName(reference), targets: [other.target, name] };
      if (other === undefined) this.#used.set(source, { origin, target: name });
    }
    return null;
  }
}

function sourceOf(reference: Reference, fileOf: (path: string) => string): string {
  return reference.kind === 'env' ? `env:${reference.name}` : `file:${fileOf(reference.path)}`;
}

function referenceName(reference: Reference): string {
  return reference.kind === 'env' ? reference.name : `the file ${reference.path}`;
}

/** A list as the environment holds it: entries separated by commas or blanks. */
export function listIn(text: string | undefined): readonly string[] | null {
  if (text === undefined || text.trim() === '') return null;
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** An entry in the form of an origin: lower case, no default port, no path. */
function originGlob(entry: string): string {
  if (!entry.includes('*') && URL.canParse(entry)) return new URL(entry).origin;
  return entry
    .toLowerCase()
    .replace(/^https:\/\/(.*):443$/, 'https://$1')
    .replace(/^http:\/\/(.*):80$/, 'http://$1');
}

/** The variables that parts of a file read, each once. */
function variablesRead(parts: readonly (Node | undefined)[]): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (node: Node | undefined): void => {
    if (node === undefined) return;
    if (node.kind === 'map') for (const { node: value } of node.members.values()) visit(value);
    else if (node.kind === 'list') for (const item of node.items) visit(item);
    else if (typeof node.value === 'string' && mayHoldReference(node.value)) {
      const template = parseTemplate(node.value);
      if (isMalformed(template)) return;
      for (const part of template)
        if (typeof part === 'object' && part.kind === 'env') names.add(part.name);
    }
  };
  for (const part of parts) visit(part);
  return names;
}
