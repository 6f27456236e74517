import { member } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import { editText, type Put } from './edit-text.ts';
import { variableName } from './stub.ts';
import type { Json } from '../model/value.ts';

/** An environment to be added to a file. */
export interface NewEnvironment {
  readonly name: string;
  /** The address of its service; null where it has that of the blocks above. */
  readonly url: string | null;
  /** Whether a key goes to it. */
  readonly keyed: boolean;
}

/** The variable that holds the key of an environment. */
export function keyVariable(environment: string): string {
  return variableName(environment, 'API_KEY');
}

/**
 * The text of a settings file with one more environment in it, which names its server and nothing else; null where the text
 * cannot be edited. A file that was one target by itself keeps that target, as an environment that adds nothing.
 */
export function withEnvironment(
  text: string,
  targets: readonly Target[],
  hasEnvironments: boolean,
  { name, url, keyed }: NewEnvironment,
): string | null {
  const [former] = targets;
  const puts: Put[] = [];
  if (!hasEnvironments && former !== undefined && member(former.server, 'url') !== undefined)
    puts.push({ path: ['environments', former.name], value: {} });
  const server: [string, Json][] = [];
  if (url !== null) {
    server.push(['url', url]);
    // Neither a key nor headers follow an address that moves: what the blocks above name is named here, too.
    if (keyed) server.push(['api_key', `\${env:${keyVariable(name)}}`]);
    else if (has(former, 'api_key')) server.push(['api_key', null]);
    if (has(former, 'headers')) server.push(['headers', {}]);
  }
  const block: Json = server.length === 0 ? {} : { server: Object.fromEntries(server) };
  return editText(text, [...puts, { path: ['environments', name], value: block }]);
}

function has(target: Target | undefined, key: string): boolean {
  return member(target?.server, key) !== undefined;
}
