import type { ErrorCode } from '../model/error.ts';
import { isLoopback } from '../model/loopback.ts';
import type { ServerSettings } from '../model/state.ts';
import { member, type Node } from './node.ts';
import { isMalformed, mayHoldReference, parseTemplate } from './references.ts';
import type { Target } from './target.ts';

/** Where keys may travel. Read from the environment alone, never from the branch; null where a list is not set. */
export interface TravelPolicy {
  readonly origins: readonly string[] | null;
  readonly variables: readonly string[] | null;
  /** In a pipeline both lists must be set. */
  readonly pipeline: boolean;
  /** Certificates are not checked in this process. */
  readonly unverifiedTls: boolean;
}

export interface TravelProblem {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}

/** Why a target may not be reached with what its file reads; null where it may. Loopback and `embedded:` need no list. */
export function travelProblem(
  target: Target,
  server: ServerSettings,
  policy: TravelPolicy,
): TravelProblem | null {
  const variables = [...variablesIn(target.server), ...variablesIn(target.settings)];
  const unlisted =
    policy.variables === null
      ? []
      : variables.filter((name) => !matches(name, policy.variables ?? []));
  if (unlisted.length > 0) {
    const message = `The file reads ${unlisted.join(', ')}, which SETPOINT_ALLOWED_VARIABLES does not list.`;
    return {
      code: 'variable-not-allowed',
      message,
      hint: 'Add it outside the branch, if it is meant.',
    };
  }
  if (server.url.startsWith('embedded:')) return null;
  const url = new URL(server.url);
  if (isLoopback(url.hostname)) return null;
  return originProblem(url, server.origin, policy) ?? listProblem(variables, policy);
}

function originProblem(url: URL, shown: string, policy: TravelPolicy): TravelProblem | null {
  const code = 'origin-not-allowed';
  if (policy.unverifiedTls && url.protocol === 'https:') {
    const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 would hand the key to anybody who answers.';
    return {
      code,
      message,
      hint: 'Unset it; server.ca_file names a certificate authority of your own.',
    };
  }
  if (policy.origins === null && policy.pipeline) {
    const message = 'With CI set, SETPOINT_ALLOWED_ORIGINS must say where keys may go.';
    return { code, message, hint: `Add to the pipeline: SETPOINT_ALLOWED_ORIGINS=${shown}` };
  }
  const withScheme = (policy.origins ?? []).some(
    (entry) => entry.includes('://') && glob(originGlob(entry)).test(url.origin),
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
  return { code, message, hint: 'Add it outside the branch, if it is meant.' };
}

function listProblem(variables: readonly string[], policy: TravelPolicy): TravelProblem | null {
  if (!policy.pipeline || policy.variables !== null || variables.length === 0) return null;
  const message =
    'With CI set, SETPOINT_ALLOWED_VARIABLES must say which variables the file may read.';
  const line = `SETPOINT_ALLOWED_VARIABLES=${[...new Set(variables)].join(',')}`;
  return { code: 'variable-not-allowed', message, hint: `Add to the pipeline: ${line}` };
}

/** The first variable that would go as the key of two origins, or null. */
export function sharedKey(
  servers: readonly { readonly target: Target; readonly server: ServerSettings }[],
): { readonly variable: string; readonly targets: readonly string[] } | null {
  const used = new Map<string, { origin: string; target: string }>();
  for (const { target, server } of servers) {
    const origin = server.url.startsWith('embedded:') ? server.url : new URL(server.url).origin;
    const keys = [
      ...variablesIn(member(target.server, 'api_key')),
      ...variablesIn(member(target.server, 'headers')),
    ];
    for (const variable of server.apiKey === null && server.headers.size === 0 ? [] : keys) {
      const other = used.get(variable);
      if (other !== undefined && other.origin !== origin)
        return { variable, targets: [other.target, target.name] };
      used.set(variable, { origin, target: target.name });
    }
  }
  return null;
}

/** A list as the environment holds it: entries apart by commas or blanks. */
export function listIn(text: string | undefined): readonly string[] | null {
  if (text === undefined || text.trim() === '') return null;
  return text.split(/[\s,]+/).filter((entry) => entry !== '');
}

/** Whether one of the globs matches a text as a whole; `*` stands for anything but a slash. */
export function matches(text: string, globs: readonly string[]): boolean {
  return globs.some((entry) => glob(entry).test(text));
}

/** An entry as an origin is written: lower case, no default port, no path. */
function originGlob(entry: string): string {
  if (!entry.includes('*') && URL.canParse(entry)) return new URL(entry).origin;
  return entry
    .toLowerCase()
    .replace(/^https:\/\/(.*):443$/, 'https://$1')
    .replace(/^http:\/\/(.*):80$/, 'http://$1');
}

function glob(pattern: string): RegExp {
  const escaped = pattern.replace(/\/+$/, '').replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '[^/]*')}$`);
}

function variablesIn(node: Node | undefined): string[] {
  if (node === undefined) return [];
  if (node.kind === 'map') return [...node.members.values()].flatMap((m) => variablesIn(m.node));
  if (node.kind === 'list') return node.items.flatMap(variablesIn);
  if (typeof node.value !== 'string' || !mayHoldReference(node.value)) return [];
  const parts = parseTemplate(node.value);
  return isMalformed(parts)
    ? []
    : parts.flatMap((part) => (typeof part === 'object' && part.kind === 'env' ? [part.name] : []));
}
