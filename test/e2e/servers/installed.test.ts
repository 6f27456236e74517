/** Skills and plugins, declared by name, on an Agent Server that installs them from folders. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import type { EmulatorOptions } from '../../../src/emulator/start.ts';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const KEY = 'a-key';
const ENV = { SETPOINT_STATE_KEY: 'state' };
const KINDS = ['skills', 'plugins'] as const;
type Kind = (typeof KINDS)[number];

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
beforeEach(async () => {
  folder = folderWith({});
  await service('agent-server');
});
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: NonNullable<EmulatorOptions['dialect']>): Promise<void> {
  const data = join(folder.path, `${dialect}.json`);
  front = await startFronted({ dialect, apiKey: KEY, data });
}

/** A folder that a server installs something from, and that gives it a name. */
function source(kind: Kind, place: string, name: string): string {
  const path = join(folder.path, 'src', place);
  const file = kind === 'skills' ? `${name}/SKILL.md` : `${name}/.plugin/plugin.json`;
  const text =
    kind === 'skills'
      ? `---\nname: ${name}\ndescription: from ${place}\n---\nX.\n`
      : JSON.stringify({ name, description: `from ${place}` });
  mkdirSync(dirname(join(path, file)), { recursive: true });
  writeFileSync(join(path, file), text);
  return path;
}

function asked(blocks: string, more: Readonly<Record<string, unknown>> = {}) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n${blocks}\n`;
  return { text, file: join(folder.path, 'settings.yaml'), env: ENV, clock: quickClock(), ...more };
}

const allow = ['empty-store', 'run-code'];

async function applied(blocks: string, more: Readonly<Record<string, unknown>> = {}) {
  const [environment] = (await apply(asked(blocks, { allow, ...more }))).environments;
  return environment;
}

type Entry = Readonly<Record<string, unknown>>;

async function installed(kind: Kind): Promise<Readonly<Record<string, Entry>>> {
  const { body } = await front.ask('GET', `/api/${kind}/installed`);
  const list = (body as Record<Kind, readonly Entry[]>)[kind];
  return Object.fromEntries(list.map((entry) => [entry['name'], entry]));
}

function writes(): string[] {
  return front.seen
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path}`);
}

describeEach(KINDS, (kind) => kind === 'skills')('%s', (kind) => {
  it('are read one by one: an Agent Server writes when it lists them', async () => {
    const here = source(kind, 'here', 'one');
    source(kind, 'here', 'theirs');
    await front.ask('POST', `/api/${kind}/install`, { source: here, repo_path: 'theirs' });
    const file = `${kind}:\n  one: { source: ${here}, repo_path: one }\n  gone: null`;
    // Not for one that is missing either: a controller would have the service write at each look.
    expect((await drift(asked(file))).environments).toMatchObject([{ status: 'differs' }]);
    await applied(file);
    expect(await applied(file)).toMatchObject({ status: 'in-sync' });
    expect((await drift(asked(file))).environments).toMatchObject([{ status: 'in-sync' }]);
    const lists = front.seen.filter(({ path }) => path === `/api/${kind}/installed`);
    expect(lists).toEqual([]);
  });

  it('whose source gives them another name are left, told with both names, and refused by the service from then on', async () => {
    const here = source(kind, 'here', 'real');
    const file = `${kind}: { wrong: { source: ${here}, repo_path: real, enabled: false } }`;
    const outcome = await applied(file);
    expect(outcome).toMatchObject({
      status: 'partial',
      changes: [{ path: ['language'] }, { path: [kind, 'wrong'], result: 'unknown' }],
    });
    expect(outcome?.error?.message).toContain('wrong contains one named real');
    expect(writes().at(-1)).toBe(`POST /api/${kind}/install`);
    expect(Object.keys(await installed(kind))).toEqual(['real']);
    const again = await applied(file);
    expect(again?.error?.message).toMatch(/declared here under another name \(status 409/);
    expect(Object.keys(await installed(kind))).toEqual(['real']);
    const [environment] = (
      await plan(asked(`${file}\ncollections: { ${kind}: { others: remove } }`))
    ).environments;
    expect(environment?.error?.message).toMatch(
      new RegExp(
        `${kind}\\.wrong \\(.*settings\\.yaml:4\\) cannot be installed under this name: its source is named real`,
      ),
    );
    const right = file.replace('wrong:', 'real:').replace(', enabled: false', '');
    expect(await applied(right)).toMatchObject({ status: 'in-sync' });
  });

  it('of a name that somebody has taken meanwhile are refused, and nothing of the answer is quoted', async () => {
    const here = source(kind, 'here', 'one');
    const file = `${kind}: { one: { source: ${here}, repo_path: one } }`;
    for (const status of [409, 400, 422]) {
      front.instead = ({ method, path }) =>
        method === 'POST' && path.endsWith('/install')
          ? { status, body: { detail: [{ msg: 'canary', input: 'canary', loc: ['canary'] }] } }
          : null;
      const outcome = await applied(file);
      expect(outcome?.error?.message).toContain(`status ${status}`);
      expect(JSON.stringify(outcome)).not.toContain('canary');
    }
    expect(await installed(kind)).toEqual({});
  });

  it('are guarded: what is fetched or turned on runs, what is removed or turned off does not', async () => {
    const here = source(kind, 'here', 'one');
    const guards = 'guards: { run_code: true }\n';
    const file = `${guards}${kind}: { one: { source: ${here}, repo_path: one } }`;
    await applied('');
    const refused = (blocks: string) => applied(blocks, { allow: [] });
    expect(await refused(file)).toMatchObject({ error: { code: 'guard-refused' } });
    expect((await refused(file))?.error?.message).toContain(`${kind}.one`);
    expect(await installed(kind)).toEqual({});
    await applied(file);
    const off = file.replace('repo_path: one', 'repo_path: one, enabled: false');
    expect(await refused(off)).toMatchObject({ status: 'applied', error: null });
    expect(await refused(file)).toMatchObject({ error: { code: 'guard-refused' } });
    expect(await refused(off.replace('here', 'there'))).toMatchObject({
      error: { code: 'guard-refused' },
    });
    expect(await refused(`${guards}${kind}: { one: null }`)).toMatchObject({ status: 'applied' });
  });

  it.each(['settings-v0', 'app-server'] as const)(
    'are lacking on %s, with their place',
    async (dialect) => {
      await front.close();
      await service(dialect);
      const here = source(kind, 'here', 'one');
      const file = `${kind}:\n  one: { source: ${here}, repo_path: one }`;
      const [environment] = (await plan(asked(file))).environments;
      expect(environment?.error).toMatchObject({ code: 'unfit-for-service' });
      expect(environment?.error?.message).toMatch(
        new RegExp(`has no ${kind}.*declares ${kind} \\(.*settings\\.yaml:5\\)`),
      );
      expect(environment?.error?.hint).toContain('1.29.3');
      expect(writes()).toEqual([]);
    },
  );

  it('are listed by get, and a snapshot is planned against', async () => {
    const here = source(kind, 'here', 'one');
    const file = `${kind}: { one: { source: ${here}, repo_path: one } }`;
    await applied(file);
    writeFileSync(join(folder.path, 'settings.yaml'), asked(file).text);
    const options = { cwd: folder.path, env: { ...ENV, SETPOINT_API_KEY: KEY } };
    const run = (args: readonly string[]) => setpoint(args, options);
    const listed = await run(['get', kind]);
    expect(listed).toMatchObject({ code: 0 });
    expect(listed.stdout).toMatch(new RegExp(`one +yes +${here}`));
    await run(['get', `settings,${kind}`, '-o', 'json=snapshot.json']);
    const planned = await run(['plan', '--snapshot', 'snapshot.json']);
    expect(planned.stdout).toContain('No changes.');
  });

  it('without a source are a finding, unless an environment adds it', async () => {
    const text = `version: 1\nserver: { url: "${front.url}" }\n${kind}: { one: { enabled: false } }\n`;
    const file = join(folder.path, 'settings.yaml');
    expect(JSON.stringify(await validate({ text, file, env: ENV }))).toContain('source is missing');
  });
});

/** A server that keeps commits, as one with git sources does. */
function withCommit(commit: string): void {
  front.changed = ({ path }, reply) => {
    if (!/\/installed\/[a-z]+$/.test(path)) return reply;
    return { ...reply, body: { ...(reply.body as Entry), resolved_ref: commit } };
  };
}

describeEach(KINDS, (kind) => kind === 'plugins')('the ref of one of the %s', (kind) => {
  const OLD = 'a'.repeat(40);
  const NEW = 'b'.repeat(40);
  const installs = () => front.writes().filter((body) => JSON.stringify(body).includes('source'));

  it('that is a whole commit is compared with the commit that the service tells', async () => {
    const here = source(kind, 'here', 'one');
    const file = `${kind}: { one: { source: ${here}, repo_path: one, ref: ${OLD} } }`;
    withCommit(OLD);
    expect(await applied(file)).toMatchObject({ status: 'applied', error: null });
    expect(await applied(file)).toMatchObject({ status: 'in-sync', unknown: [] });
    withCommit(NEW);
    expect((await drift(asked(file))).environments).toMatchObject([
      { changes: [{ path: [kind, 'one', 'ref'], before: NEW, after: OLD }] },
    ]);
  });

  it('that is a tag is compared with the one last written, and said not to be compared before', async () => {
    const here = source(kind, 'here', 'one');
    withCommit(OLD);
    const file = `${kind}: { one: { source: ${here}, repo_path: one, ref: v3 } }`;
    await front.ask('POST', `/api/${kind}/install`, { source: here, repo_path: 'one' });
    await applied('');
    expect((await plan(asked(file))).environments).toMatchObject([
      { changes: [], unknown: [{ path: [kind, 'one', 'ref'], ref: null }] },
    ]);
    expect(await applied(file, { rotate: [`${kind}.one.ref`] })).toMatchObject({
      status: 'applied',
      error: null,
    });
    expect(installs()).toMatchObject([{ ref: 'v3', force: true }]);
    expect(await applied(file)).toMatchObject({ status: 'in-sync', unknown: [] });
    const next = file.replace('v3', 'v4');
    expect(await applied(next)).toMatchObject({
      status: 'applied',
      error: null,
      changes: [{ path: [kind, 'one', 'ref'], action: 'change', after: 'v4' }],
    });
    expect(installs()).toHaveLength(2);
    expect(await applied(next)).toMatchObject({ status: 'in-sync', unknown: [] });
    const none = file.replace(', ref: v3', '');
    expect(await applied(none)).toMatchObject({ status: 'applied', error: null });
    expect(installs().at(-1)).toEqual({ source: here, repo_path: 'one', force: true });
    expect(await applied(none)).toMatchObject({ status: 'in-sync', unknown: [] });
    expect(await applied(file)).toMatchObject({ status: 'applied' });
  });
});
