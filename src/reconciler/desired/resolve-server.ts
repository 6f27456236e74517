import { parsedUrl } from '../model/address.ts';
import { embeddedAddress, isEmbedded } from '../model/embedded-address.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import type { ServerSettings } from '../model/state.ts';
import { lookUp } from './lookup.ts';
import { member, textOf, type Node } from './node.ts';
import type { Target } from './target.ts';

/** What is missing to reach a service: why, and the reference it would come from. */
export interface ServerProblem {
  readonly path: readonly string[];
  readonly reason: string;
  readonly ref: string;
}

/** How to reach a target's service, references resolved; or every reason why that is not known. */
export function resolveServer(
  target: Target,
  source: ReferenceSource,
):
  | { readonly server: ServerSettings }
  | { readonly problems: readonly ServerProblem[]; readonly url: string | null } {
  const problems: ServerProblem[] = [];
  const resolved = (path: readonly string[]): { text: string; ref: string | null } | null => {
    const written = textOf(path.reduce((node, key) => member(node, key), target.server));
    if (written === undefined) return null;
    const found = lookUp(written, source);
    if (!('problem' in found)) return found;
    const { problem: reason, missing, ref } = found;
    problems.push({ path: ['server', ...path], reason, ref: missing ?? ref });
    return null;
  };
  const header = (path: readonly string[]): Secret | null => {
    const found = resolved(path);
    if (found === null) return null;
    if (isHeaderValue(found.text)) return new Secret(found.text, found.ref);
    const reason = 'its value has characters that no header can carry, such as a line break';
    problems.push({ path: ['server', ...path], reason, ref: found.ref ?? '' });
    return null;
  };
  const url = resolved(['url']);
  const apiKey = header(['api_key']);
  const headers = new Map<string, Secret>();
  const declared = member(target.server, 'headers');
  for (const name of declared?.kind === 'map' ? declared.members.keys() : []) {
    const value = header(['headers', name]);
    if (value !== null) headers.set(name, value);
  }
  const caFile = resolved(['ca_file']);
  const trimmed = url?.text.trim() ?? '';
  if (url !== null && url.ref !== null && !isAddress(trimmed)) {
    problems.push({
      path: ['server', 'url'],
      reason: 'its value is not the address of a service',
      ref: url.ref,
    });
  }
  if (problems.length > 0) return { problems, url: url === null ? null : trimmed };
  const auth = textOf(member(target.server, 'auth'));
  const dialect = textOf(member(target.server, 'dialect'));
  return {
    server: {
      url: trimmed.replace(/\/+$/, ''),
      origin: url === null ? '' : (url.ref ?? urlOrigin(trimmed)),
      apiKey,
      auth: auth === 'session-key' || auth === 'bearer' ? auth : 'both',
      dialect: isDialect(dialect) ? dialect : 'auto',
      headers,
      caFile: caFile?.text ?? null,
      compareSecrets: isTrue(member(target.server, 'compare_secrets')),
    },
  };
}

function isTrue(node: Node | undefined): boolean {
  return node?.kind === 'scalar' && node.value === true;
}

function isDialect(name: string | undefined): name is ServerSettings['dialect'] {
  return name === 'settings-v0' || name === 'app-server' || name === 'agent-server';
}

/** The origin that a target's file names, or the reference that it is; null if it names none. */
export function declaredOrigin(target: Target): string | null {
  const url = textOf(member(target.server, 'url'))?.trim();
  if (url === undefined) return null;
  return isAddress(url) ? urlOrigin(url.replace(/\/+$/, '')) : url;
}

/** The address that a target's file writes out; null if it names none, or reads it from a reference. */
export function declaredAddress(target: Target): string | null {
  const url = textOf(member(target.server, 'url'))?.trim();
  return url !== undefined && isAddress(url) ? url : null;
}

/** Whether a text is the address of a service: http or https without userinfo, query and fragment, or embedded: with a dialect that there is. */
export function isAddress(text: string): boolean {
  return (
    embeddedAddress(text) !== null ||
    (/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/i.test(text) && URL.canParse(text))
  );
}

/** The origin of an address as documents name it. An `embedded:` address is its own origin. */
export function urlOrigin(url: string): string {
  return isEmbedded(url) ? url : parsedUrl(url).origin;
}

/** Visible ASCII, blanks and latin-1: what a header may carry. Anything else would cause an error that quotes the value. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\u0020-\u007E\u0080-\u00FF]+$/.test(text) && text === text.trim();
}
