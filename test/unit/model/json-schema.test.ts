import { describe, expect, it } from 'vitest';
import {
  findSchemaFaults,
  describeSchema,
  type SchemaNode,
} from '../../../src/reconciler/model/json-schema.ts';
import {
  nativeSchema,
  selectSchemaNodes,
  serversWith,
} from '../../../src/reconciler/model/native-schema.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, WireNumber, type Value } from '../../../src/reconciler/model/value.ts';
import { secretPaths } from '../../fixture/secret-paths.ts';

const AT = (value: Value, node: SchemaNode) =>
  findSchemaFaults(value, node, {}).map(({ path, kind }) => [path.join('.'), kind]);

describe('a value by a schema', () => {
  const LLM: SchemaNode = {
    type: 'object',
    properties: {
      timeout: { type: ['integer', 'null'], minimum: 0 },
      ratio: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
      effort: { type: 'string', enum: ['low', 'high'] },
      name: { type: 'string', minLength: 1, maxLength: 2 },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
    },
    required: ['timeout'],
    additionalProperties: false,
  };

  it.each<[string, Value, unknown]>([
    ['fits', createRecord([['timeout', 3]]), []],
    ['is out of range', createRecord([['timeout', -1]]), [['timeout', 'value']]],
    ['is no whole number', createRecord([['timeout', 1.5]]), [['timeout', 'value']]],
    ['has many digits', createRecord([['timeout', new WireNumber('9007199254740993')]]), []],
    [
      'is at an open limit',
      createRecord([
        ['timeout', 1],
        ['ratio', 1],
      ]),
      [['ratio', 'value']],
    ],
    [
      'is none of the words',
      createRecord([
        ['timeout', 1],
        ['effort', 'mid'],
      ]),
      [['effort', 'value']],
    ],
    [
      'is too long',
      createRecord([
        ['timeout', 1],
        ['name', 'abc'],
      ]),
      [['name', 'value']],
    ],
    [
      'counts a surrogate pair once',
      createRecord([
        ['timeout', 1],
        ['name', '😀😀'],
      ]),
      [],
    ],
    [
      'is not known',
      createRecord([
        ['timeout', 1],
        ['other', 1],
      ]),
      [['other', 'unknown']],
    ],
    ['is missing', createRecord([]), [['timeout', 'missing']]],
    [
      'is wrong inside a map',
      createRecord([
        ['timeout', 1],
        ['headers', createRecord([['X', 1]])],
      ]),
      [['headers.X', 'value']],
    ],
    ['is a map where text is', 'text', [['', 'value']]],
  ])('%s', (_, value, faults) => {
    expect(AT(value, LLM)).toEqual(faults);
  });

  it('is judged behind a reference, and nothing of it is told', () => {
    const effort: SchemaNode = { type: 'string', enum: ['low', 'high'] };
    expect(AT(new Secret('low', '${env:E}'), effort)).toEqual([]);
    expect(AT(new Secret('mid', '${env:E}'), effort)).toEqual([['', 'value']]);
    expect(AT(new UnseenSecret('${env:E}'), effort)).toEqual([]);
    expect(AT(new Secret('7', '${env:N}'), { type: 'integer', minimum: 8 })).toEqual([
      ['', 'value'],
    ]);
  });

  it('is told in words by what its place takes', () => {
    expect(describeSchema({ type: ['integer', 'null'], minimum: 0 }, {})).toBe(
      'a whole number of at least 0 or null',
    );
    expect(describeSchema({ type: 'string', enum: ['low', 'high'] }, {})).toBe('"low" or "high"');
  });
});

describe('the schemas of servers', () => {
  it('have every secret as one, and what the server keeps by itself as read-only', () => {
    for (const dialect of ['app-server', 'agent-server'] as const) {
      const schema = nativeSchema(dialect);
      expect(schema).not.toBeNull();
      if (schema === null) continue;
      const paths = secretPaths(schema).map((path) => path.join('.'));
      expect(paths).toEqual(
        expect.arrayContaining([
          'agent_settings.llm.api_key',
          'agent_settings.llm.aws_access_key_id',
          'agent_settings.llm.aws_secret_access_key',
          'agent_settings.llm.aws_session_token',
          'agent_settings.verification.critic_api_key',
          'agent_settings.agent_context.secrets',
        ]),
      );
      for (const path of [
        ['agent_settings', 'schema_version'],
        ['agent_settings', 'agent_context', 'current_datetime'],
      ])
        expect(selectSchemaNodes(schema, path).every(({ readOnly }) => readOnly === true)).toBe(
          true,
        );
    }
    expect(nativeSchema('settings-v0')).toBeNull();
  });

  it('tell the variants of a part apart by its word', () => {
    const schema = nativeSchema('agent-server');
    if (schema === null) throw new Error('no schema');
    const kind = (word: string) => () => word;
    expect(selectSchemaNodes(schema, ['agent_settings', 'tools'], kind('acp'))).toEqual([]);
    expect(selectSchemaNodes(schema, ['agent_settings', 'acp_model'], kind('acp'))).toHaveLength(1);
    expect(selectSchemaNodes(schema, ['agent_settings', 'tools'], kind('openhands'))).toHaveLength(
      1,
    );
    expect(serversWith(['conversation_settings', 'default_runtime'])).toBe('agent-server 1.57.0');
  });
});
