import { describe, expect, it } from 'vitest';
import type { DiagnosticReport } from '../../../src/reconciler/model/documents.gen.ts';
import { artifactUri, validationSarif } from '../../../src/reconciler/render/sarif.ts';
import { diagnostic, validationOf } from '../../fixture/documents.ts';

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
}

function resultsOf(...diagnostics: DiagnosticReport[]): Result[] {
  return JSON.parse(validationSarif(validationOf(...diagnostics))).runs[0].results;
}

const printsOf = (...diagnostics: DiagnosticReport[]) =>
  resultsOf(...diagnostics).map(
    ({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash,
  );

describe('a validation as SARIF', () => {
  it('knows a problem again when lines above it come and go, and distinguishes those alike', () => {
    const one = diagnostic();
    const [print] = printsOf(one);
    expect(printsOf({ ...one, line: 40, column: 9, message: 'Worded anew.' })).toEqual([print]);
    expect(
      new Set(
        printsOf(
          one,
          one,
          { ...one, file: 'other.yaml' },
          { ...one, path: ['settings', 'x'] },
          { ...one, code: 'bad-value' },
        ),
      ).size,
    ).toBe(5);
  });

  it.each([
    ['settings.yaml', 'settings.yaml'],
    ['envs/my prod.yaml', 'envs/my%20prod.yaml'],
    ['envs\\prod.yaml', 'envs/prod.yaml'],
    ['../a/b#c?d%.yaml', '../a/b%23c%3Fd%25.yaml'],
    ['a:b.yaml', 'a%3Ab.yaml'],
    ['/srv/größe.yaml', 'file:///srv/gr%C3%B6%C3%9Fe.yaml'],
    ['C:\\repo\\settings.yaml', 'file:///C%3A/repo/settings.yaml'],
    ['lone\uD800.yaml', 'lone%EF%BF%BD.yaml'],
  ])('names the file %j as %s', (path, uri) => {
    expect(artifactUri(path)).toBe(uri);
  });
});
