import { describe, expect, it } from 'vitest';
import { correctReference } from '../../../src/reconciler/desired/indirections.ts';
import { lookUp } from '../../../src/reconciler/desired/lookup.ts';
import { parseTemplate, parseWholeReference } from '../../../src/reconciler/desired/references.ts';
import { growth, LINEAR } from '../../fixture/growth.ts';
import { problems, settings, source, target, withSettings } from './reading.ts';

const FROM = source({ A: 'a', B: 'b', EMPTY: '' }, { '/run/secrets/f': 'text of f', '/empty': '' });

describe('text with references', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['${env:A}', 'a'],
    ['${env:A}${env:B}', 'ab'],
    ['-${env:A}-${env:B}-', '-a-b-'],
    ['$${env:A}', '${env:A}'],
    ['$$${env:A}', '$${env:A}'],
    ['$${env:A}${env:A}', '${env:A}a'],
    ['$', '$'],
    ['$$', '$$'],
    ['$A $(b) {c} $ {d} }', '$A $(b) {c} $ {d} }'],
    ['${env:A}$', 'a$'],
    ['$${', '${'],
    ['${env:NONE:-c}', 'c'],
    ['${env:EMPTY:-c}', 'c'],
    ['${env:A:-c}', 'a'],
    ['${env:NONE:-}', ''],
    ['${env:NONE:-$c{:-"}', '$c{:-"'],
    ['${file:/run/secrets/f}', 'text of f'],
    ['a ${file:/run/secrets/f} b', 'a text of f b'],
  ])('%s', (text, value) => {
    expect(lookUp(text, FROM)).toMatchObject({ text: value });
  });

  it.each(['plain', '$${env:A}', '$A'])('%s is tainted by nothing', (text) => {
    expect(lookUp(text, FROM)).toMatchObject({ ref: null });
  });

  it('is shown as it was written', () => {
    expect(lookUp('a-${env:A}', FROM)).toMatchObject({ ref: 'a-${env:A}' });
  });

  it.each([
    ['${env:NONE}', 'the variable NONE is not set'],
    ['${env:EMPTY}', 'the variable EMPTY is empty'],
    ['${file:/none}', 'the file /none does not exist'],
    ['${file:/empty}', 'the file /empty is empty'],
  ])('%s: %s', (text, problem) => {
    expect(lookUp(text, FROM)).toMatchObject({ problem });
  });

  it.each([
    '**********',
    '***',
    '[masked]',
    '[MASKED]',
    'REDACTED',
    '<hidden>',
    ' **** ',
    '(secret)',
    '[sensitive value]',
    'xxxxx',
  ])('a variable that holds %s holds no value', (mask) => {
    const resolved = lookUp('${env:M}', source({ M: mask }));
    expect(resolved).toMatchObject({
      problem: 'the variable M contains a mask, not a value',
      ref: '${env:M}',
    });
    expect(lookUp('${file:m}', source({}, { m: mask }))).toHaveProperty('problem');
  });

  it.each(['*', 'x*y', 'hidden-valley', 'maskedman'])('%s is a value', (text) => {
    expect(lookUp('${env:M}', source({ M: text }))).toMatchObject({ text });
  });

  it.each([
    ['${NAME}', '${env:NAME}'],
    ['${{ secrets.NAME }}', '${env:NAME}'],
    ['${{ env.NAME }}', '${env:NAME}'],
    ['${env:NAME', '${env:NAME}'],
    ['${env:NAME|x}', '${env:NAME} or ${file:PATH}'],
    ['${env:}', '${env:NAME} or ${file:PATH}'],
    ['${file:}', '${env:NAME} or ${file:PATH}'],
    ['${env:a-b}', '${env:NAME} or ${file:PATH}'],
    ['${vault:x}', '${env:NAME} or ${file:PATH}'],
    ['${env:NAME:=x}', '${env:NAME} or ${file:PATH}'],
    ['${env:${A}}', '${env:NAME} or ${file:PATH}'],
    ['${secret:pass}', '${secret:NAME/PATH}'],
    ['${secret:pass/../x}', '${secret:NAME/PATH}'],
    ['${secret:pass/-x}', '${secret:NAME/PATH}'],
    ['${secret:vals/a#/b+ref+exec://x}', '${secret:NAME/PATH}'],
    ['ok ${env:A} then ${', '${env:NAME} or ${file:PATH}'],
    ['${sk_canary_4f9a2c7e1b}', '${env:NAME} or ${file:PATH}'],
    ['${AKIAIOSFODNN7EXAMPLE}', '${env:NAME} or ${file:PATH}'],
  ])('%s is malformed; the right form is %s', (text, form) => {
    expect(parseTemplate(text)).toMatchObject({ form });
  });

  it('is a whole reference or it is not', () => {
    expect(parseWholeReference('${env:A}')).toMatchObject({
      kind: 'env',
      name: 'A',
      fallback: null,
    });
    expect(parseWholeReference('${env:A:-}')).toMatchObject({ fallback: '' });
    expect(parseWholeReference('${file:/a b}')).toMatchObject({ kind: 'file', path: '/a b' });
    expect(parseWholeReference('${secret:vault/kv/agents#/key}')).toMatchObject({
      kind: 'secret',
      command: 'vault',
      path: 'kv/agents#/key',
    });
    for (const text of ['', 'a', ' ${env:A}', '${env:A} ', '${env:A}${env:B}', '$${env:A}'])
      expect(parseWholeReference(text)).toBeNull();
  });
});

describe("other tools' references", () => {
  it.each([
    ['$NAME', '${env:NAME}'],
    ['$(NAME)', '${env:NAME}'],
    ['$(env:NAME)', '${env:NAME}'],
    ['$env:NAME', '${env:NAME}'],
    ['env(NAME)', '${env:NAME}'],
    ['!env NAME', '${env:NAME}'],
    ['$(cat secret.txt)', '${env:NAME}'],
    ['env(a, b)', '${env:NAME}'],
    ['$canary_4f9a2c7e1b', null],
    ['$ecret', null],
    ['secret', null],
    ['$(', null],
  ])('%s', (text, form) => {
    expect(correctReference(text)).toBe(form);
  });
});

describe('strict references of typed fields', () => {
  it.each([
    ['max_iterations', '50', 50],
    ['max_iterations', '-1', -1],
    ['max_iterations', '1e2', 100],
    ['max_budget_per_task', '2.5', 2.5],
    ['confirmation_mode', 'true', true],
    ['confirmation_mode', 'false', false],
    ['condenser_max_size', '20', 20],
  ])('%s: %s', (field, text, value) => {
    const one = target(withSettings(`${field}: \${env:X}`));
    expect(settings(one, source({ X: text }))).toEqual({
      fields: { [field]: { secret: value, ref: '${env:X}' } },
      missing: {},
    });
  });

  it.each([
    ['max_iterations', 'true'],
    ['max_iterations', '1.5'],
    ['max_iterations', ' 5'],
    ['max_iterations', '5 '],
    ['max_iterations', '010'],
    ['max_iterations', '0x10'],
    ['max_iterations', '1_000'],
    ['max_iterations', 'null'],
    ['max_iterations', '9007199254740993'],
    ['max_budget_per_task', 'Infinity'],
    ['max_budget_per_task', '1e999'],
    ['max_budget_per_task', 'NaN'],
    ['confirmation_mode', 'yes'],
    ['confirmation_mode', 'True'],
    ['confirmation_mode', '1'],
    ['condenser_max_size', '19'],
  ])('%s is not %j', (field, text) => {
    const one = target(withSettings(`${field}: \${env:X}`));
    expect(settings(one, source({ X: text }))).toEqual({
      fields: { [field]: { unseen: 'its value does not fit the field' } },
      missing: { [field]: 'its value does not fit the field' },
    });
  });

  it('a number and a truth value may come from a secret command', () => {
    const one = target(
      withSettings('max_iterations: ${secret:op/n}', 'confirmation_mode: ${secret:op/yes}'),
    );
    const secret = ({ path }: { readonly path: string }) => ({
      text: path === 'n' ? '50' : 'true',
    });
    expect(settings(one, { ...source(), secret })).toMatchObject({
      fields: { max_iterations: { secret: 50 }, confirmation_mode: { secret: true } },
      missing: {},
    });
  });

  it('a default is read the same way', () => {
    const one = target(
      withSettings('max_iterations: ${env:X:-7}', 'confirmation_mode: ${env:Y:-maybe}'),
    );
    expect(settings(one)).toEqual({
      fields: {
        max_iterations: { secret: 7, ref: '${env:X:-7}' },
        confirmation_mode: { unseen: 'its value does not fit the field' },
      },
      missing: { confirmation_mode: 'its value does not fit the field' },
    });
  });

  it('the timeout of an entry is within its limits', () => {
    const one = target(
      withSettings(
        'mcp_config:',
        '  shttp_servers: [{ url: "https://a.example.com", timeout: "${env:T}" }]',
      ),
    );
    expect(settings(one, source({ T: '3600' })).fields).toHaveProperty(
      'mcp_config.shttp_servers.0.timeout.secret',
      3600,
    );
    expect(Object.keys(settings(one, source({ T: '-1' })).missing)).toEqual([
      'mcp_config.shttp_servers[https://a.example.com].timeout',
    ]);
  });
});

describe('places of references', () => {
  it('an error everywhere it is no reference', () => {
    for (const line of [
      'language: ${X}',
      'max_iterations: ${X}',
      'llm_api_key: ${X}',
      'mcp_config: { sse_servers: ["https://${X}"] }',
    ])
      expect(problems(withSettings(line))).toEqual([
        expect.stringMatching(/^4:\d+ bad-reference$/),
      ]);
  });

  it('a reference fits every pattern', () => {
    const text = withSettings(
      'mcp_config:',
      '  sse_servers: ["${env:URL}", { url: "https://${env:HOST}/sse" }]',
      '  stdio_servers: [{ name: "${env:N}", command: "${env:C}", args: "a ${env:X:-b c}", env: "A=${env:Y:-1,2}" }]',
    );
    expect(problems(text)).toEqual([]);
    expect(problems('version: 1\nserver: { url: "${env:URL}" }')).toEqual([]);
    expect(problems('version: 1\nserver: { url: "https://${env:HOST}/x" }')).toEqual([]);
  });
});

describe('what a reference may hold is limited', () => {
  const long = 'A'.repeat(256);

  it.each([
    ['a name of 256 characters', `\${env:${long}}`, null],
    ['a name of 257 characters', `\${env:${long}A}`, 'This name is too long'],
    ['a name of a megabyte', `\${env:${'A'.repeat(1_000_000)}}`, 'This name is too long'],
    ['a path of 4096 characters', `\${file:/${'a'.repeat(4095)}}`, null],
    ['a path of 4097 characters', `\${file:/${'a'.repeat(4096)}}`, 'This name is too long'],
    ['a hundred references', '${env:A}'.repeat(100), null],
    ['a hundred and one', '${env:A}'.repeat(101), 'more than 100 references'],
  ])('%s', (_, text, message) => {
    const parsed = parseTemplate(text);
    if (message === null) expect(Array.isArray(parsed)).toBe(true);
    else expect(parsed).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('a text full of malformed references is read in time linear to its length', () => {
    for (const part of ['${env:A}', '$${', '${env:A:-', '${env:', '${file:', '$', '${']) {
      const ratio = growth((size) => part.repeat(size), parseTemplate, 50_000);
      expect({ part, linear: ratio < LINEAR, ratio }).toMatchObject({ linear: true });
    }
  });
});
