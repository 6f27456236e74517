import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';
import { LONG } from '../../fixture/long.ts';
import {
  buildWithCollection,
  createCallbackService,
  HAND_WRITTEN,
} from '../../fixture/new-collection.ts';

const CANARY = 'canary-hook-token';
const FORMATS = {
  plan: ['text', 'json', 'markdown', 'github', 'html'],
  get: ['text', 'json'],
  explain: ['text', 'json'],
};

it('a collection takes at most 4 files and 100 lines by hand', () => {
  expect(HAND_WRITTEN.length).toBeLessThanOrEqual(4);
  const lines = HAND_WRITTEN.reduce((sum, [, count]) => sum + count, 0);
  expect(lines).toBeLessThanOrEqual(100);
});

it('a collection that is added by CONTRIBUTING.md alone is known everywhere', LONG, async () => {
  const tree = buildWithCollection();
  const stored = new Map<string, Record<string, unknown>>();
  const service = await startFronted({ dialect: 'agent-server', apiKey: 'k' });
  onTestFinished(() => service.close());
  service.instead = createCallbackService(stored);
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const declare = (callbacks: string, more = ''): void =>
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      dedent`
        version: 1
        server: { url: "${service.url}" }
        settings: { language: en }
        callbacks: ${callbacks}
      ` + more,
    );
  const run = (...args: string[]) => runBuilt(tree, args, folder.path);
  const file = (): string => readFileSync(join(folder.path, 'settings.yaml'), 'utf8');

  // The file is judged by the schema.
  declare('{ CI: { url: "https://ci.example.com", tokken: x } }');
  const refused = await run('validate');
  expect(refused.code).toBe(3);
  expect(refused.stdout + refused.stderr).toContain('Invalid name in callbacks.');
  expect(refused.stdout + refused.stderr).toContain('^[a-z][a-z0-9-]{0,31}$');
  expect(refused.stdout + refused.stderr).toContain('tokken');
  const hook = 'url: "https://ci.example.com/hook"';
  declare(`{ ci: { ${hook}, token: "\${env:HOOK_TOKEN}", note: runs } }`);
  expect(await run('validate')).toMatchObject({ code: 0 });
  const allowed = (...origins: string[]) =>
    runBuilt(tree, ['plan'], folder.path, { SETPOINT_ALLOWED_ORIGINS: origins.join(',') });
  expect((await allowed('https://other.example.com')).stderr).toContain('callbacks.ci.url');
  declare(
    `{ ci: { ${hook}, retry: { report_url: "https://evil.example.com", secret: "\${env:HOOK_TOKEN}" } } }`,
  );
  const inside = await allowed('https://ci.example.com');
  expect([inside.code, inside.stderr]).toEqual([
    3,
    expect.stringContaining('callbacks.ci.retry.report_url'),
  ]);
  declare(`{ ci: { ${hook}, token: "\${env:HOOK_TOKEN}", note: runs } }`);

  // A plan, an apply and the plan after it.
  const planned = await run('plan');
  expect(planned).toMatchObject({ code: 0 });
  expect(planned.stdout).toContain('callbacks.ci');
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  expect(stored.get('ci')).toEqual({
    url: 'https://ci.example.com/hook',
    token: CANARY,
    note: 'runs',
  });
  expect((await run('plan')).stdout).toContain('No changes. 1 secret could not be compared.');

  // Nothing shows the secret, though the service quotes it.
  stored.set('ci', { ...stored.get('ci'), note: `Bearer ${CANARY}` });
  for (const [command, formats] of Object.entries(FORMATS))
    for (const format of formats) {
      const args =
        command === 'plan' ? [] : command === 'get' ? ['callbacks'] : ['callbacks.ci.token'];
      const shown = await run(command, ...args, '-o', format);
      expect([command, format, shown.code]).toEqual([command, format, 0]);
      expect(shown.stdout + shown.stderr).not.toContain(CANARY);
      expect(shown.stdout).toContain('ci');
    }
  stored.set('ci', { ...stored.get('ci'), note: 'of another' });

  // Guards.
  const protect = '\nguards: { protected: true }\n';
  declare('{ ci: { url: "https://evil.example.com", note: runs } }', protect);
  const moved = await run('apply', '--yes');
  expect([moved.code, moved.stdout + moved.stderr]).toEqual([
    5,
    expect.stringContaining('move-endpoint'),
  ]);
  declare(`{ ci: { ${hook}, token: null } }`, protect);
  const cleared = await run('apply', '--yes');
  expect([cleared.code, cleared.stdout + cleared.stderr]).toEqual([
    5,
    expect.stringContaining('clear-secret'),
  ]);
  declare('{ ci: null }', protect);
  const removed = await run('apply', '--yes');
  expect([removed.code, removed.stdout + removed.stderr]).toEqual([
    5,
    expect.stringContaining('clear-secret'),
  ]);

  // Others, pull, get and init.
  stored.set('theirs', { url: 'https://theirs.example.com', note: 'x' });
  declare(`{ ci: { ${hook}, token: "\${env:HOOK_TOKEN}", note: runs } }`);
  expect((await run('plan')).stdout).toContain('theirs');
  expect((await run('get', 'callbacks')).stdout).toContain('https://theirs.example.com');
  expect(await run('pull')).toMatchObject({ code: 0 });
  expect(file()).toContain('note: of another');
  expect(await run('pull', '--adopt', 'callbacks.theirs')).toMatchObject({ code: 0 });
  expect(file()).toContain('https://theirs.example.com');
  declare(
    `{ ci: { ${hook}, token: "\${env:HOOK_TOKEN}" } }`,
    '\ncollections: { callbacks: { others: remove } }\n',
  );
  expect((await run('plan')).stdout).toContain('- callbacks.theirs');
  const first = await run('init', '--server', service.url, '--file', 'first.yaml');
  expect(first).toMatchObject({ code: 0 });
  const written = readFileSync(join(folder.path, 'first.yaml'), 'utf8');
  expect(written).toMatch(/^callbacks:\n {2}ci:\n/m);
  expect(written).toMatch(/token: \$\{env:\w+\}/);
  expect(written).not.toContain(CANARY);

  // Kubernetes, completion and the reference.
  const rendered = await run('render', '--secret', 'keys');
  expect(rendered.stdout).toMatch(/callbacks:\n\s+ci:\n/);
  expect(rendered.stdout).toContain('HOOK_TOKEN');
  const read = (path: string): string => readFileSync(join(tree, path), 'utf8');
  expect(read('examples/kubernetes/crd.yml')).toContain('callbacks:');
  expect(read('docs/reference/settings.md')).toContain('## callbacks\n');
  expect(read('schemas/observed.schema.json')).toContain('"callbacks"');
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function runBuilt(
  tree: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const bin = join(tree, 'dist/bin/setpoint.cjs');
  const env = { HOOK_TOKEN: CANARY, XDG_CACHE_HOME: join(tree, 'cache'), ...more };
  const child = spawn(process.execPath, [bin, ...args], { cwd, env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk: Buffer) => (texts[name] += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...texts })));
}
