import type { Path } from '../model/path.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  readObjectName,
} from './foreign.ts';

/** ConfigMaps and Secrets of all files, by `KIND/NAME`: their texts, and those that a container takes its variables of. */
export interface Objects {
  readonly data: ReadonlyMap<string, ForeignRecord>;
  readonly used: ReadonlySet<string>;
}

const KINDS = { configMapRef: 'ConfigMap', secretRef: 'Secret' } as const;
const KEYS = { configMapKeyRef: 'ConfigMap', secretKeyRef: 'Secret' } as const;

/** The objects that documents of Kubernetes have. */
export function collectObjects(documents: readonly Foreign[]): Objects {
  const data = new Map<string, ForeignRecord>();
  const used = new Set<string>();
  const walk = (value: Foreign): void => {
    if (isForeignList(value)) for (const one of value) walk(one);
    if (!isForeignRecord(value)) return;
    const name = readObjectName(value['metadata'] ?? null);
    if (isObject(value) && name !== null)
      data.set(`${nameKind(value)}/${name}`, readObjectTexts(value));
    for (const [key, kind] of Object.entries({ ...KINDS, ...KEYS })) {
      const wanted = readObjectName(value[key] ?? null);
      if (wanted !== null) used.add(`${kind}/${wanted}`);
    }
    for (const one of Object.values(value)) walk(one);
  };
  for (const document of documents) walk(document);
  return { data, used };
}

/** Whether a record is a ConfigMap or Secret. */
export function isObject({ kind, data, stringData }: ForeignRecord): boolean {
  return (
    (kind === 'ConfigMap' || kind === 'Secret') &&
    [data, stringData].some((one) => one !== undefined)
  );
}

/** The texts of an object. What of a Secret is not text is left out. */
export function readObjectTexts({ kind, data, stringData }: ForeignRecord): ForeignRecord {
  const entries = (value: Foreign | undefined, read: (text: string) => string | null) =>
    Object.entries(isForeignRecord(value) ? value : {}).flatMap(([name, one]) => {
      const text = typeof one === 'string' ? read(one) : null;
      return text === null ? [] : [[name, text] as const];
    });
  const own = (text: string): string => text;
  return foreignRecord([
    ...entries(data, kind === 'Secret' ? decodeSecretText : own),
    ...entries(stringData, own),
  ]);
}

/** The text that base64 stands for; null if it is none. */
function decodeSecretText(text: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** A document in which each container has the variables of `envFrom` and `valueFrom` in its `env`. `missing` is called with each object that no file has. */
export function withObjects(
  value: Foreign,
  { data }: Objects,
  missing: (at: Path, kind: string, name: string) => void,
  at: Path = [],
): Foreign {
  const inner = (one: Foreign, key: string): Foreign =>
    withObjects(one, { data, used: new Set() }, missing, [...at, key]);
  if (isForeignList(value))
    return value.map((one, index) => inner(one, readObjectName(one) ?? String(index)));
  if (!isForeignRecord(value)) return value;
  const { envFrom, env, ...others } = value;
  const from = (isForeignList(envFrom) ? envFrom : []).flatMap((source) => {
    if (!isForeignRecord(source)) return [];
    const prefix = typeof source['prefix'] === 'string' ? source['prefix'] : '';
    return Object.entries(KINDS).flatMap(([key, kind]) => {
      const name = readObjectName(source[key] ?? null);
      const texts = name === null ? undefined : data.get(`${kind}/${name}`);
      if (name !== null && texts === undefined) missing([...at, 'envFrom'], kind, name);
      return Object.entries(texts ?? {}).map(([own, text]) =>
        foreignRecord([
          ['name', prefix + own],
          ['value', text],
        ]),
      );
    });
  });
  const own = isForeignList(env) ? env.map((one) => withValue(one, data)) : env;
  const all = isForeignList(own) || own === undefined ? [...from, ...(own ?? [])] : own;
  const rest = Object.entries(others).map(([key, one]) => [key, inner(one, key)] as const);
  return foreignRecord(
    env === undefined && from.length === 0 ? rest : [...rest, ['env', all] as const],
  );
}

/** A variable with the value of the key that it takes, if a file has that. */
function withValue(variable: Foreign, data: Objects['data']): Foreign {
  const from = isForeignRecord(variable) ? variable['valueFrom'] : undefined;
  if (!isForeignRecord(variable) || !isForeignRecord(from)) return variable;
  for (const [ref, kind] of Object.entries(KEYS)) {
    const source = from[ref];
    if (!isForeignRecord(source)) continue;
    const texts = data.get(`${kind}/${readObjectName(source) ?? ''}`);
    const text = typeof source['key'] === 'string' ? texts?.[source['key']] : undefined;
    if (text !== undefined)
      return foreignRecord([
        ['name', variable['name'] ?? null],
        ['value', text],
      ]);
  }
  return variable;
}

/** Returns the kind of an object; empty if it has none. */
export function nameKind(value: ForeignRecord): string {
  const { kind } = value;
  return typeof kind === 'string' ? kind : '';
}
