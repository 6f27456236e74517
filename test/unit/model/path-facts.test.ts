import { describe, expect, it } from 'vitest';
import { fields } from '../../../src/reconciler/model/field.ts';
import { nativeSchema } from '../../../src/reconciler/model/native-schema.ts';
import {
  findPathFacts,
  normalPath,
  placesWithin,
  maskFreeKeys,
} from '../../../src/reconciler/model/path-facts.ts';
import { formatPath, parsePath, type Path } from '../../../src/reconciler/model/path.ts';
import { secretPaths } from '../../fixture/secret-paths.ts';

function at(text: string): Path {
  return parsePath(text) ?? [];
}

describe('what is known of a path', () => {
  it.each(['app-server', 'agent-server'] as const)('names every secret of %s', (dialect) => {
    const schema = nativeSchema(dialect);
    const paths = schema === null ? [] : secretPaths(schema);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths)
      expect([formatPath(path), findPathFacts(path).secret]).toEqual([formatPath(path), true]);
  });

  it('is the same under the name of a field and at its native place', () => {
    for (const { name, place, secret } of fields()) {
      expect(findPathFacts([name])).toEqual(findPathFacts(place));
      if (secret) expect([name, findPathFacts([name]).secret]).toEqual([name, true]);
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

describe('a place shares what is known of the place around it', () => {
  it('whether it is a secret and what it runs, and no more', () => {
    expect(findPathFacts(at('secrets_store.provider_tokens.github.token')).secret).toBe(true);
    expect(findPathFacts(at('mcp_config.stdio_servers[files].env.TOKEN'))).toMatchObject({
      secret: true,
      runs: { what: 'a program' },
    });
    expect(findPathFacts(at('mcp_config.shttp_servers[https://x/mcp].headers.X'))).toMatchObject({
      secret: true,
      runs: null,
    });
    expect(findPathFacts(at('agent_settings.mcp_config.files.command')).runs).toMatchObject({
      what: 'a program',
    });
    expect(findPathFacts(at('agent_settings.llm'))).toEqual({
      secret: false,
      runs: null,
      safety: null,
      address: null,
      names: 'judged',
      item: null,
      use: 'free',
      words: [],
      list: false,
      served: false,
    });
    expect(findPathFacts(at('llm_base_url.x'))).toMatchObject({ address: null });
    expect(findPathFacts(at('confirmation_mode.x'))).toMatchObject({ safety: null });
    expect(findPathFacts(at('mcp_config')).runs).toBeNull();
    expect(findPathFacts(at('mcp_config.stdio_servers')).runs).toBeNull();
  });

  it('what is sent to an address', () => {
    const sent = (path: string) =>
      findPathFacts(at(path)).address?.sends.map((group) => group.map(formatPath));
    expect(sent('llm_base_url')).toEqual([
      ['agent_settings.llm.api_key'],
      ['agent_settings.llm.extra_headers'],
    ]);
    expect(sent('agent_settings.verification.critic_server_url')).toEqual([
      ['agent_settings.verification.critic_api_key', 'agent_settings.llm.api_key'],
    ]);
  });

  it('places inside a part, each as rows have them, and none that means any name', () => {
    const inside = placesWithin(at('agent_settings.verification')).map(formatPath);
    expect(inside.toSorted()).toEqual([
      'agent_settings.verification.critic_api_key',
      'agent_settings.verification.critic_server_url',
    ]);
    expect(placesWithin(at('mcp_config'))).toEqual([]);
    expect(placesWithin(at('confirmation_mode'))).toEqual([]);
  });
});

describe('a path is shown as far as no name in it has the form of a secret', () => {
  it.each([
    ['misc_settings.theme', 'misc_settings.theme'],
    ['misc_settings.ghp_0123456789abcdefghij', 'misc_settings'],
    ['misc_settings.a.sk-live-0123456789.b', 'misc_settings.a'],
    ['ghp_0123456789abcdefghij', 'ghp_0123456789abcdefghij'],
    [
      'agent_settings.agent_context.secrets.ghp_0123456789abcdefghij',
      'agent_settings.agent_context.secrets.ghp_0123456789abcdefghij',
    ],
    [
      'agent_settings.llm.extra_headers["sk-live-0123456789"]',
      'agent_settings.llm.extra_headers["sk-live-0123456789"]',
    ],
  ])('%s', (path, shown) => {
    expect(maskFreeKeys(at(path))).toEqual(at(shown));
  });
});
