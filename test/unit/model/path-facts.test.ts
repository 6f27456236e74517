import { describe, expect, it } from 'vitest';
import { fields } from '../../../src/model/field.ts';
import { nativeSchema, secretPaths } from '../../../src/model/native-schema.ts';
import { factsAt, normalPath } from '../../../src/model/path-facts.ts';
import { formatPath, parsePath, type Path } from '../../../src/model/path.ts';

function at(text: string): Path {
  return parsePath(text) ?? [];
}

describe('what is known of a path', () => {
  it.each(['app-server', 'agent-server'] as const)('names every secret of %s', (dialect) => {
    const schema = nativeSchema(dialect);
    const paths = schema === null ? [] : secretPaths(schema);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths)
      expect([formatPath(path), factsAt(path).secret]).toEqual([formatPath(path), true]);
  });

  it('is the same under the name of a field and at its native place', () => {
    for (const { name, native, secret } of fields()) {
      expect(factsAt([name])).toEqual(factsAt(native ?? [name]));
      if (secret) expect([name, factsAt([name]).secret]).toEqual([name, true]);
    }
  });

  it.each([
    ['mcp_config.stdio_servers[files].env.TOKEN', 'agent_settings.mcp_config.files.env.TOKEN'],
    ['mcp_config.sse_servers[https://x/sse]', 'agent_settings.mcp_config["https://x/sse"]'],
    ['mcp_config', 'agent_settings.mcp_config'],
    ['llm_api_key', 'agent_settings.llm.api_key'],
    ['search_api_key', 'search_api_key'],
  ])('an entry has one form whatever list it is in: %s', (flat, native) => {
    expect(normalPath(at(flat))).toEqual(at(native));
  });
});
