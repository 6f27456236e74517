import type { SetpointError } from '../../model/error.ts';
import { isMaskedSecret } from '../../model/secret-words.ts';
import { pathNamed } from '../../model/path.ts';
import { Secret } from '../../model/secret.ts';
import type { ObservedState } from '../../model/state.ts';
import {
  isList,
  isRecord,
  createRecord,
  sameValue,
  type Value,
  readPath,
} from '../../model/value.ts';
import { type Ask, readJsonReply } from '../request.ts';
import type { Connection } from '../connect.ts';
import { ServiceError } from '../service-error.ts';
import { createStatusError } from '../status-error.ts';
import { SETTINGS_PATH } from './dialect.ts';
import { observeAgentServer, normalizeAgentRecord } from './read.ts';

/** Any value of it but this one and `encrypted` is refused; without it the answer has masks. */
const EXPOSE = { 'x-expose-secrets': 'plaintext' };

/**
 * An observed state with the secrets that its answer masks, for comparing and nothing else: they are in `values` and `revealed`, and
 * not in `answer`. Everything but the masks must read the same a second time.
 */
export async function revealSettings(
  connection: Connection,
  state: ObservedState,
  ask: Ask,
): Promise<ObservedState | SetpointError> {
  const { place, reply } = await ask(SETTINGS_PATH, EXPOSE);
  if (reply.status !== 200) return createStatusError(connection, place, reply);
  const read = readJsonReply(place, reply);
  if ('error' in read) return read.error;
  const found = isRecord(read.json)
    ? mergeRevealed(state.answer, normalizeAgentRecord(read.json))
    : undefined;
  if (!isRecord(found)) {
    return new ServiceError(
      'contended',
      `${place} was answered with other settings than a moment before.`,
      { retry: 'again' },
    );
  }
  const secrets = [...state.secrets.keys()].flatMap((name): [string, Secret][] => {
    const secret = readPath(found, pathNamed(name));
    return secret instanceof Secret ? [[name, secret]] : [];
  });
  return { ...state, values: observeAgentServer(found).values, revealed: new Map(secrets) };
}

/** The masked value with what the mask hides; undefined if the two differ in anything else. */
function mergeRevealed(shown: Value, clear: Value | undefined): Value | undefined {
  if (clear === undefined) return undefined;
  if (isMaskedSecret(shown)) return clear instanceof Secret ? clear : undefined;
  if (isList(shown)) {
    if (!isList(clear) || clear.length !== shown.length) return undefined;
    const items: Value[] = [];
    for (const [index, item] of shown.entries()) {
      const found = mergeRevealed(item, clear[index]);
      if (found === undefined) return undefined;
      items.push(found);
    }
    return items;
  }
  if (!isRecord(shown)) return sameValue(shown, clear) ? shown : undefined;
  if (!isRecord(clear) || Object.keys(clear).length !== Object.keys(shown).length) return undefined;
  const members: [string, Value][] = [];
  for (const [name, member] of Object.entries(shown)) {
    const found = mergeRevealed(member, clear[name]);
    if (found === undefined) return undefined;
    members.push([name, found]);
  }
  return createRecord(members);
}
