/** Automations and webhooks of an automation service, against the embedded one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

const PATH = '/api/automation/v1';
const FILE = `
llm_profiles: { cheap: { model: openai/gpt-5-mini } }
agent_profiles: { reviewer: { llm_profile: cheap } }
webhooks:
  billing: { display_name: Billing, secret: "\${env:HOOK}" }
automations:
  weekly digest:
    prompt: Summarise the week.
    cron: 0 9 * * 5
    timezone: Europe/Berlin
    model: cheap
    repos: [{ url: acme/app, provider: github, ref: main }]
    enabled: true
  failed payments:
    prompt: Look into it.
    event: { source: billing, events: [invoice.failed], filter: "attempt > \`1\`" }
    agent_profile: reviewer
    tags: [Billing Team]
`;

async function startService(text = FILE) {
  const front = await startFronted({ dialect: 'agent-server', apiKey: 'k' });
  onTestFinished(() => front.close());
  const folder = folderWith({});
  onTestFinished(() => folder.remove());
  const declare = (blocks: string, server = '') =>
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      `version: 1\nserver: { url: "${front.url}", api_key: "\${env:K}"${server} }\n${blocks}\n`,
    );
  declare(text);
  const env = { K: 'k', HOOK: 'canary-hook-1' };
  const run = (...args: readonly string[]) => setpoint(args, { cwd: folder.path, env });
  const runWith = (more: Record<string, string>, ...args: readonly string[]) =>
    setpoint(args, { cwd: folder.path, env: { ...env, ...more } });
  return { front, declare, run, runWith };
}

type Entry = Record<string, unknown> & { readonly id: string; readonly name: string };

async function listed(front: Fronted, of = ''): Promise<readonly Entry[]> {
  const { body } = await front.ask('GET', `${PATH}${of}`);
  const read = (typeof body === 'string' ? JSON.parse(body) : body) as Record<string, Entry[]>;
  return Object.values(read).find(Array.isArray) ?? [];
}

async function entry(front: Fronted, name: string): Promise<Entry> {
  const found = (await listed(front)).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no automation ${name}`);
  return found;
}

it('one that needs two requests is created off, and keeps its id when members change', async () => {
  const { front, declare, run } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const digest = await entry(front, 'weekly digest');
  // A creation takes neither tags nor an agent profile: it is switched on once it has them.
  const created = front.seen.findIndex(({ body }) => body.includes('"failed payments"'));
  expect(JSON.parse(front.seen[created]?.body ?? '')).toMatchObject({ enabled: false });
  expect(await entry(front, 'failed payments')).toMatchObject({ enabled: true });
  declare(
    FILE.replace('0 9 * * 5', '0 8 * * 1').replace('agent_profile: reviewer', 'model: cheap'),
  );
  const planned = await run('plan');
  expect((await run('plan', '-o', 'json')).stdout).toContain('"starts-run"');
  expect(planned.stdout).toContain('- automations["failed payments"].agent_profile');
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  expect((await run('plan')).stdout).toContain('No changes.\n');
  expect((await entry(front, 'weekly digest')).id).toBe(digest.id);
});

it('a list that lags behind a creation is read again', async () => {
  const { front, run } = await startService();
  const made = new Map<string, number>();
  front.changed = ({ path }, reply) => {
    const kind = path.startsWith(`${PATH}/webhooks?`) ? 'webhooks' : 'automations';
    if (kind === 'automations' && !path.startsWith(`${PATH}?`)) return reply;
    const { [kind]: entries = [] } = reply.body as Record<string, Entry[]>;
    const shown = entries.filter(({ id }) => {
      made.set(id, (made.get(id) ?? 0) + 1);
      return (made.get(id) ?? 0) > 2;
    });
    return { ...reply, body: { [kind]: shown, total: shown.length } };
  };
  const { code, stdout, stderr } = await run('apply', '--yes');
  expect([code, stdout], stderr).toEqual([0, expect.stringContaining('verified')]);
  expect(await entry(front, 'failed payments')).toMatchObject({ enabled: true });
});

it("a webhook's secret is compared by an empty event, and another one makes another webhook", async () => {
  const { front, run, runWith } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const planned = await runWith({ HOOK: 'canary-hook-2' }, 'plan');
  expect(planned.stdout).toContain('webhooks.billing.secret: differs');
  expect(planned.stdout + planned.stderr).not.toContain('canary');
  expect(await runWith({ HOOK: 'canary-hook-2' }, 'apply', '--yes')).toMatchObject({ code: 0 });
  expect((await runWith({ HOOK: 'canary-hook-2' }, 'plan')).stdout).toContain('No changes.\n');
  const [after] = await listed(front, '/webhooks');
  // One that is off answers no event: its secret is unknown.
  await front.ask('PATCH', `${PATH}/webhooks/${after?.id ?? ''}`, { enabled: false });
  expect((await run('plan')).stdout).toContain('1 secret could not be compared');
  // A refusal quotes what it refuses.
  const short = await runWith(
    { HOOK: 'canary' },
    'apply',
    '--yes',
    '--rotate',
    'webhooks.billing.secret',
  );
  expect(short.code).not.toBe(0);
  expect(short.stdout + short.stderr).not.toContain('canary');
});

it('two of one name stop the plan with their ids, and others of one name are left alone', async () => {
  const { front, declare, run } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const trigger = { type: 'cron', schedule: '@daily' };
  const other = { name: 'weekly digest', prompt: 'x', trigger };
  await front.ask('POST', `${PATH}/preset/prompt`, other);
  const ids = (await listed(front)).filter((one) => one.name === other.name).map(({ id }) => id);
  const refused = await run('plan');
  expect(refused.code).toBe(3);
  for (const id of ids) expect(refused.stderr).toContain(id);
  declare('automations: { failed payments: { enabled: true } }');
  expect((await run('plan')).stdout).toContain('No changes.');
  const first = await run('init', '--server', front.url, '--file', 'first.yaml');
  expect(first.stdout + first.stderr).toContain('the service has 2 of this name');
});

it('one of another kind is shown by get as not managed, and is left alone', async () => {
  const { front, declare, run } = await startService('automations: { own: { enabled: false } }');
  const trigger = { type: 'cron', schedule: '@daily' };
  const raw = { name: 'own', trigger, tarball_path: 'https://example.com/a.tgz', entrypoint: 'x' };
  await front.ask('POST', PATH, raw);
  const shown = await run('get', 'automations', '-o', 'json');
  expect(shown.stdout).toContain('"not_managed": "it runs an archive of its own"');
  const refused = await run('plan');
  expect(refused.stderr).toContain('is not managed: it runs an archive of its own');
  declare('collections: { automations: { others: remove } }\nautomations: {}');
  expect((await run('apply', '--yes', '--allow', 'remove-others')).code).toBe(0);
  expect(await listed(front)).toHaveLength(1);
});

it('one that the service switched off is switched on by request alone', async () => {
  const { front, run } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const { id } = await entry(front, 'weekly digest');
  await front.ask('PATCH', `${PATH}/${id}`, { enabled: false });
  const reason = 'auth: token canary-run-error was refused';
  const source = 'consecutive_permanent_failures';
  front.changed = ({ path }, reply) => {
    if (!path.startsWith(`${PATH}?`)) return reply;
    const body = JSON.stringify(reply.body).replaceAll(
      '"disabled_reason":"manual","disabled_detail":{"reason":"manual","source":"user"}',
      JSON.stringify({ disabled_reason: reason, disabled_detail: { reason, source } }).slice(1, -1),
    );
    return { ...reply, body: JSON.parse(body) as unknown };
  };
  const path = 'automations["weekly digest"].enabled';
  for (const command of [['plan'], ['drift'], ['apply', '--yes'], ['plan', '--rotate', 'all']]) {
    const ended = await run(...command);
    expect(ended.stdout).toContain('the service switched it off after failures');
    expect(ended.stdout).toContain(`--rotate ${path}`);
    for (const text of [ended.stdout, ended.stderr]) expect(text).not.toContain('canary');
  }
  expect(await entry(front, 'weekly digest')).toMatchObject({ enabled: false });
  expect(await run('apply', '--yes', '--rotate', path)).toMatchObject({ code: 0 });
  expect(await entry(front, 'weekly digest')).toMatchObject({ enabled: true });
});

it('the prompt is the one that runs, and the same text is built again', async () => {
  const { front, run } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const before = await entry(front, 'weekly digest');
  // As a git sync of the service leaves it: the record is as declared, and another prompt runs.
  const said = '"preset_type":"prompt","prompt":"Summarise the week."';
  front.changed = ({ path }, reply) =>
    path.startsWith(`${PATH}?`) && !front.seen.some(({ body }) => body === '{"prompt":null}')
      ? {
          ...reply,
          body: JSON.parse(
            JSON.stringify(reply.body).replace(said, said.replace('the week', 'my mail')),
          ) as unknown,
        }
      : reply;
  expect((await run('plan')).stdout).toContain('my mail');
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  expect((await entry(front, 'weekly digest'))['tarball_path']).not.toBe(before['tarball_path']);
});

it('a service with its git sync enabled is refused', async () => {
  const { front, run } = await startService();
  front.changed = ({ path }, reply) =>
    path === `${PATH}/git-sync/status`
      ? { ...reply, body: { ...(reply.body as object), enabled: true } }
      : reply;
  const refused = await run('apply', '--yes');
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('git sync')]);
  expect(front.writes()).toEqual([]);
});

it('an address of its own is sent the same key, and has to be allowed as the other one is', async () => {
  const { front, declare, run, runWith } = await startService();
  const { front: beside } = await startService();
  declare(FILE, `, automation_url: "${beside.url}"`);
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  expect([(await listed(front)).length, (await listed(beside)).length]).toEqual([0, 2]);
  expect(front.seen.filter(({ path }) => path.startsWith('/api/automation'))).toEqual([]);
  expect(beside.seen.every(({ path }) => path.startsWith('/api/automation'))).toBe(true);
  declare(FILE, ', automation_url: "https://evil.example.com"');
  const refused = await runWith(
    { SETPOINT_ALLOWED_ORIGINS: front.url, SETPOINT_ALLOWED_VARIABLES: 'K,HOOK' },
    'plan',
  );
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('https://evil.example.com is not among');
});

it('members of a later release are refused in the plan, of an empty list too', async () => {
  const { front, declare, run } = await startService();
  front.changed = ({ path }, reply) => {
    if (path === '/api/automation/server_info')
      return { ...reply, body: { package_version: '1.13.1', sdk_version: '1.50.0' } };
    if (!path.startsWith(`${PATH}?`)) return reply;
    const { automations, ...rest } = reply.body as { automations: Entry[] };
    const earlier = automations.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter(([name]) => !['tags', 'description'].includes(name)),
      ),
    );
    return { ...reply, body: { automations: earlier, ...rest } };
  };
  const refused = await run('plan');
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toMatch(
    /\["failed payments"\] \(settings.yaml:\d+\) declares tags, which/,
  );
  const without = FILE.replace('    tags: [Billing Team]\n', '');
  declare(without);
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  expect((await run('plan')).stdout).toContain('No changes.\n');
  declare(FILE);
  expect((await run('plan')).stderr).toContain('declares tags, which the release of this server');
  declare(without.replace('acme/app', 'acme/other'));
  expect((await run('plan')).stderr).toContain('declares other repos, which the release');
});

it('a webhook that is off is created, and then switched off', async () => {
  const { front, run } = await startService(
    'webhooks: { alpha: { secret: "${env:HOOK}", enabled: false } }',
  );
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const { body } = await front.ask('GET', `${PATH}/webhooks?limit=100`);
  expect(JSON.stringify(body)).toMatch(/"source":"alpha"[^}]*"enabled":false/);
});

it('an error of its own address names the member that has it, and no query', async () => {
  const { declare, run } = await startService();
  const { front: beside } = await startService();
  declare(FILE, `, automation_url: "${beside.url}"`);
  await beside.close();
  const { code, stderr } = await run('plan');
  expect([code, stderr]).toEqual([1, expect.stringContaining('Check server.automation_url')]);
  expect(stderr).toContain(`GET ${beside.url}/api/automation/v1/webhooks,`);
});

it('no login in an address of a repository is shown', async () => {
  const { front, run } = await startService();
  expect(await run('apply', '--yes')).toMatchObject({ code: 0 });
  const { id } = await entry(front, 'weekly digest');
  const url = 'https://user:canary-token@git.example.com/acme/app';
  await front.ask('PATCH', `${PATH}/${id}`, { repos: [url] });
  for (const args of [['plan'], ['get', 'automations'], ['get', 'automations', '-o', 'json']]) {
    const shown = await run(...args);
    expect(shown.stdout + shown.stderr).not.toContain('canary');
  }
});

it('init refuses an address of an automation service that it cannot read, and writes nothing', async () => {
  const { run, front } = await startService();
  for (const [args, words] of [
    [['--server', `${front.url}=${front.url}`, '--from', '.'], 'no --from'],
    [['--server', `${front.url}=https://u:p@x.example.com`], 'http or https'],
    [['--server', `${front.url}=embedded:`], 'http or https'],
    [['--server', `${front.url}=`], 'takes an address'],
  ] as const)
    expect(await run('init', '-f', 'x.yaml', ...args)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(words) as string,
    });
});
