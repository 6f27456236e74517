// From the text of one file with 1,000 environments to 1,000 plans, in process, over the parser alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { parseDocument } from 'yaml';
import { inTurn, ratioRow } from './measure.mjs';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(root, 'node_modules/.bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const bundle = await rolldown({
  input: {
    target: join(root, 'src/reconciler/desired/target.ts'),
    resolve: join(root, 'src/reconciler/desired/resolve.ts'),
    'plan-settings': join(root, 'src/reconciler/plan/plan-settings.ts'),
    read: join(root, 'src/reconciler/service/settings-v0/read.ts'),
  },
  platform: 'node',
  external: /^[^./]/,
});
await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs' });
const built = (name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
const { readTargets } = await built('target');
const { resolveSettings } = await built('resolve');
const { planSettings } = await built('plan-settings');
const { observeV0Record } = await built('read');

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
const observed = observeV0Record({
  language: 'fr',
  llm_model: 'model-a',
  max_iterations: 5,
  llm_api_key_set: true,
  mcp_config: null,
});
const options = { rotation: [], fingerprints: { compare: () => 'none' } };

function planAll() {
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [] },
    { serverGiven: false, several: false },
  );
  if (diagnostics.length > 0) throw new Error(diagnostics[0].message);
  const changes = targets.map(
    (target) => planSettings(resolveSettings(target, source), observed, options).changes.length,
  );
  if (changes.length !== ENVIRONMENTS || changes.some((count) => count < 4))
    throw new Error('the plans are not what they should be');
}

function millisecondsOf(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

export async function measure() {
  for (let warm = 0; warm < 3; warm++) {
    planAll();
    parseDocument(text);
  }
  const pairs = await inTurn(
    ROUNDS,
    () => millisecondsOf(planAll),
    () => millisecondsOf(() => parseDocument(text)),
  );
  const name = `validate and plan ${ENVIRONMENTS} environments, in process`;
  return [ratioRow({ name, over: 'parseDocument of yaml', limit: LIMIT, unit: 'ms', pairs })];
}
