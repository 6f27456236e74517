import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { readPackageFile } from '../../reconciler/host/read-text.ts';
import type { Json } from '../../reconciler/model/value.ts';

type JsonObject = { readonly [key: string]: Json };

/**
 * The published schema of a document in one piece, as the protocol needs it: the definitions that it takes from other schemas are among its
 * own, by the name of their schema and theirs.
 */
export function readOutputSchema(name: string): NonNullable<Tool['outputSchema']> {
  const definitions = new Map<string, Json>();
  const { $id: _, $defs: __, ...root } = withOwnReferences(readSchema(name), name, definitions);
  return { ...root, type: 'object', $defs: Object.fromEntries(definitions) };
}

function readSchema(name: string): JsonObject {
  return JSON.parse(readPackageFile(`schemas/${name}.schema.json`)) as JsonObject;
}

/** Returns a part of a schema with references to `definitions`, which receives all that it refers to. */
function withOwnReferences(
  part: JsonObject,
  schema: string,
  definitions: Map<string, Json>,
): JsonObject {
  const rewrite = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(rewrite);
    if (typeof value !== 'object' || value === null) return value;
    return withOwnReferences(value as JsonObject, schema, definitions);
  };
  return Object.fromEntries(
    Object.entries(part)
      .filter(([key]) => key !== '$defs')
      .map(([key, value]) => [
        key,
        key === '$ref' && typeof value === 'string'
          ? define(value, schema, definitions)
          : rewrite(value),
      ]),
  );
}

function define(reference: string, from: string, definitions: Map<string, Json>): string {
  const [, schema = from, name = ''] =
    /^(?:(\w+)\.schema\.json)?#\/\$defs\/(.+)$/.exec(reference) ?? [];
  const own = `${schema}.${name}`;
  if (!definitions.has(own)) {
    definitions.set(own, true); // A definition may refer to itself.
    const { $defs } = readSchema(schema);
    const found = ($defs as JsonObject)[name] as JsonObject;
    definitions.set(own, withOwnReferences(found, schema, definitions));
  }
  return `#/$defs/${own}`;
}
