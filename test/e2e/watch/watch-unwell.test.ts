import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { setpoint } from '../../fixture/command.ts';
import { freePort } from '../../fixture/free-port.ts';
import { itEach, LONG } from '../../fixture/long.ts';
import { onLoopback } from '../../fixture/on-loopback.ts';
import {
  aFolder,
  aStore,
  BIN,
  QUICK,
  repositoryOf,
  settings,
  standing,
  watch,
} from '../../fixture/watch-command.ts';
import { until } from '../../fixture/until.ts';

const BREAKS: readonly {
  readonly kind: string;
  readonly path: string;
  readonly beats: boolean;
  readonly over: string;
}[] = [
  {
    kind: 'journal',
    path: 'data/journal.jsonl',
    beats: false,
    over: 'The journal can be written again.',
  },
  { kind: 'locks', path: 'data/locks', beats: false, over: 'The locks can be used again.' },
  {
    kind: 'suspensions',
    path: 'data/suspensions',
    beats: true,
    over: 'The suspensions can be read again.',
  },
];

itEach(BREAKS, ({ kind }) => kind === 'journal')(
  'a controller that cannot use its $kind shows it, measures it, tells it and logs it once, and that it can again; probes stay well',
  async ({ kind, path, beats, over }) => {
    const store = await aStore('en');
    const told: { event: string; kind: string; holds: boolean; summary: string }[] = [];
    let pulse = 0;
    const hook = await onLoopback(({ url }, response, body) => {
      if (url === '/beat') pulse += 1;
      else told.push(...(JSON.parse(body) as { notices: typeof told }).notices);
      response.end('ok');
    });
    onTestFinished(() => hook.close());
    const folder = aFolder({
      'settings.yaml': settings(store.url),
      'notify.yaml': `version: 1
notify: [{ name: hook, json: "${hook.url}/hook" }]
heartbeat: { url: "\${env:BEAT}/beat", every: 10s }
`,
    });
    const { child, ended, log, ask, problem } = await watch(folder, ['--notify', 'notify.yaml'], {
      BEAT: hook.url,
    });
    await until(() => pulse > 1);
    expect(await problem(kind)).toBe(false);

    const [place, away] = [join(folder, path), join(folder, 'away')];
    const wasThere = existsSync(place);
    await standing(child.pid, () => {
      if (wasThere) renameSync(place, away);
      if (kind === 'journal') mkdirSync(place);
      else writeFileSync(place, 'in the way');
    });
    await until(() => problem(kind));
    const silent = pulse;
    store.stored = { language: 'fr' };
    await until(() => told.some((one) => one.kind === kind && one.holds));
    const reads = (): number => store.requests.filter(({ method }) => method === 'GET').length;
    const before = reads();
    await until(() => reads() >= before + 5);
    expect(store.posts()).toBe(0);
    expect(pulse > silent + 1).toBe(beats);
    for (const probe of ['/healthz', '/readyz']) expect((await ask(probe)).status).toBe(200);
    for (const page of ['/', '/environments/default']) {
      const { status, text } = await ask(page);
      expect([status, /id="controller"><ul/.test(text)]).toEqual([200, true]);
    }
    for (const api of ['/api/environments', '/api/environments/default']) {
      const { controller } = JSON.parse((await ask(api)).text) as {
        controller: { problems: readonly object[] };
      };
      expect(controller.problems).toContainEqual(expect.objectContaining({ kind, receiver: null }));
    }

    await standing(child.pid, () => {
      rmSync(place, { recursive: true });
      if (wasThere) renameSync(away, place);
    });
    await until(() => store.posts() > 0);
    await until(async () => !(await problem(kind)));
    await until(() => told.some((one) => one.kind === kind && !one.holds));
    const [beat] = [pulse];
    await until(() => pulse > beat);
    const ofKind = told.filter((one) => one.event === 'controller' && one.kind === kind);
    expect(ofKind.map(({ holds }) => holds)).toEqual([true, false]);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const [first] = ofKind;
    expect(log.text.split(first?.summary ?? '?')).toHaveLength(2);
    expect(log.text).toContain(over);
  },
);

it(
  'a git server that accepts and never answers delays no read; the controller is well but for git, and ends at a signal',
  LONG,
  async () => {
    const store = await aStore('en');
    const { address, state, commit } = await repositoryOf(store.url);
    const folder = aFolder();
    const { child, ended, ask, problem } = await watch(folder, ['--git', address]);
    const reads = (): number => store.requests.filter(({ method }) => method === 'GET').length;
    await until(() => reads() > 2);
    state.answers = false;
    const { asked } = state;
    await until(() => problem('git'));
    const before = reads();
    let sick = 0;
    await until(async () => {
      if ((await ask('/healthz')).status !== 200) sick += 1;
      return reads() >= before + 12;
    });
    expect(sick).toBe(0);
    expect(state.asked).toBeGreaterThan(asked);
    commit(settings(store.url, 'de'));
    state.answers = true;
    await until(async () => !(await problem('git')));
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
);

it.each(['whose server does not answer', 'whose newest commit is broken', 'that is gone'])(
  'a controller that starts again with a branch %s watches the last good commit, and says so',
  LONG,
  async (how) => {
    const store = await aStore('en');
    const { address, state, commit, first } = await repositoryOf(store.url);
    const folder = aFolder();
    const before = await watch(folder, ['--git', address]);
    await until(() => store.requests.length > 0);
    before.child.kill('SIGKILL');
    await before.ended;
    const { length } = store.requests;
    if (how.includes('broken')) commit('version: 1\nsettings: { language: [\n');
    else state.answers = false;
    const source = how.includes('gone')
      ? `http://127.0.0.1:${await freePort()}/settings.git`
      : address;
    if (how.includes('gone')) {
      // The commit is known by the address: this one was followed, too.
      const path = join(folder, 'data/git/followed.json');
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(address, source));
    }
    const after = await watch(folder, ['--git', source]);
    await until(() => store.requests.length > length);
    await until(() => after.problem('git'));
    const { controller } = JSON.parse((await after.ask('/api/environments')).text) as {
      controller: { commit: string };
    };
    expect(controller.commit).toBe(first);
    after.child.kill('SIGTERM');
    expect(await after.ended).toBe(0);
  },
);

it(
  'a working folder that is removed while it is watched costs little, is shown, and hinders no end',
  LONG,
  async () => {
    const store = await aStore('en');
    const folder = aFolder({ 'in/settings.yaml': settings(store.url) });
    const { child, ended, problem } = await watch(join(folder, 'in'));
    await until(() => store.requests.length > 2);
    await standing(child.pid, () => rmSync(join(folder, 'in'), { recursive: true }));
    for (const kind of ['files', 'journal', 'locks']) await until(() => problem(kind));
    const ticks = (): number => {
      const parts =
        readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return Number(parts[11]) + Number(parts[12]);
    };
    const { length } = store.requests;
    const spent = ticks();
    await until(() => store.requests.length >= length + 20);
    // 200 s of the controller's time; a hundred ticks are a second of a processor.
    expect((ticks() - spent) / 100).toBeLessThan(20);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  },
);

it('a data folder that cannot be made ends the command at once', async () => {
  const store = await aStore('en');
  const folder = aFolder({ 'settings.yaml': settings(store.url) });
  const env = { KEY: 'a-session-key', PATH: process.env['PATH'] ?? '' };
  const data = '/proc/setpoint/data';
  const { code, stderr } = await setpoint(['watch', '--data', data], { cwd: folder, env });
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`The journal in ${data} cannot be written`),
  ]);
});

it('a port that is in use is tried again by whoever restarts what fails: exit 1', async () => {
  const store = await aStore('en');
  const folder = aFolder({ 'settings.yaml': settings(store.url) });
  const sockets = new Set<Socket>();
  const other = createServer((socket) => sockets.add(socket));
  const port = await freePort();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const args = ['watch', '--data', 'data', '--lock', 'file', '--listen', `127.0.0.1:${port}`];
  const { code, stderr } = await setpoint(args, { cwd: folder, env: { KEY: 'a-session-key' } });
  expect([code, stderr]).toEqual([1, expect.stringContaining('the port is in use')]);
  const unit = readFileSync(
    join(import.meta.dirname, '../../../examples/systemd/setpoint-watch.service'),
    'utf8',
  );
  expect(unit).toMatch(/^Restart=on-failure$/m);
  expect(unit).toMatch(/^RestartPreventExitStatus=3$/m);
});

/** A file system that never answers: whoever made it does not serve it. */
const HANGING =
  'exec 7<>/dev/fuse; mount -i -t fuse none DIR -o fd=7,rootmode=40000,user_id=0,group_id=0';
const canHang =
  spawnSync('unshare', ['-rm', 'bash', '-c', HANGING.replace('DIR', '/mnt')]).status === 0;

it.skipIf(!canHang)(
  'a disk of the settings that hangs delays no read, is shown, and hinders no end (needs unshare and FUSE)',
  LONG,
  async () => {
    const store = await aStore('en');
    const folder = aFolder({ 'conf/settings.yaml': settings(store.url), 'data/.keep': '' });
    const port = await freePort();
    const command = `"${process.execPath}" -r "${QUICK}" "${BIN}" watch -f conf/settings.yaml --data data --lock file --listen 127.0.0.1:${port}`;
    const shell = spawn('unshare', ['-rm', 'bash'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        KEY: 'a-session-key',
        SETPOINT_TEST_TIMES: '20',
        SETPOINT_TEST_SINCE: String(Date.now()),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void shell.kill('SIGKILL'));
    let said = '';
    shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const reads = (): number => store.requests.filter(({ method }) => method === 'GET').length;
    shell.stdin.write(`${command} > out 2> err & pid=$!\n`);
    await until(() => reads() > 2);
    shell.stdin.write(`${HANGING.replace('DIR', 'conf')}\n`);
    const metrics = async (): Promise<string> =>
      (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await until(async () =>
      (await metrics()).includes('setpoint_controller_problem{kind="files"} 1'),
    );
    const before = reads();
    await until(() => reads() >= before + 20);
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    shell.stdin.write('kill $pid; wait $pid; echo "ended $?"\n');
    await until(() => said.includes('ended'));
    expect(said.trim()).toBe('ended 143');
    shell.stdin.end();
  },
);

it.skipIf(!canHang)(
  'a disk of references that hangs delays no other environment, is said where it is used, and hinders no end (needs unshare and FUSE)',
  LONG,
  async () => {
    const [ours, other] = [await aStore('en'), await aStore('en')];
    const folder = aFolder({ 'keys/key': 'a-session-key\n', 'data/.keep': '', 'ca/ca.pem': 'x' });
    const text = `version: 1
watch: { mode: detect, interval: 10s }
environments:
  ours: { server: { url: "${ours.url}", api_key: "\${file:${folder}/keys/key}" }, settings: { language: en } }
  other: { server: { url: "${other.url}", api_key: "\${env:KEY}" }, settings: { language: en } }
`;
    writeFileSync(join(folder, 'settings.yaml'), text);
    const port = await freePort();
    const command = `"${process.execPath}" -r "${QUICK}" "${BIN}" watch --data data --lock file --listen 127.0.0.1:${port}`;
    const shell = spawn('unshare', ['-rm', 'bash'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        KEY: 'a-session-key',
        SETPOINT_ALLOWED_FILES: join(folder, 'keys'),
        SETPOINT_STATE_KEY: 'a-key-of-the-state-that-is-long-enough',
        SETPOINT_TEST_TIMES: '20',
        SETPOINT_TEST_SINCE: String(Date.now()),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    onTestFinished(() => void shell.kill('SIGKILL'));
    let said = '';
    shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    shell.stdin.write(`${command} > out 2> err & pid=$!\n`);
    await until(() => ours.requests.length > 2 && other.requests.length > 2);
    shell.stdin.write(`${HANGING.replace('DIR', 'keys')}\n`);
    const ask = async (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
    const errorOf = async (name: string): Promise<string | undefined> => {
      const { environments } = (await (await ask(`/api/environments/${name}`)).json()) as {
        environments: { error: { message: string } | null }[];
      };
      return environments[0]?.error?.message;
    };
    await until(async () => (await errorOf('ours'))?.includes('does not answer') === true);
    const before = other.requests.length;
    // The files are read again, with all their references.
    writeFileSync(join(folder, 'settings.yaml'), `${text}# again\n`);
    await until(() => other.requests.length >= before + 5);
    expect(await errorOf('other')).toBeUndefined();
    expect((await ask('/healthz')).status).toBe(200);
    const { length } = ours.requests;
    shell.stdin.write('umount -l keys; exec 7<&-\n');
    await until(() => ours.requests.length > length);
    await until(async () => (await errorOf('ours')) === undefined);
    shell.stdin.write('kill $pid; wait $pid; echo "ended $?"\n');
    await until(() => said.includes('ended'));
    expect(said.trim()).toBe('ended 0');
    shell.stdin.end();
  },
);

it.skipIf(process.platform !== 'linux')(
  'a controller has threads for more slow name servers than four',
  async () => {
    const store = await aStore('en');
    const { child, ask } = await watch(aFolder({ 'settings.yaml': settings(store.url) }));
    await until(async () => (await ask('/healthz')).status === 200);
    expect(readdirSync(`/proc/${child.pid}/task`).length).toBeGreaterThan(32);
  },
);
