import { describe, expect, it } from 'vitest';
import {
  fieldPath,
  type FieldPath,
  describeSchemaPlace,
  plainPaths,
} from '../../../src/reconciler/desired/field-path.ts';
import { fields } from '../../../src/reconciler/model/field.ts';

function found(text: string): FieldPath {
  const place = fieldPath(text);
  if ('hint' in place) throw new Error(place.hint);
  return place;
}

describe('paths that a person may ask about', () => {
  it('every path that is offered leads somewhere, and has a meaning', () => {
    for (const path of plainPaths()) {
      expect(describeSchemaPlace(found(path)).description, path).not.toBe('');
      expect(
        describeSchemaPlace(found(path)).types.length +
          describeSchemaPlace(found(path)).values.length,
      ).toBeGreaterThan(0);
    }
  });

  it('of every field of the settings the meaning is that of the field table', () => {
    for (const field of fields()) {
      expect(describeSchemaPlace(found(field.name)), field.name).toMatchObject({
        types: [field.type],
        nullable: field.nullable,
        secret: field.secret,
        default: field.default,
        reference: field.type === 'object' ? 'none' : expect.stringMatching(/whole|inside/),
        store: { on_null: field.onNull, set_flag: field.setFlag, readable: field.readable },
      });
    }
  });

  it.each([
    ['language', 'settings', ['language']],
    ['settings.language', 'settings', ['language']],
    ['settings', 'settings', ['settings']],
    [
      'mcp_config.sse_servers[https://x/sse]',
      'settings',
      ['mcp_config', 'sse_servers', 'https://x/sse'],
    ],
    [
      'mcp_config.sse_servers["${env:U}"].api_key',
      'settings',
      ['mcp_config', 'sse_servers', '${env:U}', 'api_key'],
    ],
    ['secrets_store.custom_secrets.A', 'secrets', ['secrets', 'A']],
    ['sandboxes[0].running', 'sandboxes', ['sandboxes', '0', 'running']],
    ['server.headers.X-A', 'file', ['server', 'headers', 'X-A']],
    ['guards.protected', 'file', ['guards', 'protected']],
    ['name', 'file', ['name']],
  ])('%s belongs to %s', (text, part, path) => {
    expect(found(text)).toMatchObject({ part, path });
  });

  it.each([
    [
      'mcp_config.shttp_servers[https://x].timeout',
      { default: 60, minimum: 0, maximum: null, store: null },
    ],
    ['mcp_config.shttp_servers[https://x]', { types: ['string', 'object'], reference: 'inside' }],
    ['mcp_config.stdio_servers[x]', { description: expect.stringContaining('runtime container') }],
    [
      'server.auth',
      { values: ['session-key', 'bearer', 'both'], default: 'both', reference: 'none' },
    ],
    ['server.api_key', { secret: true, nullable: true, reference: 'whole' }],
    ['server.headers.X-A', { secret: true, nullable: false }],
    ['sandboxes[0].surplus', { default: 'keep' }],
    ['guards.protected', { default: false, store: null }],
  ])('%s means %j', (text, meaning) => {
    expect(describeSchemaPlace(found(text))).toMatchObject(meaning);
  });

  it('what has no default shows none', () => {
    expect(describeSchemaPlace(found('server.url'))).not.toHaveProperty('default');
    expect(describeSchemaPlace(found('guards.max_changes'))).not.toHaveProperty('default');
  });
});
