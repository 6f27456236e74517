import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIAGNOSTICS, type Diagnostic, type DiagnosticCode } from '../../src/reconciler/model/diagnostic.ts';
import { loadTargets } from '../../src/reconciler/operations/load.ts';
import { validationDocument } from '../../src/reconciler/operations/validate.ts';
import { diagnosticsText } from '../../src/reconciler/render/error-text.ts';
import { expectGolden } from './golden-file.ts';

const ROOT = 'test/golden/diagnostics';
const PLAIN = { color: false, width: null, verbose: false };

type Place = readonly [line: number, column: number, code: DiagnosticCode];

/**
 * Where a person expects the caret of every problem, thought out by hand and never taken from the output. The places of a
 * base file follow those of the file that extends it.
 */
const PLACES: Readonly<Record<string, readonly Place[]>> = {
  'doubtful-values': [
    [7, 17, 'doubtful-value'],
    [8, 18, 'doubtful-value'],
    [13, 21, 'doubtful-value'],
    [19, 18, 'doubtful-value'],
    [21, 21, 'doubtful-value'],
    [35, 34, 'doubtful-value'],
    [37, 53, 'declared-twice'],
    [39, 41, 'bad-value'],
    [39, 74, 'bad-value'],
    [44, 15, 'bad-value'],
  ],
  'native-parts': [
    [4, 3, 'declared-twice'],
    [6, 5, 'unknown-key'],
    [8, 7, 'declared-twice'],
    [9, 16, 'bad-value'],
    [10, 20, 'wrong-type'],
    [11, 20, 'wrong-type'],
    [12, 39, 'literal-secret'],
    [13, 26, 'literal-secret'],
    [14, 7, 'unknown-key'],
    [15, 13, 'missing-key'],
    [16, 36, 'bad-value'],
    [20, 28, 'literal-secret'],
    [21, 9, 'unknown-key'],
    [22, 27, 'bad-value'],
    [24, 23, 'bad-value'],
    [26, 39, 'literal-secret'],
    [27, 30, 'bad-value'],
    [28, 19, 'wrong-type'],
    [30, 5, 'unknown-key'],
    [31, 5, 'unknown-key'],
  ],
  'names-between-blocks': [
    [12, 3, 'missing-key'],
    [14, 44, 'unknown-name'],
    [17, 25, 'unknown-name'],
    [17, 105, 'unknown-name'],
    [18, 3, 'declared-twice'],
    [19, 3, 'missing-key'],
    [22, 18, 'unknown-name'],
    [24, 28, 'unknown-name'],
    [25, 21, 'unknown-name'],
    [25, 26, 'unknown-name'],
    [26, 29, 'unknown-key'],
    [27, 3, 'missing-key'],
    [27, 12, 'unknown-key'],
    [31, 17, 'unknown-name'],
  ],
  moved: [
    [11, 29, 'bad-value'],
    [12, 34, 'bad-value'],
    [13, 28, 'bad-value'],
    [14, 30, 'bad-value'],
    [15, 13, 'bad-value'],
    [16, 13, 'unknown-key'],
    [17, 13, 'bad-value'],
    [18, 13, 'unknown-key'],
    [19, 13, 'unknown-key'],
    [20, 13, 'unknown-key'],
    [20, 27, 'bad-reference'],
    [21, 28, 'bad-value'],
    [22, 28, 'bad-value'],
    [23, 5, 'missing-key'],
    [24, 5, 'wrong-type'],
    [25, 28, 'bad-value'],
    [25, 39, 'unknown-key'],
  ],
  aliases: [[3, 11, 'syntax'], [4, 13, 'syntax'], [5, 10, 'syntax'], [7, 7, 'syntax']],
  'bad-escape': [[4, 36, 'syntax']],
  'bare-environment': [[4, 3, 'missing-key']],
  'bare-keys': [[3, 3, 'missing-key'], [5, 3, 'missing-key'], [6, 3, 'missing-key'], [9, 7, 'missing-key'], [11, 9, 'missing-key'], [12, 1, 'missing-key']],
  'base-file': [[4, 13, 'unknown-key'], [3, 1, 'unknown-key'], [4, 1, 'unknown-key'], [5, 1, 'unknown-key'], [6, 1, 'unknown-key'], [7, 29, 'literal-secret']],
  'blocks-of-the-wrong-type': [[1, 10, 'bad-value'], [2, 9, 'wrong-type'], [3, 11, 'wrong-type'], [4, 15, 'wrong-type']],
  'broken-base-file': [[2, 1, 'syntax']],
  'byte-order-mark': [[1, 10, 'bad-value']],
  'colon-in-value': [[4, 10, 'syntax']],
  'comments-only': [[1, 1, 'wrong-type']],
  crlf: [[4, 3, 'unknown-key'], [5, 16, 'literal-secret']],
  'deep-block': [[67, 65, 'syntax']],
  'deep-flow': [[3, 82, 'syntax']],
  directive: [[1, 1, 'syntax'], [2, 1, 'syntax']],
  'directive-without-marker': [[1, 1, 'syntax']],
  'duplicate-entries': [[7, 14, 'declared-twice'], [10, 9, 'declared-twice'], [14, 15, 'declared-twice'], [18, 60, 'declared-twice']],
  'duplicate-key': [[6, 3, 'declared-twice'], [7, 3, 'declared-twice']],
  'empty-blocks': [[4, 18, 'bad-value'], [5, 15, 'bad-value'], [6, 10, 'bad-value']],
  'empty-file': [[1, 1, 'wrong-type']],
  'empty-secrets': [[4, 16, 'bad-value'], [6, 31, 'bad-value']],
  'environment-names': [[4, 3, 'bad-value'], [5, 3, 'bad-value']],
  'everything-at-once': [[1, 1, 'unknown-key'], [3, 8, 'bad-value'], [4, 12, 'literal-secret'], [6, 13, 'wrong-type'], [7, 3, 'unknown-key'], [8, 16, 'bad-reference'], [9, 3, 'missing-key'], [10, 23, 'bad-value'], [11, 10, 'syntax'], [13, 26, 'bad-value'], [14, 22, 'wrong-type'], [15, 13, 'unknown-key'], [18, 15, 'key-does-not-follow']],
  'flow-references': [[2, 53, 'syntax'], [3, 26, 'syntax'], [3, 54, 'syntax'], [3, 78, 'unknown-key']],
  'forbidden-variables': [[2, 53, 'bad-reference'], [4, 13, 'bad-reference'], [5, 10, 'bad-reference'], [6, 16, 'bad-reference'], [7, 19, 'bad-reference']],
  'foreign-references': [[4, 16, 'bad-reference'], [5, 19, 'bad-reference'], [6, 20, 'bad-reference'], [9, 10, 'bad-reference'], [10, 10, 'bad-reference'], [11, 10, 'bad-reference'], [12, 10, 'bad-reference'], [13, 10, 'bad-reference'], [14, 10, 'literal-secret'], [15, 10, 'bad-reference']],
  guards: [[4, 3, 'unknown-key'], [5, 3, 'unknown-key'], [6, 3, 'unknown-key']],
  'header-names': [[5, 5, 'bad-value'], [6, 5, 'bad-value'], [8, 13, 'wrong-type']],
  'key-does-not-follow': [[9, 7, 'key-does-not-follow'], [9, 7, 'key-does-not-follow'], [11, 36, 'key-does-not-follow']],
  'key-without-colon': [[5, 3, 'syntax']],
  'keys-that-are-no-text': [[3, 3, 'syntax'], [6, 5, 'syntax']],
  labels: [[4, 12, 'wrong-type'], [5, 3, 'bad-value'], [6, 3, 'bad-value'], [10, 13, 'wrong-type'], [11, 15, 'wrong-type'], [12, 15, 'bad-reference'], [13, 13, 'bad-value'], [15, 7, 'bad-value'], [16, 13, 'wrong-type'], [17, 14, 'bad-value'], [18, 7, 'missing-key'], [20, 13, 'wrong-type']],
  'list-file': [[2, 1, 'wrong-type']],
  'literal-secrets': [[4, 12, 'literal-secret'], [6, 18, 'literal-secret'], [7, 11, 'literal-secret'], [9, 16, 'literal-secret'], [10, 19, 'literal-secret'], [11, 20, 'literal-secret'], [14, 24, 'literal-secret'], [15, 15, 'wrong-type'], [17, 12, 'literal-secret'], [18, 15, 'literal-secret']],
  'literal-secrets-in-mcp': [[7, 18, 'literal-secret'], [9, 56, 'literal-secret'], [14, 21, 'literal-secret'], [16, 20, 'literal-secret'], [20, 14, 'literal-secret']],
  'malformed-references': [[4, 13, 'bad-reference'], [5, 10, 'bad-reference'], [6, 14, 'bad-reference'], [7, 17, 'bad-reference'], [8, 18, 'bad-reference'], [9, 19, 'bad-reference'], [10, 19, 'bad-reference'], [11, 33, 'bad-reference'], [12, 10, 'bad-reference'], [14, 5, 'bad-reference']],
  'maps-for-values': [[4, 3, 'wrong-type'], [6, 3, 'wrong-type'], [8, 3, 'wrong-type'], [10, 9, 'wrong-type'], [11, 12, 'wrong-type']],
  'mcp-list-as-text': [[5, 18, 'wrong-type'], [6, 20, 'wrong-type'], [7, 20, 'wrong-type']],
  'mcp-urls': [[6, 9, 'bad-value'], [7, 9, 'bad-value'], [8, 14, 'bad-value'], [9, 14, 'bad-value'], [10, 14, 'bad-value'], [11, 14, 'wrong-type'], [12, 9, 'wrong-type'], [13, 9, 'bad-value'], [14, 14, 'bad-value'], [15, 9, 'missing-key'], [16, 9, 'wrong-type']],
  'misplaced-references': [[1, 10, 'bad-reference'], [2, 7, 'bad-reference'], [3, 50, 'bad-reference'], [5, 16, 'bad-reference'], [6, 14, 'bad-reference']],
  'missing-base-file': [[2, 10, 'unreadable']],
  'missing-comma': [[3, 23, 'syntax']],
  'missing-server': [[1, 1, 'missing-key']],
  'missing-url': [[3, 1, 'missing-key']],
  'missing-url-in-environment': [[5, 3, 'missing-key'], [7, 5, 'missing-key']],
  'missing-version': [[1, 1, 'missing-key']],
  'misspelt-server': [[2, 1, 'unknown-key']],
  'misspelt-version': [[1, 1, 'unknown-key'], [2, 11, 'unknown-key']],
  'multi-line-flow': [
    [3, 45, 'literal-secret'],
    [4, 3, 'unknown-key'],
    [7, 10, 'bad-value'],
    [7, 45, 'literal-secret'],
    [10, 14, 'syntax'],
    [10, 47, 'wrong-type'],
  ],
  'multi-line-secret': [[4, 16, 'literal-secret'], [7, 19, 'literal-secret']],
  name: [[2, 7, 'bad-value'], [3, 50, 'bad-value'], [3, 66, 'bad-value']],
  'not-utf8': [[1, 1, 'unreadable']],
  nulls: [[4, 29, 'wrong-type'], [5, 18, 'wrong-type'], [6, 31, 'bad-value'], [8, 18, 'wrong-type'], [9, 20, 'wrong-type'], [11, 17, 'wrong-type'], [11, 32, 'wrong-type'], [12, 22, 'wrong-type']],
  'numbers-not-exact': [[4, 24, 'bad-value'], [5, 19, 'bad-value'], [6, 23, 'bad-value'], [7, 35, 'bad-value'], [8, 24, 'bad-value']],
  'numbers-out-of-range': [[4, 23, 'bad-value'], [5, 19, 'wrong-type'], [8, 50, 'bad-value'], [10, 18, 'bad-value'], [12, 16, 'bad-value']],
  'partial-typed-reference': [[4, 19, 'wrong-type'], [5, 22, 'wrong-type']],
  'prototype-keys': [[3, 1, 'unknown-key'], [5, 3, 'unknown-key'], [6, 3, 'unknown-key'], [7, 17, 'unknown-key']],
  'provider-tokens': [[6, 7, 'missing-key'], [7, 15, 'wrong-type'], [8, 39, 'unknown-key'], [9, 5, 'unknown-key']],
  'reserved-character': [[4, 10, 'syntax'], [5, 18, 'syntax']],
  sandboxes: [[4, 14, 'wrong-type'], [5, 5, 'missing-key'], [6, 5, 'declared-twice'], [7, 5, 'unknown-key'], [8, 5, 'missing-key'], [8, 9, 'declared-twice'], [9, 5, 'unknown-key'], [10, 5, 'unknown-key'], [11, 9, 'declared-twice'], [12, 12, 'bad-value'], [13, 11, 'declared-twice'], [14, 5, 'unknown-key'], [15, 11, 'declared-twice'], [16, 14, 'bad-value'], [17, 16, 'bad-value'], [18, 5, 'declared-twice'], [18, 14, 'bad-value'], [19, 5, 'wrong-type'], [20, 5, 'missing-key'], [21, 5, 'missing-key'], [24, 16, 'wrong-type'], [27, 17, 'bad-reference'], [28, 11, 'unknown-key'], [31, 17, 'wrong-type'], [33, 15, 'bad-value']],
  'half-pairs': [[4, 13, 'bad-value'], [6, 5, 'bad-value'], [7, 14, 'bad-value'], [8, 49, 'bad-value'], [11, 24, 'bad-value']],
  'secret-with-default': [[4, 16, 'bad-reference'], [9, 14, 'bad-reference']],
  'server-urls': [[3, 23, 'bad-value'], [4, 23, 'bad-value'], [5, 23, 'bad-value'], [6, 23, 'bad-value'], [7, 23, 'wrong-type'], [8, 23, 'bad-value'], [11, 12, 'bad-value']],
  'stdio-entries': [[6, 15, 'bad-value'], [9, 18, 'bad-value'], [10, 9, 'missing-key'], [11, 9, 'missing-key'], [12, 15, 'bad-value'], [13, 18, 'bad-value'], [14, 9, 'wrong-type'], [16, 18, 'wrong-type'], [17, 19, 'wrong-type'], [17, 22, 'wrong-type'], [18, 19, 'wrong-type'], [18, 25, 'wrong-type'], [21, 15, 'bad-value'], [22, 14, 'bad-value'], [25, 15, 'wrong-type'], [26, 14, 'wrong-type'], [29, 14, 'bad-value']],
  'surrogate-pairs': [[3, 44, 'wrong-type']],
  'tab-indent': [[4, 1, 'syntax']],
  tags: [[4, 16, 'syntax'], [5, 19, 'syntax'], [6, 13, 'syntax'], [7, 15, 'syntax']],
  'text-file': [[1, 1, 'wrong-type']],
  'too-large': [[1, 1, 'unreadable']],
  'two-documents': [[3, 1, 'syntax']],
  'two-documents-by-end-mark': [[4, 1, 'syntax']],
  'unclosed-brace': [[3, 11, 'syntax']],
  'unclosed-bracket': [[3, 12, 'syntax']],
  'uneven-indent': [[5, 1, 'syntax']],
  'unknown-keys': [[3, 1, 'unknown-key'], [4, 1, 'unknown-key'], [5, 1, 'unknown-key'], [7, 3, 'unknown-key'], [8, 3, 'unknown-key'], [8, 16, 'literal-secret'], [9, 3, 'unknown-key'], [10, 3, 'unknown-key'], [11, 1, 'unknown-key']],
  'unknown-keys-in-environment': [[5, 5, 'unknown-key'], [6, 5, 'unknown-key'], [8, 7, 'unknown-key'], [9, 15, 'unknown-key']],
  'unknown-keys-in-mcp': [[7, 9, 'unknown-key'], [8, 9, 'unknown-key'], [10, 47, 'unknown-key'], [13, 9, 'unknown-key'], [14, 5, 'unknown-key']],
  'unknown-secret-key': [[3, 1, 'unknown-key'], [4, 13, 'unknown-key'], [6, 3, 'unknown-key']],
  'unmanaged-paths': [[4, 5, 'unknown-key'], [5, 5, 'unknown-key'], [7, 5, 'unknown-key'], [8, 5, 'unknown-key'], [9, 5, 'unknown-key'], [10, 5, 'unknown-key'], [11, 5, 'wrong-type'], [12, 5, 'bad-value']],
  'unterminated-quote': [[4, 10, 'syntax']],
  'unterminated-single-quote': [[4, 14, 'syntax']],
  'wrong-types': [[4, 13, 'wrong-type'], [5, 10, 'wrong-type'], [6, 14, 'wrong-type'], [7, 17, 'wrong-type'], [8, 19, 'wrong-type'], [9, 22, 'wrong-type'], [10, 31, 'wrong-type'], [11, 24, 'wrong-type'], [12, 18, 'wrong-type']],
  kubernetes: [[4, 14, 'bad-value'], [5, 11, 'bad-value'], [6, 9, 'wrong-type'], [8, 5, 'bad-value'], [9, 24, 'bad-value'], [10, 32, 'bad-value'], [11, 22, 'wrong-type'], [12, 22, 'bad-value'], [13, 3, 'unknown-key']],
  watch: [[4, 9, 'bad-value'], [5, 13, 'wrong-type'], [6, 12, 'wrong-type'], [7, 23, 'bad-value'], [8, 3, 'unknown-key'], [11, 24, 'bad-value'], [11, 38, 'bad-value'], [11, 52, 'bad-value'], [11, 67, 'bad-value'], [13, 24, 'bad-value'], [13, 49, 'wrong-type'], [15, 12, 'wrong-type']],
};

/** A limit that the file in the folder is meant to exceed. */
const LIMITS: Readonly<Record<string, number>> = { 'too-large': 100 };

function diagnose(name: string): readonly Diagnostic[] {
  const { diagnostics } = loadTargets({
    file: join(ROOT, name, 'settings.yaml'),
    env: {},
    maxFileSize: LIMITS[name],
  });
  return diagnostics.map((one) => ({ ...one, file: one.file.replace(`${ROOT}/${name}/`, '') }));
}

/** Eight characters of the dummy secrets, at every place of them. */
function canaryPieces(name: string): string[] {
  const text = ['settings.yaml', 'base.yaml']
    .map((file) => join(ROOT, name, file))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
  const canaries = new Set(text.match(/[\w-]*CANARY[\w-]*/g));
  return [...canaries].flatMap((canary) =>
    Array.from({ length: canary.length - 7 }, (_, at) => canary.slice(at, at + 8).toLowerCase()),
  );
}

describe('diagnostics', () => {
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

  it('has a place for every folder, and a folder for every code', () => {
    expect(folders.toSorted()).toEqual(Object.keys(PLACES).toSorted());
    const codes = new Set(Object.values(PLACES).flatMap((places) => places.map(([, , code]) => code)));
    // What a policy finds, and what an object cannot hold, is not found in a file alone.
    expect([...codes, 'key-shared', 'not-in-kubernetes', 'policy'].toSorted()).toEqual(Object.keys(DIAGNOSTICS).toSorted());
  });

  describe.each(folders)('%s', (name) => {
    it('puts the caret where a person expects it', () => {
      const diagnostics = diagnose(name);
      const places = diagnostics.map(({ line, column, code }) => [line, column, code]);
      expect(places).toEqual(PLACES[name]);
    });

    it('reads as expected', () => {
      const text = diagnosticsText(diagnose(name), PLAIN);
      expectGolden(`diagnostics/${name}/expected.txt`, text);
    });

    it('shows no piece of a secret, and reports nothing twice', () => {
      const diagnostics = diagnose(name);
      const shown = (
        diagnosticsText(diagnostics, PLAIN) + JSON.stringify(validationDocument(diagnostics))
      ).toLowerCase();
      expect(canaryPieces(name).filter((piece) => shown.includes(piece))).toEqual([]);
      const reported = diagnostics.map(({ file, line, column, message }) =>
        [file, line, column, message].join(':'),
      );
      expect(new Set(reported).size).toBe(reported.length);
      for (const { message, hint } of diagnostics) {
        expect(message).toMatch(/^\S.*[.]$/);
        expect(hint).toMatch(/^\S.*\S$/);
      }
    });
  });
});
