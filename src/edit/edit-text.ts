import type { Json } from '../model/value.ts';
import { plainOf } from './edit-node.ts';
import { isArray, isObject, own, sameJson, type JsonObject } from './json-value.ts';
import { reshapeRoot } from './reshape.ts';
import { spliced } from './splice.ts';
import { yamlSource } from './yaml-source.ts';

/** A value to be put under keys of the file; maps on the way are made where there are none. */
export interface Put {
  readonly path: readonly string[];
  readonly value: Json;
}

/**
 * The text of a settings file with values put into it. Whatever does not have to change stays byte for byte: comments, order,
 * quotes, indentation, line breaks. The result has been read back and stands for exactly what was asked; null where it would
 * not, or where the text is no settings file.
 */
export function editText(text: string, puts: readonly Put[]): string | null {
  const source = yamlSource(text);
  if (source === null) return null;
  const before = plainOf(source.root);
  const wanted = puts.reduce<Json>((value, { path, value: put }) => laid(value, path, put), before);
  if (!isObject(wanted)) return null;
  if (sameJson(before, wanted)) return text;
  const edited = spliced(source.text, reshapeRoot(source, wanted));
  if (edited === null) return null;
  const after = yamlSource(source.mark + edited);
  return after !== null && sameJson(plainOf(after.root), wanted) ? source.mark + edited : null;
}

function laid(value: Json, path: readonly string[], put: Json): Json {
  const [key, ...rest] = path;
  if (key === undefined) return put;
  const record: JsonObject = isObject(value) && !isArray(value) ? value : {};
  return Object.fromEntries([
    ...Object.entries(record),
    [key, laid(own(record, key) ?? null, rest, put)],
  ]);
}
