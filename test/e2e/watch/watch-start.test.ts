import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { setpoint } from '../../fixture/command.ts';
import { LONG } from '../../fixture/long.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import { aFolder, aStore, repositoryOf, settings, watch } from '../../fixture/watch-command.ts';
import { until } from '../../fixture/until.ts';

/** A receiver of everything, and a heartbeat. */
async function receiver() {
  const told: { event: string; kind?: string; holds?: boolean; environment: string | null }[] = [];
  const state = { told, pulse: 0 };
  const hook = await onLoopback(({ url }, response, body) => {
    if (url === '/beat') state.pulse += 1;
    else told.push(...(JSON.parse(body) as { notices: typeof told }).notices);
    response.end('ok');
  });
  onTestFinished(() => hook.close());
  const file = `version: 1
notify: [{ name: hook, json: "${hook.url}/hook" }]
heartbeat: { url: "\${env:BEAT}/beat", every: 10s }
`;
  return { state, file, env: { BEAT: hook.url } };
}

interface Answer {
  readonly controller: { readonly problems: readonly { kind: string; message: string }[] };
  readonly environments: readonly { status: string; suspended: { reason: string } | null }[];
}

function kinds(lines: string): string[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { kind: string }).kind);
}

it(
  'a controller that starts with a journal that cannot be used serves its page and says so; it begins the journal before it heals or tells',
  LONG,
  async () => {
    const store = await aStore('fr');
    const { state, file, env } = await receiver();
    const folder = aFolder({ 'settings.yaml': settings(store.url), 'notify.yaml': file });
    const journal = join(folder, 'data/journal.jsonl');
    mkdirSync(journal, { recursive: true });
    const { child, ended, ask, problem, log } = await watch(
      folder,
      ['--notify', 'notify.yaml'],
      env,
    );
    expect(log.text).toContain('The page is at');
    await until(() => store.requests.length >= 5);
    await until(() => state.told.length > 0);
    expect(await problem('journal')).toBe(true);
    expect((await ask('/')).text).toContain('The journal in data cannot be');
    expect((await ask('/readyz')).status).toBe(200);
    expect(state.told).toEqual([
      expect.objectContaining({ event: 'controller', kind: 'journal', holds: true }),
    ]);
    expect([store.posts(), state.pulse]).toEqual([0, 0]);

    rmSync(journal, { recursive: true });
    await until(() => store.posts() > 0);
    await until(() => state.pulse > 0);
    await until(async () => !(await problem('journal')));
    await until(() => state.told.some(({ holds }) => holds === false));
    await until(() => state.told.some(({ event }) => event === 'healed'));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const written = kinds(readFileSync(journal, 'utf8'));
    expect(written.filter((kind) => kind === 'started')).toHaveLength(1);
    expect(written[0]).toBe('started');
  },
);

it('a controller that starts while it cannot be read who is suspended takes all for suspended, shows that, and heals once it can be', async () => {
  const store = await aStore('fr');
  const { state, file, env } = await receiver();
  const folder = aFolder({
    'settings.yaml': settings(store.url),
    'notify.yaml': file,
    'data/suspensions/1.json': '{',
  });
  const flags = ['--notify', 'notify.yaml', '--allow-actions'];
  const { child, ended, ask, problem } = await watch(folder, flags, {
    ...env,
    SETPOINT_WATCH_TOKEN: 'a-token-of-twenty-characters',
  });
  await until(() => store.requests.length >= 5);
  await until(() => state.told.length > 0);
  expect(await problem('suspensions')).toBe(true);
  const { environments, controller } = JSON.parse(
    (await ask('/api/environments', 'a-token-of-twenty-characters')).text,
  ) as Answer;
  expect(environments).toMatchObject([
    { status: 'suspended', suspended: { reason: 'It cannot be read who is suspended.' } },
  ]);
  expect(controller.problems).toMatchObject([
    { kind: 'suspensions', message: expect.stringContaining('counts as suspended') },
  ]);
  expect(state.told).toEqual([
    expect.objectContaining({ event: 'controller', kind: 'suspensions', holds: true }),
  ]);
  expect([store.posts(), state.pulse]).toEqual([0, 0]);

  rmSync(join(folder, 'data/suspensions'), { recursive: true });
  await until(() => store.posts() > 0);
  await until(() => state.pulse > 0);
  expect(await problem('suspensions')).toBe(false);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it.each(['broken', 'without an answer'])(
  'a controller that starts for the first time with a branch that is %s serves its page, says so, and watches once it can',
  LONG,
  async (how) => {
    const store = await aStore('fr');
    const { state, file, env } = await receiver();
    const branch = await repositoryOf(store.url);
    if (how === 'broken') branch.commit('version: 1\nsettings: { language: [\n');
    else branch.state.answers = false;
    const folder = aFolder({ 'notify.yaml': file });
    const flags = ['--notify', 'notify.yaml', '--git', branch.address];
    const { child, ended, ask, problem, log } = await watch(folder, flags, env);
    expect(log.text).toContain('The page is at');
    expect(await problem('git')).toBe(true);
    expect((await ask('/')).text).toContain('Nothing is watched until this is fixed');
    await until(() => state.told.length > 0);
    expect([store.requests.length, state.pulse]).toEqual([0, 0]);

    branch.commit(settings(store.url));
    branch.state.answers = true;
    await until(() => store.posts() > 0);
    await until(() => state.pulse > 0);
    expect(await problem('git')).toBe(false);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
);

it(
  'as long as there are no files, nobody is told that an environment has left them',
  LONG,
  async () => {
    const store = await aStore('fr');
    const { state, file, env } = await receiver();
    const branch = await repositoryOf(store.url);
    branch.commit(settings(store.url).replace('heal', 'detect'));
    const folder = aFolder({ 'notify.yaml': file });
    const flags = ['--notify', 'notify.yaml', '--git', branch.address];
    const before = await watch(folder, flags, env);
    await until(() => state.told.some(({ event }) => event === 'opened'));
    before.child.kill('SIGTERM');
    await before.ended;
    // The commit that was used last is not known any more.
    rmSync(join(folder, 'data/git'), { recursive: true });
    branch.commit('version: 1\nsettings: { language: [\n');
    const after = await watch(folder, flags, env);
    await until(() => state.told.some(({ event }) => event === 'controller'));
    expect(state.told.filter(({ event }) => event === 'resolved')).toEqual([]);
    branch.commit(settings(store.url, 'fr'));
    await until(() => state.told.some(({ event }) => event === 'resolved'));
    after.child.kill('SIGTERM');
    expect(await after.ended).toBe(0);
  },
);

it('an error of a followed file names its path in the repository, not that of the copy', async () => {
  const store = await aStore('en');
  const branch = await repositoryOf(store.url);
  const elsewhere = 'llm_base_url: "https://models.example.com", llm_api_key: "${env:KEY}"';
  branch.commit(settings(store.url).replace('language: en', elsewhere));
  const { ask, log } = await watch(aFolder({}), ['--git', branch.address]);
  const document = async () => (await ask('/api/environments')).text;
  await until(async () => (await document()).includes('models.example.com'));
  expect(await document()).toContain('(settings.yaml:3)');
  expect((await document()) + log.text).not.toContain('data/git/');
});

it('a file of this machine that is wrong at the start ends the command', async () => {
  const folder = aFolder({ 'settings.yaml': 'version: 1\nsettings: { language: [\n' });
  writeFileSync(join(folder, '.keep'), '');
  // On the time of this machine: one that passes faster makes a disk late.
  const args = ['watch', '--data', 'data', '--lock', 'file'];
  const { code, stderr } = await setpoint(args, { cwd: folder });
  expect(code).toBe(3);
  expect(stderr).toMatch(/settings\.yaml:\d+:\d+/);
});
