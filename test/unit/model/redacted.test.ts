import { describe, expect, it } from 'vitest';
import { redactDocument } from '../../../src/reconciler/model/redacted.ts';
import { Redactor } from '../../../src/reconciler/model/redactor.ts';
import { change, environment, planOf } from '../../fixture/documents.ts';

function redactorOf(...values: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(value, null);
  return redactor;
}

describe('names of the schema stay in paths, and what a person or a service named does not', () => {
  it.each([
    [['llm_model'], ['llm_model']],
    [
      ['settings', 'llm_model'],
      ['settings', 'llm_model'],
    ],
    [
      ['mcp_config', 'stdio_servers', 'llm_model', 'env', 'url'],
      ['mcp_config', 'stdio_servers', '(sensitive)', 'env', '(sensitive)'],
    ],
    [
      ['mcp_config', 'sse_servers', 'https://x/tenant-77/sse', 'api_key'],
      ['mcp_config', 'sse_servers', 'https://x/(sensitive)/sse', 'api_key'],
    ],
    [
      ['secrets_store', 'provider_tokens', 'tenant-77'],
      ['secrets_store', 'provider_tokens', '(sensitive)'],
    ],
    [['x_TENANT-77'], ['x_(sensitive)']],
  ])('%j', (path, shown) => {
    const redactor = redactorOf(
      'llm_model',
      'url',
      'tenant-77',
      'api_key',
      'settings',
      'provider_tokens',
    );
    const warning = { code: 'guard' as const, message: 'm', path };
    expect(redactDocument(warning, redactor).path).toEqual(shown);
  });
});

describe('a change', () => {
  it('is marked sensitive if masking has altered its values, and stays the change it is', () => {
    const plan = planOf(
      environment({
        changes: [
          change({ before: 'fr', after: 'see https://u:p@h/x?k=1' }),
          change({ path: ['agent'], before: { 'tenant-77': 'x' }, after: 77_077 }),
        ],
      }),
    );
    expect(
      redactDocument(plan, redactorOf('tenant-77', '77077')).environments[0]?.changes,
    ).toMatchObject([
      {
        path: ['language'],
        action: 'change',
        before: 'fr',
        after: 'see https://(sensitive)@h/x?(sensitive)',
        sensitive: true,
      },
      { path: ['agent'], before: { '(sensitive)': 'x' }, after: '(sensitive)', sensitive: true },
    ]);
    expect(redactDocument(plan, redactorOf('nothing')).environments[0]?.changes[1]).toMatchObject({
      sensitive: false,
    });
  });

  it('of a sandbox keeps what it is about, but for an id or spec that is a value', () => {
    const of = (path: string[]) =>
      redactDocument(
        change({ resource: 'sandbox', path }),
        redactorOf('default', '#1', 'spec:77', 'llm_model'),
      ).path;
    expect(of(['default', '#1'])).toEqual(['default', '#1']);
    expect(of(['spec:77', '#2'])).toEqual(['(sensitive)', '#2']);
    expect(of(['llm_model'])).toEqual(['(sensitive)']);
  });

  it('two keys that are masked alike stay two', () => {
    const after = { 'tenant-77': 1, 'TENANT-77': 2, language: 3 };
    expect(redactDocument(change({ after }), redactorOf('tenant-77')).after).toEqual({
      '(sensitive)': 1,
      '(sensitive)#2': 2,
      language: 3,
    });
  });

  it('an origin that is a value is shown as its reference', () => {
    const redactor = new Redactor();
    redactor.add('https://h.example/t', '${env:URL}');
    expect(redactDocument(environment({ origin: 'https://h.example/t' }), redactor).origin).toBe(
      '${env:URL}',
    );
    expect(redactDocument(environment({ origin: 'https://h.example/t/x' }), redactor).origin).toBe(
      '(sensitive)/x',
    );
  });
});
