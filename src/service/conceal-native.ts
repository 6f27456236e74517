import type { DialectName } from '../model/dialect.ts';
import { NATIVE_SERVERS } from '../model/native-parts.ts';
import {
  isPart,
  isSecretPlace,
  nativeSchema,
  nodesAt,
  type NativeSchema,
} from '../model/native-schema.ts';
import { pathKey, samePath, type Path } from '../model/path.ts';
import type { Value, ValueRecord } from '../model/value.ts';
import { isRecord, mapRecord } from '../model/value.ts';
import { concealMember, concealServers, open, sealed } from './conceal.ts';
import type { Places } from './places.ts';

/** What a dialect says of its answers besides its schema. */
export interface NativeSecrets {
  readonly dialect: DialectName;
  /** Members that hold nothing but secrets, wherever they are. */
  readonly secrets: ReadonlySet<string>;
  /** Where the fields of the specification are: what they hold may be shown unless they are secrets. */
  readonly places: Places;
  /** Whether a member at the top of the record is a secret because of what else is in it. */
  readonly isSecret?: (record: ValueRecord, name: string) => boolean;
  /** Members at the top of the record of which nothing is a secret. */
  readonly harmless?: ReadonlySet<string>;
}

/**
 * Wraps what must not be seen of an answer in a server's own nesting: keys, headers, whatever has the name of a secret or is one by
 * the schema, urls with a secret in them, and all of mcp_config but the members that are known to hold no secret.
 */
export function concealNative(record: ValueRecord, terms: NativeSecrets): ValueRecord {
  const known = new Set([...terms.places.values()].map(pathKey));
  return concealed(record, [], { ...terms, known, schema: nativeSchema(terms.dialect) });
}

interface Terms extends NativeSecrets {
  readonly known: ReadonlySet<string>;
  readonly schema: NativeSchema | null;
}

function concealed(record: ValueRecord, above: Path, terms: Terms): ValueRecord {
  const { secrets, schema, known, isSecret, harmless } = terms;
  const atTop = above.length === 0;
  return mapRecord(record, (value, name): Value => {
    const path = [...above, name];
    if (atTop && harmless?.has(name) === true) return value;
    if (secrets.has(name) || (atTop && isSecret?.(record, name) === true))
      return value === null ? value : sealed(value);
    if (samePath(path, NATIVE_SERVERS)) return concealServers(value);
    const nodes = schema === null ? [] : nodesAt(schema, path);
    if (isSecretPlace(nodes)) return value === null ? value : sealed(value);
    if (isPart(nodes) && isRecord(value)) return concealed(value, path, terms);
    const isKnown = nodes.length > 0 || (known.has(pathKey(path)) && !name.endsWith('api_key'));
    return isKnown && !isRecord(value) ? open(value) : concealMember(value, name);
  });
}
