import type { DialectName } from '../model/dialect.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { isSecretPlace, nativeNodes } from '../model/native-schema.ts';
import { factsAt } from '../model/path-facts.ts';
import { samePath, type Path } from '../model/path.ts';
import { isList, isRecord, mapRecord, type Value, type ValueRecord } from '../model/value.ts';
import { concealPlace, concealServers, sealed } from './conceal.ts';

/** What a dialect says of its answers besides its schema. */
export interface NativeSecrets {
  readonly dialect: DialectName;
  /** Whether a member at the top of the record is a secret because of what else is in it. */
  readonly isSecret?: (record: ValueRecord, name: string) => boolean;
  /** Members at the top of the record of which nothing is a secret. */
  readonly harmless?: ReadonlySet<string>;
}

/**
 * Wraps what must not be seen of an answer in a server's own nesting: whatever is not at a place that is known to hold no secret, or has
 * the form of one there.
 */
export function concealNative(record: ValueRecord, terms: NativeSecrets): ValueRecord {
  return concealed(record, [], terms);
}

function concealed(record: ValueRecord, above: Path, terms: NativeSecrets): ValueRecord {
  const { isSecret, harmless } = terms;
  const atTop = above.length === 0;
  return mapRecord(record, (value, name): Value => {
    if (atTop && harmless?.has(name) === true) return value;
    if (atTop && isSecret?.(record, name) === true) return sealed(value);
    return concealedAt([...above, name], value, terms);
  });
}

function concealedAt(path: Path, value: Value, terms: NativeSecrets): Value {
  if (samePath(path, NATIVE_SERVERS) || isOfSkill(path)) return concealServers(value);
  const nodes = nativeNodes(terms.dialect, path);
  if (factsAt(path).secret || isSecretPlace(nodes)) return sealed(value);
  if (isRecord(value)) return concealed(value, path, terms);
  if (isList(value))
    return value.map((item, index) => concealedAt([...path, String(index)], item, terms));
  return concealPlace(path, value, nodes);
}

/** The mcp servers that a skill brings. */
function isOfSkill(path: Path): boolean {
  return path.at(-1) === 'mcp_tools' && path.at(-3) === 'skills';
}
