import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { reporterFor } from '../../../src/command/cli/reporter.ts';
import { plan } from '../../../src/index.ts';
import type { PlanDocument } from '../../../src/index.ts';
import { setpoint, start } from '../../fixture/command.ts';
import { loaded, RECORDED } from '../../fixture/store-server.ts';
import { LONG } from '../../fixture/long.ts';

const RECORD = JSON.stringify(loaded({ language: 'fr' }, RECORDED));

/** A service that answers every path but those that are held, which wait until they are let go. */
async function holding(isHeld: (path: string) => boolean) {
  const waiting: ServerResponse[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    response.setHeader('content-type', 'application/json');
    if (isHeld(path)) waiting.push(response);
    else response.end(RECORD);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    held: () => waiting.length,
    letGo: () => waiting.splice(0).forEach((response) => response.end(RECORD)),
  };
}

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'setpoint-parts-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function settings(url: string, names: readonly string[], value = 'en'): string {
  const environments = names.map((name) => `  ${name}: { server: { url: '${url}/${name}' } }\n`);
  return `version: 1\nsettings: { language: ${value} }\nenvironments:\n${environments.join('')}`;
}

const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `e${index}`);

it('the first environments are printed while the last one is still asked', async () => {
  const service = await holding((path) => path.startsWith('/last/'));
  const cwd = folder();
  writeFileSync(join(cwd, 'settings.yaml'), settings(service.url, [...named(10), 'last']));
  const { child, ended } = start(
    ['plan', '--parallel', '2', '-o', 'json=plan.json', '-o', 'text'],
    { cwd },
  );
  let shown = '';
  child.stdout?.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  await expect.poll(() => service.held()).toBe(1);
  await expect.poll(() => shown).toContain('e8  http://');
  expect(shown).not.toContain('last  http://');
  expect(readdirSync(cwd)).not.toContain('plan.json');
  service.letGo();
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  expect(stdout).toContain('last  http://');
  expect(stdout).toMatch(/\n11 environments: 11 differ/);
  const saved = JSON.parse(readFileSync(join(cwd, 'plan.json'), 'utf8')) as PlanDocument;
  expect(saved.environments.map(({ name }) => name)).toEqual([...named(10), 'last']);
  expect(Object.keys(saved).at(-1)).toBe('summary');
  expect(readdirSync(cwd).toSorted()).toEqual(['plan.json', 'settings.yaml']);
});

it('a run that is killed leaves the file of an earlier one as it was', async () => {
  const service = await holding((path) => path.startsWith('/last/'));
  const cwd = folder();
  writeFileSync(join(cwd, 'settings.yaml'), settings(service.url, [...named(5), 'last']));
  writeFileSync(join(cwd, 'plan.json'), 'earlier');
  const { child, ended } = start(['plan', '-o', 'json=plan.json'], { cwd });
  await expect.poll(() => service.held()).toBe(1);
  child.kill('SIGKILL');
  await ended;
  expect(readFileSync(join(cwd, 'plan.json'), 'utf8')).toBe('earlier');
});

it('a document that is given up before its end leaves no file', async () => {
  const cwd = folder();
  const quiet = { write: (_: string | Uint8Array, done?: () => void) => (done?.(), true) };
  const io = {
    env: {},
    stdin: () => Readable.from([]),
    stdout: quiet,
    stderr: quiet,
    signal: new AbortController().signal,
    abandon: new AbortController().signal,
  };
  const output = ['json', 'html', 'text'].map((format) => `${format}=${join(cwd, format)}`);
  const reporter = reporterFor({ output }, io, { html: async () => () => '' });
  const making = reporter.inParts({ section: () => 'part', ending: () => '' }, async (parts) => {
    await parts.begin({ kind: 'plan' }, 2);
    await parts.environment({ name: 'a', error: null });
    throw new Error('broken');
  });
  await expect(making).rejects.toThrow('broken');
  expect(readdirSync(cwd)).toEqual([]);
});

it('JSON on stdout and in a file are what the library resolves to', async () => {
  const service = await holding(() => false);
  const cwd = folder();
  const file = join(cwd, 'settings.yaml');
  writeFileSync(file, settings(service.url, named(30)));
  const { stdout } = await setpoint(['plan', '-o', 'json', '-o', 'json=plan.json'], { cwd });
  expect(readFileSync(join(cwd, 'plan.json'), 'utf8').replace(/"salt": .*/, '')).toBe(
    stdout.replace(/"salt": .*/, ''),
  );
  const document = await plan({ file, env: {} });
  const plain = (one: PlanDocument): unknown =>
    JSON.parse(
      JSON.stringify({ ...one, created_at: '', salt: '' }, (key, value: unknown) =>
        key === 'digests' || key === 'file' ? null : value,
      ),
    );
  expect(plain(JSON.parse(stdout) as PlanDocument)).toEqual(plain(document));
});

it('files that are too long to be kept are planned as they are one by one', LONG, async () => {
  const service = await holding(() => false);
  const cwd = folder();
  const names = ['a', 'b', 'c'].map((file) => named(2).map((name) => `${file}-${name}`));
  const comment = `# ${'x'.repeat(120)}\n`.repeat(5000);
  names.forEach((some, index) => {
    const text = settings(service.url, some, ['en', 'fr', 'de'][index]);
    writeFileSync(join(cwd, `${index}.yaml`), comment + text);
  });
  const files = names.map((_, index) => join(cwd, `${index}.yaml`));
  // In this order each environment is in another file than the one before.
  const mixed = named(2).flatMap((name) => ['b', 'a', 'c'].map((file) => `${file}-${name}`));
  const document = await plan({ file: files, env: {}, digests: false, targets: mixed });
  expect(document.environments.map(({ name }) => name)).toEqual(mixed);
  const apart = await Promise.all(files.map((file) => plan({ file, env: {}, digests: false })));
  const byName = new Map(
    apart.flatMap(({ environments }) => environments).map((one) => [one.name, one]),
  );
  expect(document.environments).toEqual(mixed.map((name) => byName.get(name)));
  expect(document.summary.change).toBe(4);
});

it('what an environment resolves is masked in its part and in what comes after all of them', async () => {
  const service = await holding(() => false);
  const cwd = folder();
  const file = join(cwd, 'settings.yaml');
  writeFileSync(
    file,
    `${settings(service.url, named(3))}  secret:\n    server: { url: '${service.url}/s' }\n    settings: { git_user_name: "\${env:NAME}", agent: plain-value-1 }\n`,
  );
  const env = {
    NAME: 'plain-value-1',
    CI_JOB_URL: 'https://ci.example.com/plain-value-1/7',
    GITLAB_USER_LOGIN: 'plain-value-1',
  };
  const document = await plan({ file, env: { ...env, SETPOINT_ALLOWED_VARIABLES: 'NAME' } });
  expect(document.environments.at(-1)?.changes.length).toBe(3);
  expect(JSON.stringify(document)).not.toContain('plain-value-1');
  expect(document.run.actor).toBe('(sensitive)');
});
