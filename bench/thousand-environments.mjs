// From the text of one file with 1,000 environments to 1,000 plans, in process, over the parser alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { parseDocument } from 'yaml';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(root, 'node_modules/.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const bundle = await rolldown({
  input: {
    target: join(root, 'src/desired/target.ts'),
    resolve: join(root, 'src/desired/resolve.ts'),
    'plan-settings': join(root, 'src/plan/plan-settings.ts'),
    read: join(root, 'src/service/settings-v0/read.ts'),
  },
  platform: 'node',
  external: /^[^./]/,
});
await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs' });
const built = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
const { readTargets } = await built('target');
const { resolveSettings } = await built('resolve');
const { planSettings } = await built('plan-settings');
const { observedState } = await built('read');

const LIMIT = 2.5;
const ENVIRONMENTS = 1000;
const ROUNDS = 15;

const blocks = Array.from({ length: ENVIRONMENTS }, (_, index) =>
  [
    `  env-${index}:`,
    '    server:',
    `      url: https://env-${index}.example.com`,
    `      api_key: \${env:KEY_${index}}`,
    '    settings:',
    `      max_iterations: ${index}`,
    `      git_user_name: bot-${index}`,
    `      llm_base_url: https://llm-${index}.example.com`,
    '      confirmation_mode: true',
    '    guards: { max_changes: 10 }',
  ].join('\n'),
);
const shared = [
  'version: 1',
  'settings:',
  '  language: en',
  '  llm_model: model-a',
  '  llm_api_key: ${env:LLM_API_KEY}',
  'environments:',
];
const text = `${[...shared, ...blocks].join('\n')}\n`;
const source = { variable: () => 'value', file: () => ({ problem: 'none' }) };
const observed = observedState({
  language: 'fr',
  llm_model: 'model-a',
  max_iterations: 5,
  llm_api_key_set: true,
  mcp_config: null,
});
const options = { rotation: [], fingerprints: { compare: () => 'none' } };

function planAll() {
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, base: null },
    { serverGiven: false, several: false },
  );
  if (diagnostics.length > 0) throw new Error(diagnostics[0].message);
  const changes = targets.map(
    (target) => planSettings(resolveSettings(target, source), observed, options).changes.length,
  );
  if (changes.length !== ENVIRONMENTS || changes.some((count) => count < 4))
    throw new Error('the plans are not what they should be');
}

function milliseconds(work) {
  const start = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

for (let warm = 0; warm < 3; warm++) {
  planAll();
  parseDocument(text);
}
const rounds = Array.from({ length: ROUNDS }, () => [
  milliseconds(planAll),
  milliseconds(() => parseDocument(text)),
]);
const ratio = median(rounds.map(([ours, parser]) => ours / parser));
const [ours, parser] = [0, 1].map((side) => median(rounds.map((round) => round[side])));
const verdict = ratio <= LIMIT ? 'ok' : 'TOO SLOW';
console.log(
  `validate and plan ${ENVIRONMENTS} environments (${text.split('\n').length} lines), over parseDocument: ${ratio.toFixed(2)}x (at most ${LIMIT}x)  ${ours.toFixed(1)} ms over ${parser.toFixed(1)} ms  ${verdict}`,
);
if (ratio > LIMIT) process.exitCode = 1;
