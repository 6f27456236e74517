import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { resolveSettings, resolveServer } from '../../src/reconciler/desired/resolve.ts';
import { readTargets } from '../../src/reconciler/desired/target.ts';
import type { Diagnostic } from '../../src/reconciler/model/diagnostic.ts';
import { fields } from '../../src/reconciler/model/field.ts';
import { looksLikeMask } from '../../src/reconciler/model/secret-words.ts';
import { Secret } from '../../src/reconciler/model/secret.ts';
import { isList, isRecord, type Value } from '../../src/reconciler/model/value.ts';
import { diagnosticsText } from '../../src/reconciler/render/error-text.ts';
import { declarable } from '../fixture/arbitrary.ts';
import { itHolds } from '../fixture/property-runs.ts';
import { dedent } from '../fixture/dedent.ts';
import { omitDoubtful } from '../fixture/omit-doubtful.ts';

const LIMIT = 4096;
const PLAIN = { color: false, width: null, verbose: false };
const EMPTY = { variable: () => undefined, file: () => ({ problem: 'none' }) };
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype).toSorted().join();

function read(text: string) {
  const base = { path: 'base.yaml', text: 'version: 1\n' };
  return readTargets(
    { path: 'settings.yaml', text, bases: text.length % 2 === 0 ? [] : [base] },
    { serverGiven: false, several: false },
  );
}

/** What holds for any text. */
function checkText(text: string): void {
  const { diagnostics, targets } = read(text);
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const diagnostic of diagnostics) checkPlace(diagnostic, lines);
  diagnosticsText(diagnostics, PLAIN);
  const reported = diagnostics.map(({ file, line, column, message }) =>
    [file, line, column, message].join(':'),
  );
  expect(new Set(reported).size).toBe(reported.length);
  if (diagnostics.length === 0) {
    for (const target of targets) {
      resolveSettings(target, EMPTY);
      resolveServer(target, EMPTY);
    }
  }
  expect(Object.getOwnPropertyNames(Object.prototype).toSorted().join()).toBe(PROTOTYPE);
}

function checkPlace({ file, line, column, message, hint }: Diagnostic, lines: string[]): void {
  expect(message).not.toBe('');
  expect(hint).not.toBe('');
  if (file !== 'settings.yaml') return;
  expect(line).toBeGreaterThanOrEqual(1);
  expect(line).toBeLessThanOrEqual(lines.length);
  expect(column).toBeGreaterThanOrEqual(1);
  expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
}

const KEYS = [
  'version',
  'name',
  'extends',
  'server',
  'url',
  'api_key',
  'headers',
  'settings',
  'mcp_config',
  'sse_servers',
  'shttp_servers',
  'stdio_servers',
  'args',
  'env',
  'timeout',
  'command',
  'secrets_store',
  'provider_tokens',
  'custom_secrets',
  'token',
  'guards',
  'max_changes',
  'unmanaged',
  'environments',
  'staging',
  'sandboxes',
  '__proto__',
  'constructor',
  '<<',
  ...fields().map(({ name }) => name),
];
const PIECES = [
  ': ',
  ':',
  '- ',
  '-',
  '? ',
  '\n',
  '\n  ',
  '\n    ',
  '\n\t',
  '\r\n',
  ' ',
  '{',
  '}',
  '[',
  ']',
  ', ',
  '"',
  "'",
  '|',
  '>-',
  '#',
  ' # ',
  '&a ',
  '*a',
  '!env ',
  '!!str ',
  '%YAML 1.1\n',
  '---\n',
  '...\n',
  '${env:A}',
  '${env:A:-b}',
  '${file:/x}',
  '$${',
  '${',
  '}',
  '${{ x }}',
  '$(x)',
  'env(X)',
  'null',
  '~',
  'true',
  'no',
  '1',
  '.inf',
  '9007199254740993',
  '1e999',
  '0x1F',
  'https://x.example.com',
  'embedded:',
  '\uFEFF',
  '🚀',
  '\u0000',
  '\u2028',
  '\\',
  '@',
  '`',
  '\ud800',
];
const fuzz = fc
  .array(
    fc.oneof(
      fc.constantFrom(...PIECES),
      fc.constantFrom(...KEYS),
      fc.constantFrom(...KEYS.map((key) => `${key}: `)),
      fc.string({ maxLength: 6 }),
    ),
    { maxLength: 120 },
  )
  .map((pieces) => pieces.join('').slice(0, LIMIT));

/** A value of any shape under keys that mean something. */
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      5,
      1.5,
      -1,
      '',
      'text',
      '${env:A}',
      '${X}',
      'https://x.example.com',
      'embedded:',
      Infinity,
      2 ** 60,
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...KEYS, 'other'), tie('value'), { maxKeys: 6 }),
  ),
})).value;

describe('any text', () => {
  itHolds('of any characters has problems with a place, or targets', 60, (numRuns) => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 400 }), checkText), {
      numRuns,
    });
  });

  itHolds('with the form of YAML has too', 300, (numRuns) => {
    fc.assert(fc.property(fuzz, checkText), { numRuns });
  });

  itHolds('that is YAML of another shape has too', 100, (numRuns) => {
    const flow = fc.constantFrom<'flow' | 'block'>('flow', 'block');
    fc.assert(
      fc.property(tree, flow, (value, style) => {
        checkText(
          stringify(
            { version: 1, server: { url: 'embedded:' }, settings: value },
            { collectionStyle: style === 'flow' ? 'flow' : 'any' },
          ).slice(0, LIMIT),
        );
        checkText(stringify(value, { aliasDuplicateObjects: false }).slice(0, LIMIT));
      }),
      { numRuns },
    );
  });

  itHolds('that was right until something was cut out or put in has too', 150, (numRuns) => {
    const right = dedent`
      version: 1
      name: a
      server: { url: "https://x.example.com", api_key: "\${env:A}" }
      settings:
        language: en
        llm_api_key: \${env:B}
        mcp_config:
          sse_servers:
            - https://a.example.com
            - { url: https://b.example.com, api_key: null }
          stdio_servers:
            - name: a
              command: b
              args: [x, "y z"]
              env: A=1,B=2
      guards: { max_changes: 3 }
      unmanaged: [language]
      environments:
        staging: { settings: { agent: null } }
    `;
    fc.assert(
      fc.property(
        fc.nat(right.length),
        fc.nat(12),
        fc.constantFrom('', ...PIECES),
        (at, length, piece) => checkText(right.slice(0, at) + piece + right.slice(at + length)),
      ),
      { numRuns },
    );
  });
});

describe('a secret in the file', () => {
  const canary = 'q7Zx9Kw2Vb5Nm3Rt8Ld4';
  const pieces = Array.from({ length: canary.length - 7 }, (_, at) => canary.slice(at, at + 8));
  const wrong = [
    'version: 1',
    `# ${canary}`,
    `server: { url: "https://u:${canary}@x.example.com/?k=${canary}", api_key: ${canary} }`,
    'settings:',
    `  llm_api_key: ${canary} # ${canary}`,
    `  search_api_key: "${canary}`,
    `    ${canary}"`,
    '  sandbox_api_key: |',
    `    name: ${canary}`,
    `    ${canary}: 1`,
    `  ${canary}: x`,
    `  language: \${${canary}}`,
    '  mcp_config:',
    '    sse_servers:',
    `      - https://x.example.com/?k=${canary}`,
    `      - { url: "https://${canary}@x.example.com", api_key: ${canary} }`,
    '    stdio_servers:',
    '      - name: a',
    `        command: b ${canary}`,
    `        args: -k ${canary} "`,
    `        env: API_KEY=${canary}`,
    '  secrets_store:',
    `    custom_secrets: { name: ${canary}, url: "${canary}" }`,
    `unmanaged: ["a[${canary}]", "mcp_config.sse_servers[https://x?${canary}]"]`,
    `environments: { staging: { ${canary}: 1 } }`,
  ].join('\n');

  itHolds('never shows, however the file is broken', 150, (numRuns) => {
    fc.assert(
      fc.property(
        fc.nat(wrong.length),
        fc.nat(40),
        fc.constantFrom('', ...PIECES, ...KEYS.map((key) => `\n${key}: `)),
        (at, length, piece) => {
          const { diagnostics } = read(wrong.slice(0, at) + piece + wrong.slice(at + length));
          expect(diagnostics).not.toEqual([]);
          const shown = diagnosticsText(diagnostics, PLAIN) + JSON.stringify(diagnostics);
          expect(pieces.filter((one) => shown.includes(one))).toEqual([]);
        },
      ),
      { numRuns },
    );
  });
});

const NAME = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_]{0,8}$/);
const TEXT = fc.string({ unit: 'grapheme', maxLength: 30 }).filter((text) => !text.includes('${'));
const HOST = fc.stringMatching(/^[a-z][a-z0-9]{0,8}$/).map((host) => `https://${host}.example.com`);
const REFERENCE = NAME.filter(
  (name) => !/^(ACTIONS_|INPUT_|CI_JOB_|RUNNER_|GITHUB_TOKEN$)/.test(name),
).map((name) => `\${env:${name}}`);

function valueOf(field: ReturnType<typeof fields>[number]): fc.Arbitrary<unknown> {
  if (field.name === 'mcp_config') {
    return fc.record(
      {
        sse_servers: entries(
          fc.record({ url: HOST, api_key: fc.option(REFERENCE) }, { requiredKeys: ['url'] }),
          'url',
        ),
        shttp_servers: entries(
          fc.record(
            { url: HOST, timeout: fc.option(fc.integer({ min: 1, max: 3600 })) },
            { requiredKeys: ['url'] },
          ),
          'url',
        ),
        stdio_servers: entries(
          fc.record({ name: NAME, command: NAME, args: fc.array(TEXT, { maxLength: 4 }) }),
          'name',
        ),
      },
      { requiredKeys: ['sse_servers'] },
    );
  }
  if (field.secret) return fc.option(REFERENCE);
  const plain = {
    string: declarable(field, TEXT),
    integer: fc.integer({ min: 20 }),
    number: fc
      .double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })
      .map((n) => n + 0),
    boolean: fc.boolean(),
    object: fc.constant({}),
  }[field.type];
  const nullable = field.nullable && field.name !== 'user_consents_to_analytics';
  return nullable ? fc.option<unknown>(plain) : plain;
}

function entries<T extends Record<string, unknown>>(entry: fc.Arbitrary<T>, key: string) {
  return fc.uniqueArray(entry, { selector: (one) => one[key], maxLength: 3 });
}

const SETTINGS = fc.record(
  Object.fromEntries(
    fields()
      .filter(({ name }) => name !== 'secrets_store')
      .map((field) => [field.name, valueOf(field)]),
  ),
  { requiredKeys: [] },
);

/** The value with the reference in place of what came from one, as the file has it. */
function written(value: Value): unknown {
  if (value instanceof Secret) return value.ref ?? value.reveal();
  if (isList(value)) return value.map(written);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, written(one)]));
  return value;
}

describe('right settings', () => {
  const answers = {
    variable: (name: string) => `value of ${name}`,
    file: () => ({ problem: 'none' }),
  };

  itHolds('come out as they were written', 60, (numRuns) => {
    fc.assert(
      fc.property(
        SETTINGS,
        fc.constantFrom<'any' | 'flow'>('any', 'flow'),
        fc.boolean(),
        (settings, collectionStyle, below) => {
          const file = below
            ? {
                version: 1,
                server: { url: 'embedded:' },
                settings: { language: 'below' },
                environments: { e: { settings: { language: null, ...settings } } },
              }
            : { version: 1, server: { url: 'embedded:' }, settings };
          const text = stringify(file, {
            collectionStyle,
            defaultStringType: collectionStyle === 'flow' ? 'QUOTE_DOUBLE' : 'PLAIN',
            aliasDuplicateObjects: false,
          });
          const { targets, diagnostics } = read(text.length % 2 === 0 ? text : `${text}\n`);
          expect(omitDoubtful(diagnostics)).toEqual([]);
          const [target] = targets;
          if (target === undefined) throw new Error('no target');
          const { fields: found, missing } = resolveSettings(target, answers);
          expect(missing).toEqual([]);
          const expected = below ? { language: null, ...settings } : settings;
          expect(
            Object.fromEntries(found.map(({ field, value }) => [field.name, written(value)])),
          ).toEqual(expected);
        },
      ),
      { numRuns },
    );
  });

  it('a mask is never one', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('*', '•', 'x', '#', '.'),
        fc.integer({ min: 3, max: 60 }),
        (char, length) => {
          expect(looksLikeMask(char.repeat(length))).toBe(true);
        },
      ),
    );
  });
});
