import fc from 'fast-check';
import { expect } from 'vitest';
import { parseFile, parseWhole, type ParsedFile } from '../../../src/reconciler/desired/parse.ts';
import { type Member, sourceFile } from '../../../src/reconciler/desired/node.ts';
import { itHolds } from '../../fixture/property-runs.ts';

/** More than one part, and more than a long file has at least. */
const ENVIRONMENTS = 600;

const shapes = [
  (name: string) => `  ${name}: { server: { url: 'https://${name}.example.com' } }\n`,
  (name: string) => `  ${name}:\n    server:\n      url: https://${name}.example.com\n`,
  (name: string) =>
    `  # about ${name}\n\n  ${name}:\n    settings: { max_iterations: 5 }   # few\n`,
  (name: string) => `  "${name}":\n    unmanaged:\n      - llm_model\n      - agent\n`,
  (name: string) =>
    `  ${name}:\n    settings:\n      git_user_name: |-\n        two\n        lines of ${name}\n`,
  (name: string) => `  ${name}:\n`,
  (name: string) => `  ? ${name}\n  : settings: {}\n`,
  (name: string, index: number) =>
    `  ${name}:\n    labels: { ring: "${index % 3}", region: r${index % 7} } # ring: ${index % 3}\n    settings: { max_iterations: ${index}, confirmation_mode: ${index % 2 === 0} }\n\n`,
  (name: string, index: number) =>
    `  ${name}:\n    server: {url: "https://${name}.example.com:80${index}/a:b", api_key: "\${env:A_${index}}"}\n    unmanaged: [ llm_model, 'see: this', agent ]\n`,
  (name: string, index: number) =>
    `  ${name}:\r\n    settings:\r\n      llm_model: m-${index}\r\n      git_user_name: ''\r\n    unmanaged:\r\n      -\r\n`,
] as const;

/** A text with many environments, in different layouts, before and after other blocks. */
const longText = fc
  .record({
    layouts: fc.array(fc.integer({ min: 0, max: shapes.length - 1 }), {
      minLength: ENVIRONMENTS,
      maxLength: ENVIRONMENTS,
    }),
    before: fc.constantFrom('', '# a comment\n', 'settings: { language: en }\n'),
    after: fc.constantFrom('', '# the end\n', 'settings: { language: en }\n', '  # inside\n'),
  })
  .map(({ layouts, before, after }) => {
    const environments = layouts.map((shape, index) =>
      shapes[shape]?.(`environment-${index}`, index),
    );
    return `version: 1\n${before}environments:\n${environments.join('')}${after}`;
  });

/** Something that changes what the text means, or breaks it, at any place. */
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  removed: fc.integer({ min: 0, max: 4 }),
  added: fc.constantFrom(
    ...Array.from(' \n:"\'{}[\t-#&*!?|'),
    '${env:A}',
    '---\n',
    '\n  environment-3: {}\n',
    'environments:\n',
    '%YAML 1.2\n',
  ),
});

function edited(
  text: string,
  { at, removed, added }: { at: number; removed: number; added: string },
) {
  const start = Math.floor(at * text.length);
  return text.slice(0, start) + added + text.slice(start + removed);
}

/** What a file was read as; the text itself, which every node leads to, left out, and nodes that are made when they are looked at. */
function shown({ root, diagnostics }: ParsedFile): string {
  return JSON.stringify({ root, diagnostics }, (key, value: unknown) =>
    key === 'file' || key === 'keyFile'
      ? undefined
      : value instanceof Map
        ? [...(value as Map<string, Member>).values()].map(({ key: name, keyAt, node }) => ({
            name,
            keyAt,
            node,
          }))
        : value,
  );
}

/** Many environments of a few forms, as a program writes them. */
const alike = fc
  .array(fc.integer({ min: 0, max: shapes.length - 1 }), { minLength: 1, maxLength: 3 })
  .map((layouts) => {
    const environments = Array.from({ length: ENVIRONMENTS }, (_, index) =>
      shapes[layouts[index % layouts.length] ?? 0]?.(`environment-${index}`, index),
    );
    return `version: 1\nenvironments:\n${environments.join('')}guards: {}\n`;
  });

function expectSame(text: string): void {
  const whole = shown(parseWhole(sourceFile('settings.yaml', text)));
  expect(shown(parseFile('settings.yaml', text)) === whole).toBe(true);
}

itHolds('a long file that is read in parts is read as it is as a whole', 2, (numRuns) => {
  fc.assert(fc.property(longText, expectSame), { numRuns });
});

itHolds('and so is one whose environments are written alike', 5, (numRuns) => {
  fc.assert(fc.property(alike, expectSame), { numRuns });
});

itHolds('and so is one of these that somebody has edited at any place', 20, (numRuns) => {
  fc.assert(
    fc.property(alike, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      expectSame(edits.reduce(edited, text));
    }),
    { numRuns },
  );
});

itHolds('and so is one that somebody has edited at any place', 8, (numRuns) => {
  fc.assert(
    fc.property(longText, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      expectSame(edits.reduce(edited, text));
    }),
    { numRuns },
  );
});
