import { type Variables, secretName, type SecretPath } from '../model/ports.ts';
import type { ErrorCode } from '../model/error.ts';
import { isGlobMatch } from '../model/matcher.ts';
import { isEmbedded, isLoopbackHost, parseUrlCached } from '../model/address.ts';
import type { OriginList } from '../model/limits.ts';
import type { ServerSettings } from '../model/state.ts';
import { namesListed } from '../model/wording.ts';
import { partsWithReferences } from './blocks.ts';
import { eachText, type Node } from './node.ts';
import {
  isMalformed,
  mayHoldReference,
  parseTemplate,
  mayHoldSecret,
  REQUESTED,
} from './references.ts';
import type { Target } from './target.ts';

/** The origins that keys may be sent to. Read only from outside of the branch. A list that is not set is null. */
export interface TravelPolicy extends SecretPolicy {
  /** Each of them must have an origin. */
  readonly origins: readonly OriginList[];
  readonly variables: readonly string[] | null;
  /** The variables that may go to certain origins alone, whatever else lists them. */
  readonly bindings: readonly Binding[];
  /** If both lists must be set: in a pipeline, and if a branch is followed. */
  readonly required: Requirement | null;
  /**
   * Loopback needs no list. It does in a pod, whose own page and neighbours answer there, and for an agent, which can start a program that
   * answers there.
   */
  readonly isLoopbackFree: boolean;
  /** Certificates are not checked in this process. */
  readonly unverifiedTls: boolean;
}

/** An entry NAME@ORIGIN of SETPOINT_ALLOWED_VARIABLES: globs of the variable, and of where it may be sent. */
interface Binding {
  readonly name: string;
  readonly origin: string;
}

export interface TravelProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** The reason why the lists must be set, and where to set them, as a message has it. */
interface Requirement {
  readonly why: string;
  readonly set: string;
  /** Another way to list origins. */
  readonly instead?: string;
}

const PIPELINE: Requirement = { why: 'With CI set', set: 'Add to the pipeline:' };
const BRANCH: Requirement = { why: 'With --git', set: 'Set it for the controller:' };
const CLUSTER: Requirement = {
  why: 'In a cluster',
  set: 'Set it for the controller:',
  instead: ' or a SettingsPolicy',
};

const AGENT: Requirement = {
  why: 'Since an agent can edit the settings',
  set: 'Set it where setpoint mcp is started:',
};

/** `from` is the possible author of the files by then: a user who can push to a branch or create an object in a cluster, or an agent. */
export function createTravelPolicy(
  env: Variables,
  from?: 'branch' | 'cluster' | 'agent',
): TravelPolicy {
  const entries = parseEnvironmentList(env['SETPOINT_ALLOWED_ORIGINS']);
  const variables = parseEnvironmentList(env['SETPOINT_ALLOWED_VARIABLES']);
  const files = (env['CI'] ?? '') === '' ? null : PIPELINE;
  const required = { files, branch: files ?? BRANCH, cluster: CLUSTER, agent: AGENT };
  return {
    origins: entries === null ? [] : [{ name: 'SETPOINT_ALLOWED_ORIGINS', entries }],
    variables: variables === null ? null : variables.map(parseVariableName),
    bindings: (variables ?? []).flatMap(parseBinding),
    // The namespace of an object defines which Secrets it may request.
    secrets:
      from === 'cluster'
        ? [`${REQUESTED}/**`]
        : parseEnvironmentList(env['SETPOINT_ALLOWED_SECRETS']),
    required: required[from ?? 'files'],
    isLoopbackFree: from !== 'cluster' && from !== 'agent',
    unverifiedTls: env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0',
  };
}

/** Returns the same for a target that has limits of its own. */
export function withinLimits(
  policy: TravelPolicy,
  { limits }: Pick<Target, 'limits'>,
): TravelPolicy {
  if (limits === undefined) return policy;
  return { ...policy, origins: [...policy.origins, ...limits.origins] };
}

/** The variable of an entry of SETPOINT_ALLOWED_VARIABLES. */
export function parseVariableName(entry: string): string {
  return entry.replace(/@.*$/s, '');
}

function parseBinding(entry: string): Binding[] {
  const at = entry.indexOf('@');
  return at < 0 ? [] : [{ name: entry.slice(0, at), origin: entry.slice(at + 1) }];
}

/**
 * The reason why a target's service may not receive the values that its file reads; null if it may. A local service needs no list, but must
 * be in those of its limits. `sent` are the variables that are sent: those of the file, unless its own server is not used.
 */
export function travelProblem(
  target: Target,
  server: ServerSettings,
  policy: TravelPolicy,
  sent?: Iterable<string>,
): TravelProblem | null {
  const { automation, ...own } = server;
  const problem = problemOfServer(target, own, policy, sent);
  if (problem !== null || automation === undefined) return problem;
  return problemOfServer(target, { ...own, ...automation }, policy, sent);
}

function problemOfServer(
  target: Target,
  server: ServerSettings,
  policy: TravelPolicy,
  sent: Iterable<string> | undefined,
): TravelProblem | null {
  const read = partsWithReferences(target);
  const missing = missingLists(read, server, withinLimits(policy, target));
  if (missing !== null) return missing;
  const refused =
    findUnlistedReference(read, policy) ??
    bindingProblem(sent ?? variablesRead(read), server, policy);
  if (refused !== null) return refused;
  const url = parseUrlCached(server.url);
  if (isLocal(server, policy))
    return findUnlistedOrigin(url, server.origin, target.limits?.origins ?? []);
  return (
    revealProblem(server) ??
    originProblem(url, server.origin, withinLimits(policy, target)) ??
    readingProblem(read, server, policy)
  );
}

/** The lists that must be set if several of them are missing, so that one run names all; null if at most one is. */
function missingLists(
  parts: readonly (Node | undefined)[],
  server: ServerSettings,
  policy: TravelPolicy,
): TravelProblem | null {
  const { required } = policy;
  if (required === null || policy.unverifiedTls || isLocal(server, policy)) return null;
  const { why, set, instead = '' } = required;
  const lists = [
    {
      name: 'SETPOINT_ALLOWED_ORIGINS',
      what: `${instead.trim()} where keys may be sent`.trim(),
      entries: policy.origins.length === 0 ? [server.origin] : [],
    },
    {
      name: 'SETPOINT_ALLOWED_VARIABLES',
      what: 'the variables that the file may read',
      entries: policy.variables === null ? [...variablesRead(parts)] : [],
    },
    {
      name: 'SETPOINT_ALLOWED_SECRETS',
      what: 'the secrets that it may ask for',
      entries: policy.secrets === null ? secretsRead(parts).map(secretName) : [],
    },
  ].filter(({ entries }) => entries.length > 0);
  if (lists.length < 2) return null;
  const named = lists.map(({ name, what }) => `${name} (${what})`).join(', ');
  const lines = lists.map(({ name, entries }) => `${name}=${entries.join(',')}`).join(' ');
  return {
    code: 'not-allowed',
    message: `${why}, these lists must be set: ${named}.`,
    hint: `${set.replace(/\bit\b/, 'them')} ${lines}`,
  };
}

/** Returns why a file may not read the variables in parts of it, for a target with this server; null if it may. */
export function readingProblem(
  parts: readonly (Node | undefined)[],
  server: ServerSettings,
  policy: TravelPolicy,
): TravelProblem | null {
  return (
    findUnlistedReference(parts, policy) ??
    bindingProblem(variablesRead(parts), server, policy) ??
    (isLocal(server, policy) ? null : listProblem([...variablesRead(parts)], policy))
  );
}

/** Returns why a variable that is bound to other origins may not be sent to a server, including one on this machine; null if it may. */
function bindingProblem(
  names: Iterable<string>,
  { url, origin: shown }: ServerSettings,
  { bindings }: TravelPolicy,
): TravelProblem | null {
  if (bindings.length === 0) return null;
  const origin = isEmbedded(url) ? url : parseUrlCached(url).origin;
  for (const name of names) {
    const own = bindings.filter((binding) => isGlobMatch(name, [binding.name]));
    const allowed = own.map((binding) => originGlob(binding.origin));
    if (own.length === 0 || isGlobMatch(origin, allowed)) continue;
    return {
      code: 'not-allowed',
      message: `SETPOINT_ALLOWED_VARIABLES binds ${name} to ${namesListed(allowed)}, and the file would send it to ${shown}.`,
      hint: `Use another variable for this origin. If this is intended, add it outside the branch: ${name}@${shown}`,
    };
  }
  return null;
}

function isLocal({ url }: ServerSettings, { isLoopbackFree }: TravelPolicy): boolean {
  return isEmbedded(url) || (isLoopbackFree && isLoopbackHost(parseUrlCached(url).hostname));
}

function findUnlistedReference(
  parts: readonly (Node | undefined)[],
  policy: TravelPolicy,
): TravelProblem | null {
  const { variables } = policy;
  const unlisted =
    variables === null
      ? []
      : [...variablesRead(parts)].filter((name) => !isGlobMatch(name, variables));
  if (unlisted.length === 0) return secretProblem(parts, policy);
  return {
    code: 'not-allowed',
    message: `The file reads ${namesListed(unlisted)}, which SETPOINT_ALLOWED_VARIABLES does not list.`,
    hint: 'If this is intended, add it outside the branch.',
  };
}

/** Secrets that a service shows never travel unencrypted, even if they are listed. */
function revealProblem({ url, origin, compareSecrets }: ServerSettings): TravelProblem | null {
  if (!compareSecrets || parseUrlCached(url).protocol === 'https:') return null;
  return {
    code: 'not-allowed',
    message: `server.compare_secrets would have ${origin} send its secrets in the clear.`,
    hint: 'Use https:, or remove server.compare_secrets.',
  };
}

/** Returns why keys may not be sent to an origin; null if they may. */
export function originProblem(
  url: Readonly<URL>,
  shown: string,
  policy: TravelPolicy,
): TravelProblem | null {
  const code = 'not-allowed';
  if (policy.unverifiedTls && url.protocol === 'https:') {
    const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 would send the key to any server that answers.';
    return {
      code,
      message,
      hint: 'Unset it. To trust your own certificate authority, set server.ca_file.',
    };
  }
  if (policy.origins.length === 0 && policy.required !== null) {
    const { why, set, instead = '' } = policy.required;
    const message = `${why}, SETPOINT_ALLOWED_ORIGINS${instead} must list the addresses that may receive keys.`;
    return { code, message, hint: `${set} SETPOINT_ALLOWED_ORIGINS=${shown}` };
  }
  if (url.protocol === 'http:' && policy.origins.length === 0) return inTheClear(shown);
  return findUnlistedOrigin(url, shown, policy.origins);
}

/** Returns the problem of the first list that lacks an origin; null if each has it. One with `http:` must be listed with its scheme. */
function findUnlistedOrigin(
  url: Readonly<URL>,
  shown: string,
  lists: readonly OriginList[],
): TravelProblem | null {
  for (const { name, entries } of lists) {
    const withScheme = entries.filter((entry) => entry.includes('://')).map(originGlob);
    if (isGlobMatch(url.origin, withScheme)) continue;
    if (url.protocol === 'http:') return inTheClear(shown, name);
    const hosts = entries.map((entry) => entry.toLowerCase());
    if (isGlobMatch(url.host, hosts)) continue;
    const message = `${shown} is not among ${name}.`;
    const hint = 'If this is intended, add it outside the branch.';
    return { code: 'not-allowed', message, hint };
  }
  return null;
}

function inTheClear(shown: string, list?: string): TravelProblem {
  const unlisted = list === undefined ? '' : `: ${list} does not list it with http:`;
  const message = `http: would send settings and keys to ${shown} in the clear${unlisted}.`;
  const hint = `Use https:, or list it with its scheme outside the branch: SETPOINT_ALLOWED_ORIGINS=${shown}`;
  return { code: 'not-allowed', message, hint };
}

function listProblem(variables: readonly string[], policy: TravelPolicy): TravelProblem | null {
  if (policy.required === null || policy.variables !== null || variables.length === 0) return null;
  const message = `${policy.required.why}, SETPOINT_ALLOWED_VARIABLES must list the variables that the file may read.`;
  const line = `SETPOINT_ALLOWED_VARIABLES=${variables.join(',')}`;
  return { code: 'not-allowed', message, hint: `${policy.required.set} ${line}` };
}

/** A list as the environment holds it: entries separated by commas or blanks. */
export function parseEnvironmentList(text: string | undefined): readonly string[] | null {
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
export function variablesRead(parts: readonly (Node | undefined)[]): ReadonlySet<string> {
  const names = new Set<string>();
  const take = (text: string): void => {
    const template = mayHoldReference(text) ? parseTemplate(text) : [];
    if (isMalformed(template)) return;
    for (const part of template)
      if (typeof part === 'object' && part.kind === 'env') names.add(part.name);
  };
  for (const part of parts) eachText(part, take);
  return names;
}

/** The environment's policy for secret commands: see TravelPolicy. */
interface SecretPolicy {
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

/**
 * Returns why a command is not asked for a secret; null if it may be. Applies to every service, also on loopback: a branch chooses the
 * secret.
 */
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

/** The first secret that may not be requested, and the remedy; null if there is none. */
function secretProblem(
  parts: readonly (Node | undefined)[],
  policy: SecretPolicy,
): { readonly code: 'not-allowed'; readonly message: string; readonly hint: string } | null {
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
    return { code: 'not-allowed', message, hint };
  }
  return null;
}

/** Globs whose `*` takes in no slash; one that ends with `/**` takes in all below. */
function isListed(name: string, globs: readonly string[]): boolean {
  return globs.some((glob) =>
    glob.endsWith('/**') ? name.startsWith(glob.slice(0, -2)) : isGlobMatch(name, [glob]),
  );
}
