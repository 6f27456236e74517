import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resolveServer, resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { readTargets, type Target } from '../../../src/reconciler/desired/target.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { itHolds } from '../../fixture/property-runs.ts';

/** More than are checked at a time, and more than are merged when the file is read. */
const ENVIRONMENTS = 300;

/** Makes a file a long one. */
const PADDING = `# ${'long '.repeat(8 * 1024)}\n`;

/** What all environments share. */
const tops = [
  'server: { api_key: "${env:KEY}" }\nsettings: { language: en, agent: A }\n',
  'settings:\n  language: en\n  llm_api_key: "${env:SHARED}"\n  mcp_config:\n    sse_servers: [https://a.example.com/sse]\n    stdio_servers: [{ name: n, command: c, env: "A=${env:SHARED},B=2" }]\n',
  'settings:\n  agent_settings: { llm: { temperature: 0.5, api_key: "${env:SHARED}" } }\nunmanaged: [language]\nguards: { protected: true }\nsandboxes: [{ running: 2 }]\n',
];

type Written = (name: string, index: number) => string;

const environments: readonly Written[] = [
  (name, index) =>
    `  ${name}:\n    server: { url: "https://${name}.example.com", api_key: "\${env:KEY}" }\n    settings: { max_iterations: ${index} }\n`,
  (name, index) =>
    `  ${name}: { server: { url: 'http://h/${index}', api_key: null }, labels: { ring: "${index % 3}" } }\n`,
  (name, index) =>
    `  ${name}:\n    server:\n      url: https://${name}.example.com/a:b\n      api_key: \${env:KEY_${index % 5}}\n    settings:\n      language: de\n      llm_model: m-${index}\n`,
  (name, index) =>
    `  ${name}:\n    server: { url: "https://e.example.com", api_key: null }\n    unmanaged: [agent]\n    sandboxes: [{ running: ${index} }]\n    settings: { git_user_name: "\${env:USER_${index % 4}:-nobody}" }\n`,
];

/** Environments of the same forms with a problem, each of another kind. */
const problems: readonly Written[] = [
  (name) =>
    `  ${name}:\n    server: { url: "https://${name}.example.com:99999", api_key: "\${env:KEY}" }\n    settings: { max_iterations: 1 }\n`,
  (name, index) =>
    `  ${name}:\n    server: { url: "https://${name}.example.com", api_key: "literal-${index}" }\n    settings: { max_iterations: 0 }\n`,
  (name) => `  ${name}: { server: { url: 'ftp://h/', api_key: null }, labels: { ring: "a b" } }\n`,
  (name) =>
    `  ${name}:\n    server:\n      url: https://\n      api_key: \${env:CI_JOB_TOKEN}\n    settings:\n      language: de\n      llm_model: \${env:}\n`,
  (name) => `  ${name}:\n    settings: { languag: de }\n`,
];

/** Environments of a few forms in turn, and which of them have a problem. */
const layouts = fc.record({
  top: fc.constantFrom(...tops),
  forms: fc.array(fc.nat(environments.length - 1), { minLength: 1, maxLength: 3 }),
  wrong: fc.array(fc.tuple(fc.nat(ENVIRONMENTS - 1), fc.nat(problems.length - 1)), {
    maxLength: 3,
  }),
});

/** The texts of environments: mostly alike, each by its own line. */
function environmentTexts(forms: readonly number[], kinds: ReadonlyMap<number, number>): string[] {
  return Array.from({ length: ENVIRONMENTS }, (_, index) => {
    const kind = kinds.get(index);
    const write =
      kind === undefined ? environments[forms[index % forms.length] ?? 0] : problems[kind];
    return write?.(`e-${index}`, index) ?? '';
  });
}

/** The file with one of its environments; the lines of the others are empty, so that everything is on its own line. */
function alone(head: string, written: readonly string[], index: number): string {
  const lines = written.map((text, at) => (at === index ? text : text.replaceAll(/[^\n]/g, '')));
  return `${head}\nenvironments:\n${lines.join('')}`;
}

function read(text: string) {
  const file = { path: 'settings.yaml', text, bases: [] };
  return readTargets(file, { serverGiven: false, several: false });
}

const VARIABLES = new Map([
  ['KEY', 'the-key'],
  ['KEY_0', 'key-zero'],
  ['KEY_2', 'key-two'],
  ['SHARED', 'the-shared-value'],
  ['USER_1', 'somebody'],
]);

/** All that a run takes from a target, with the values that were looked up for it. */
function taken(target: Target): string {
  const looked = new Set<string>();
  const source = {
    variable: (name: string) => VARIABLES.get(name),
    file: () => ({ problem: 'there are no files' }),
    resolved: (value: string, ref: string | null) => looked.add(`${ref}: ${value}`),
  };
  const server = resolveServer(target, source);
  const { fields, ...rest } = resolveSettings(target, source);
  const values = fields.map(({ field, value, source: place }) => [field.name, value, place()]);
  const shown = { name: target.name, server, values, rest, looked: [...looked] };
  return JSON.stringify(shown, function (this: unknown, key, value: unknown) {
    const own = (this as Record<string, unknown>)[key];
    if (own instanceof Secret) return { ref: own.ref, value: own.reveal() };
    if (own instanceof Map || own instanceof Set) return [...own];
    return value;
  });
}

itHolds(
  'each environment of a long file is what it is alone, and so are its problems',
  6,
  (numRuns) => {
    fc.assert(
      fc.property(layouts, ({ top, forms, wrong }) => {
        const kinds = new Map(wrong);
        const head = `version: 1\n${top}`;
        const written = environmentTexts(forms, kinds);
        const all = read(`${head}${PADDING}environments:\n${written.join('')}`);
        const some = [...written.keys()].filter((index) => kinds.has(index) || index % 9 === 0);
        const each = some.map((index) => read(alone(head, written, index)));
        expect(all.diagnostics).toEqual(each.flatMap(({ diagnostics }) => diagnostics));
        if (kinds.size > 0) return;
        expect(all.targets.map(({ name }) => name)).toEqual(
          written.map((_, index) => `e-${index}`),
        );
        expect(some.map((index) => taken(all.targets[index] as Target))).toEqual(
          each.map(({ targets: [target] }) => taken(target as Target)),
        );
      }),
      { numRuns },
    );
  },
);

it('what environments share without a reference is the same object for all, and nothing else is', () => {
  const head = `version: 1\n${tops[1]}guards: { protected: true }\nunmanaged: [agent]\n`;
  const written = Array.from({ length: ENVIRONMENTS }, (_, index) =>
    environments[index % 3]?.(`e-${index}`, index),
  );
  const { targets } = read(`${head}${PADDING}environments:\n${written.join('')}`);
  const source = {
    variable: (name: string) => VARIABLES.get(name),
    file: () => ({ problem: 'there are no files' }),
  };
  const states = targets.map((target) => resolveSettings(target, source));
  const [first, second, third] = states as [DesiredState, DesiredState, DesiredState];
  const of = ({ fields }: DesiredState, name: string) =>
    fields.find(({ field }) => field.name === name);
  expect(of(second, 'language')).toBe(of(first, 'language'));
  expect(of(third, 'language')).not.toBe(of(first, 'language'));
  expect(of(third, 'language')?.value).toBe('de');
  expect(of(second, 'llm_api_key')).not.toBe(of(first, 'llm_api_key'));
  expect(second.guards).toBe(first.guards);
  expect(second.unmanaged).toBe(first.unmanaged);
});
