import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIAGNOSTICS, type DiagnosticCode } from '../../../src/reconciler/model/diagnostic.ts';
import type { DiagnosticReport } from '../../../src/reconciler/model/documents.gen.ts';
import { VERSION } from '../../../src/reconciler/model/version.ts';
import { validationSarif } from '../../../src/reconciler/render/sarif.ts';
import { visible } from '../../../src/reconciler/render/text.ts';
import { validationOf } from '../../fixture/documents.ts';
import { hostile } from '../../fixture/hostile.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

const closed = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const message = closed({ text: { type: 'string', minLength: 1 } });

/** What SARIF 2.1.0 asks of the part of it that is written here, and nothing beside it. */
const SARIF = closed({
  $schema: { type: 'string', format: 'uri' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: closed({
      tool: closed({
        driver: closed({
          name: { const: 'setpoint' },
          version: { const: VERSION },
          rules: {
            type: 'array',
            uniqueItems: true,
            items: closed({ id: { enum: Object.keys(DIAGNOSTICS) }, shortDescription: message }),
          },
        }),
      }),
      columnKind: { const: 'utf16CodeUnits' },
      results: {
        type: 'array',
        items: closed({
          ruleId: { enum: Object.keys(DIAGNOSTICS) },
          ruleIndex: { type: 'integer', minimum: 0 },
          level: { enum: ['error', 'warning'] },
          message,
          locations: {
            type: 'array',
            minItems: 1,
            maxItems: 1,
            items: closed({
              physicalLocation: closed({
                artifactLocation: closed({ uri: { type: 'string', format: 'uri-reference' } }),
                region: closed({
                  startLine: { type: 'integer', minimum: 1 },
                  startColumn: { type: 'integer', minimum: 1 },
                }),
              }),
            }),
          },
          partialFingerprints: closed({
            primaryLocationLineHash: { type: 'string', pattern: '^[0-9a-f]{16}:[0-9]+$' },
          }),
        }),
      },
    }),
  },
});

const ajv = new Ajv2020({ allErrors: true });
formats.default(ajv);
const isSarif = ajv.compile(SARIF);

const problem: fc.Arbitrary<DiagnosticReport> = fc.record({
  severity: fc.constantFrom('error', 'warning'),
  code: fc.constantFrom(...(Object.keys(DIAGNOSTICS) as DiagnosticCode[])),
  message: hostile,
  hint: hostile,
  file: hostile,
  line: fc.integer({ min: 1, max: 100_000 }),
  column: fc.integer({ min: 1, max: 100_000 }),
  path: fc.array(hostile, { maxLength: 3 }),
});

interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly partialFingerprints: { readonly primaryLocationLineHash: string };
}

describe('a validation as SARIF', () => {
  it('is SARIF, with a result for every problem, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(problem, { maxLength: 8 }), (problems) => {
        const text = validationSarif(validationOf(...problems));
        const log = JSON.parse(text);
        expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
        const { results, tool } = log.runs[0] as {
          results: Result[];
          tool: { driver: { rules: { id: string }[] } };
        };
        expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual(
          problems.map(({ code, severity }) => [code, severity]),
        );
        for (const { ruleId, ruleIndex, message } of results) {
          expect(tool.driver.rules[ruleIndex]?.id).toBe(ruleId);
          expect(message.text).not.toContain('](');
        }
        expect(new Set(tool.driver.rules.map(({ id }) => id))).toEqual(
          new Set(problems.map(({ code }) => code)),
        );
        expect(visible(text.replaceAll('\n', ''))).toBe(text.replaceAll('\n', ''));
      }),
      { numRuns: propertyRuns(60) },
    );
  });
});
