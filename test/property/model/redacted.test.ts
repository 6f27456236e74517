import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { redactDocument } from '../../../src/reconciler/model/redacted.ts';
import { Redactor } from '../../../src/reconciler/model/redactor.ts';
import { encodings } from '../../fixture/encodings.ts';
import { fromSchema } from '../../fixture/from-schema.ts';
import { itHolds } from '../../fixture/property-runs.ts';
import { COLLECTION_FORMS } from '../../../src/reconciler/model/collection-forms.ts';

const COLLECTIONS: ReadonlySet<string> = new Set(COLLECTION_FORMS.map(({ block }) => block));

const KINDS = [
  'plan',
  'outcome',
  'observed',
  'pull',
  'init',
  'explain',
  'doctor',
  'smoke',
  'validation',
];

function schemaOf(kind: string): object {
  const path = join(import.meta.dirname, `../../../schemas/${kind}.schema.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as object;
}

function redactorOf(...values: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(value, null);
  return redactor;
}

/** What a reference never comes to: it is written in the file, on the command line, or in setpoint. */
const FIXED = new Set(
  (
    'tool meaning source file ref name code rule rules verdict kind environment resources ' +
    'created_at started_at finished_at observed_at'
  ).split(' '),
);

/** Every free text of a document, keys of values among them. The name of an item that a service lists is the service's own. */
function texts(value: unknown, key = '', isListed = false): string[] {
  if (FIXED.has(key) && !isListed) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((item) => texts(item, key, isListed));
  if (typeof value !== 'object' || value === null) return [];
  // The path of an explanation that is about no setting leads to a key of the file's own.
  const typed = 'part' in value && value.part !== 'settings';
  const members = Object.entries(value).filter(([name]) => !(typed && name === 'path'));
  return members.flatMap(([name, member]) => [
    name,
    ...texts(member, name, isListed || COLLECTIONS.has(name)),
  ]);
}

/** The members that a schema gives a choice of words for, with what they are. */
function words(document: unknown, at = ''): string[] {
  if (typeof document !== 'object' || document === null) return [];
  return Object.entries(document).flatMap(([name, member]) => {
    const place = `${at}/${name}`;
    if (COLLECTIONS.has(name)) return [];
    const structural =
      FIXED.has(name) ||
      [
        'action',
        'resource',
        'result',
        'class',
        'severity',
        'dialect',
        'format_version',
        'block',
      ].includes(name);
    return structural ? [`${place}=${JSON.stringify(member)}`] : words(member, place);
  });
}

const secret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 24 }),
    fc.string({ minLength: 6, maxLength: 16, unit: 'grapheme' }),
    fc.stringMatching(/^[a-z0-9]{6}-[A-Za-z0-9+/=]{3,12}$/),
  )
  .filter((text) => text.trim().length >= 6 && !/["<>`\s]/.test(text.slice(0, 1)));

describe.each(KINDS)('a document of the kind %s', (kind) => {
  const schema = schemaOf(kind);
  const fits = new Ajv2020({ strict: false }).compile(schema);

  itHolds(
    'has no value of a reference in any form, fits its schema, and keeps its words (property)',
    25,
    (numRuns) => {
      const documents = secret.chain((value) => {
        const forms = encodings(value).filter((form) => form.length >= 6);
        const held = fc
          .constantFrom(value, ...forms)
          .chain((form) =>
            fc.constantFrom(
              form,
              `a ${form}`,
              `x/${form}/y`,
              `https://h.example/${form}`,
              'language',
            ),
          );
        const json = fc.oneof(
          held,
          fc.record({ language: held, mcp_config: fc.dictionary(held, held, { maxKeys: 2 }) }),
          fc.array(held, { maxLength: 2 }),
        );
        return fc.tuple(fc.constant(value), fromSchema(schema, held, json));
      });
      fc.assert(
        fc.property(documents, ([value, document]) => {
          const shown = redactDocument(document, redactorOf(value));
          expect(fits(shown), JSON.stringify(fits.errors)).toBe(true);
          expect(words(shown)).toEqual(words(document));
          for (const text of texts(shown)) {
            const low = text.toLowerCase().replaceAll('(sensitive)', '\u0000');
            for (const form of encodings(value))
              if (form.trim().length >= 6) expect(low).not.toContain(form.trim().toLowerCase());
          }
          expect(redactDocument(shown, redactorOf(value))).toEqual(shown);
        }),
        { numRuns },
      );
    },
  );

  itHolds('is as valid, and means the same, if a value is a word of documents', 25, (numRuns) => {
    const hostile = [
      'settings',
      'plan',
      'set',
      '1',
      'true',
      'in-sync',
      'differs',
      'llm_model',
      'default',
      'RUNNING',
      'error',
      'change',
      'sandbox',
      'mcp_config',
      'url',
      'passed',
      'verified',
    ];
    const text = fc.constantFrom(...hostile, 'text');
    fc.assert(
      fc.property(
        fromSchema(schema, text, fc.oneof(text, fc.constant(1), fc.constant(true))),
        (document) => {
          const shown = redactDocument(document, redactorOf(...hostile));
          expect(fits(shown), JSON.stringify(fits.errors)).toBe(true);
          expect(words(shown)).toEqual(words(document));
          expect(statuses(shown)).toEqual(statuses(document));
        },
      ),
      { numRuns },
    );
  });
});

/** Statuses of targets and of the whole; those of sandboxes may be any text. */
function statuses(document: unknown): unknown {
  const { status, environments = [] } = document as {
    status?: unknown;
    environments?: readonly { status?: unknown }[];
  };
  return [status, environments.map((one) => one.status)];
}
