import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;
const ENV = { KEY: 'a-session-key' };

function put(guards: string): void {
  const settings =
    'settings: { llm_api_key: null, confirmation_mode: false, sandbox_api_key: null }';
  const server = `server: { url: "${store.url}", api_key: "\${env:KEY}" }`;
  writeFileSync(
    join(folder.path, 'settings.yaml'),
    dedent`
      version: 1
      ${server}
      ${settings}
      guards: ${guards}
    `,
  );
}

const run = (...args: string[]) => setpoint(args, { cwd: folder.path, env: ENV });
const read = (name: string) => readFileSync(join(folder.path, name), 'utf8');

beforeEach(async () => {
  store = await startStore({}, { llm_api_key: 'k', confirmation_mode: true });
  folder = folderWith({});
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

describe('plan carries the verdict of the apply', () => {
  it('in every format, with every rule, its path, and how to lift it; and nowhere how to apply', async () => {
    put('{ protected: true, frozen: "INC-42" }');
    const formats = ['json=plan.json', 'markdown=plan.md', 'html=plan.html', 'github=plan.txt'];
    const { code, stdout } = await run(
      'plan',
      '-o',
      'text',
      ...formats.flatMap((one) => ['-o', one]),
    );
    expect(code).toBe(0);
    const document = JSON.parse(read('plan.json')) as PlanDocument;
    const refusals = document.environments[0]?.refusals ?? [];
    expect(refusals.map(({ rule, path }) => [rule, path])).toEqual([
      ['frozen', []],
      ['clear-secret', ['llm_api_key']],
      ['disable-safety', ['confirmation_mode']],
    ]);
    for (const { message, rule, hint } of refusals)
      expect(stdout).toContain(`\nApply would be refused: ${message} (rule ${rule}) ${hint}\n`);
    expect(stdout.split('\n').at(-5)).toMatch(/^Plan: /);
    expect(read('plan.md')).toContain('Apply would be refused');
    expect(read('plan.md')).not.toContain('Apply with');
    expect(read('plan.html')).toContain('<span class="chip bad">✗ apply would be refused</span>');
    expect(read('plan.html')).not.toContain('setpoint apply');
    const annotations = read('plan.txt').split('\n');
    expect(annotations.filter((line) => line.startsWith('::error'))).toHaveLength(3);
    expect(annotations.find((line) => line.includes('clear-secret'))).toContain('line=3,');
    const applied = await run('apply', '--yes', '-o', 'json');
    expect(applied.code).toBe(5);
    expect(JSON.parse(applied.stdout).environments[0].refusals).toEqual(refusals);
    for (const { message } of refusals) expect(applied.stderr).toContain(message);
    expect(store.posts()).toBe(0);
  });

  it('plan --exit-code ends with 5, which goes before 2; drift with 2, and its document has the refusals, too', async () => {
    put('{ clear_secret: true }');
    expect((await run('plan', '--exit-code', '--out', 'plan.json')).code).toBe(5);
    expect((await run('plan', 'plan.json', '--exit-code')).code).toBe(5);
    expect((await run('plan', '--exit-code', '--allow', 'clear-secret')).code).toBe(2);
    expect((await run('plan')).code).toBe(0);
    const drift = await run('drift', '-o', 'json');
    expect(drift.code).toBe(2);
    expect(JSON.parse(drift.stdout).environments[0].refusals).toMatchObject([
      { rule: 'clear-secret', path: ['llm_api_key'] },
    ]);
    put('{}');
    expect((await run('plan', '--exit-code')).code).toBe(2);
  });

  it('apply --dry-run shows it, with what --allow would lift', async () => {
    put('{ protected: true }');
    const { code, stdout } = await run('apply', '--dry-run', '--allow', 'clear_secret');
    expect(code).toBe(0);
    expect(stdout).toContain('Apply would be refused: The plan turns confirmation_mode off.');
    expect(stdout).not.toContain('Apply would be refused: The plan clears');
    expect(stdout).toContain('! The plan clears llm_api_key. (clear-secret)');
  });

  it('--allow of no rule is a usage error, and nothing is sent', async () => {
    put('{}');
    const { code, stderr } = await run('plan', '--allow', 'clear-secrets');
    expect(code).toBe(3);
    expect(stderr).toContain('clear-secret');
    expect(store.requests).toEqual([]);
  });
});
