import { formatCount } from '../model/wording.ts';
import { createPassedCheck, type Check } from '../model/doctor.ts';
import type { LeftAlone } from '../model/documents.gen.ts';
import { formatPath, type Path } from '../model/path.ts';
import { maskFreeKeys } from '../model/path-facts.ts';
import type { ObservedState } from '../model/state.ts';
import { isList, isRecord, type Value } from '../model/value.ts';
import type { ReadCollections } from '../pull/listed.ts';
import { REASONS } from '../pull/writable.ts';

/* The logins of persons on a service. It alone stores them, and no file declares one: a rebuilt service lacks them. */

/** Lists the settings and items of a service that work by a login. */
export function listLogins(
  { answer }: Pick<ObservedState, 'answer'>,
  { read }: Pick<ReadCollections, 'read'>,
): readonly LeftAlone[] {
  const ofItems = read.flatMap(({ form, listing }) =>
    listing.items.flatMap(({ name, members }) => findLogins(members, [form.block, name])),
  );
  return [...findLogins(answer, []), ...ofItems].map((path) => ({
    path: [...maskFreeKeys(path)],
    reason: REASONS.login,
    ref: null,
  }));
}

/** Names the logins that a service works with; nothing if there are none. */
export function checkLogins({ answer }: Pick<ObservedState, 'answer'>): readonly Check<'logins'>[] {
  const paths = findLogins(answer, []).map((path) => formatPath(maskFreeKeys(path)));
  if (paths.length === 0) return [];
  const found = `${formatCount(paths.length, 'login')} of a person: ${paths.join(', ')}; ${REASONS.login}`;
  return [createPassedCheck('logins', found)];
}

function findLogins(value: Value, path: Path): readonly Path[] {
  if (isList(value)) return value.flatMap((one) => findLogins(one, [...path, readListName(one)]));
  if (!isRecord(value)) return [];
  if (value['strategy'] === 'oauth2') return [path];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...path, name];
    return name === 'auth_type' && inner === 'subscription' ? [place] : findLogins(inner, place);
  });
}

/** Returns the name of an item of a list, such as an mcp server. */
function readListName(item: Value): string {
  const name = isRecord(item) ? (item['name'] ?? item['url']) : null;
  return typeof name === 'string' ? name : '#';
}
