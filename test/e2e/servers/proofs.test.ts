/** `--check` of plan, apply and doctor: a service tries what a file declares, and the guard `unproven` wants that it has. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { doctor } from '../../../src/reconciler/operations/doctor.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import type { EmulatorDialect } from '../../../src/emulator/options.ts';
import type { Proof } from '../../../src/reconciler/model/proof.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { quickClock } from '../../fixture/settings.ts';
import { MINUTE, settingsFile, startWatching, watchFolder } from '../../fixture/watch-world.ts';
import { LONG } from '../../fixture/long.ts';

/* What the service found, with what to do about it. */
const KEY_REFUSED = expect.stringMatching(/^the provider refuses the key: check .* --rotate$/);
const UNREACHED = expect.stringMatching(/^\(1\) nothing answers at its url: .*; \(2\) .*; \(3\) /);

const URL = 'https://llm.example.com/v1';
const ENV = {
  GOOD: 'canary-good-1',
  BAD: 'canary-bad-2',
  TOKEN: 'canary-good-3',
  SETPOINT_ALLOWED_ORIGINS: 'llm.example.com,mcp.example.com',
};
const MODEL = 'openai/gpt-5';
const TRIES = /\/validate$|\/materialize$|^\/api\/mcp\/test$/;

let folder: ReturnType<typeof folderWith>;
let front: Fronted;
afterEach(async () => {
  await front.close();
  folder.remove();
});

async function service(dialect: EmulatorDialect = 'agent-server'): Promise<void> {
  folder = folderWith({});
  front = await startFronted({
    dialect,
    apiKey: 'a-key',
    data: join(folder.path, 'store.json'),
    models: [{ model: MODEL, accepts: 'canary-good' }],
    mcpServers: [
      { at: 'npx -y files', accepts: '' },
      { at: 'https://mcp.example.com/mcp', accepts: 'canary-good' },
    ],
  });
}

function asked(blocks: string, env: Readonly<Record<string, string>> = {}) {
  const text = `version: 1\nserver: { url: "${front.url}", api_key: "\${env:SERVER_KEY}" }\n${blocks}\n`;
  const file = join(folder.path, 'settings.yaml');
  writeFileSync(file, text);
  return { file, env: { SERVER_KEY: 'a-key', ...ENV, ...env }, clock: quickClock() };
}

async function planned(blocks: string, env: Readonly<Record<string, string>> = {}) {
  const [environment] = (await plan({ ...asked(blocks, env), check: true })).environments;
  expect(environment).toMatchObject({ error: null });
  expect(JSON.stringify(environment)).not.toContain('canary');
  return environment;
}

async function applied(blocks: string, options: Partial<Parameters<typeof apply>[0]> = {}) {
  const [environment] = (await apply({ ...asked(blocks), ...options })).environments;
  expect(JSON.stringify(environment)).not.toContain('canary');
  return environment;
}

/** What was tried, in short: the path, and what came of it. */
function told(proofs: readonly Proof[] | undefined) {
  return proofs?.map(({ path, status, found }) => [path.join('.'), status, found]);
}

const tries = () => front.seen.filter(({ path }) => TRIES.test(path)).map(({ path }) => path);
const stores = () =>
  front.seen.filter(({ method, path }) => method !== 'GET' && !TRIES.test(path)).length;

const FAULTLESS = 'the service asked the model, and found no fault';
const profile = (name: string, key: string, model = MODEL) =>
  `${name}: { model: ${model}, base_url: "${URL}", api_key: "\${env:${key}}" }`;
const FILES = 'files: { command: npx, args: [-y, files] }';
const GUARD = 'guards: { unproven: true }';

describe('plan --check', () => {
  it('tries each changed model, key, mcp server and agent profile, and stores nothing', async () => {
    await service();
    const environment = await planned(`settings:
  llm_model: ${MODEL}
  llm_api_key: \${env:GOOD}
  llm_base_url: ${URL}
mcp_servers:
  ${FILES}
  gone: { command: npx, args: [-y, gone] }
  tracker: { url: "https://mcp.example.com/mcp", auth: { strategy: bearer, value: "\${env:TOKEN}" } }
  stranger: { url: "https://mcp.example.com/mcp?x=1", headers: { X-Token: "\${env:BAD}" } }
provider_connections:
  team: { provider: openai, base_url: "${URL}", api_key: "\${env:GOOD}" }
  idle: { provider: openai, api_key: "\${env:GOOD}" }
llm_profiles:
  ${profile('main', 'GOOD')}
  ${profile('wrong', 'BAD')}
  ${profile('unknown', 'GOOD', 'openai/none')}
  linked: { model: ${MODEL}, connection: team }
agent_profiles:
  reviewer: { llm_profile: main, mcp_servers: [files] }`);
    expect(told(environment?.proofs)).toEqual([
      ['agent_settings.llm', 'works', FAULTLESS],
      ['mcp_servers.files', 'works', 'it lists 1 tool'],
      ['mcp_servers.gone', 'fails', UNREACHED],
      ['mcp_servers.tracker', 'works', 'it lists 1 tool'],
      ['mcp_servers.stranger', 'fails', UNREACHED],
      ['provider_connections.team', 'works', FAULTLESS],
      ['provider_connections.idle', 'not-checked', 'no LLM profile of the file uses it'],
      ['llm_profiles.main', 'works', FAULTLESS],
      ['llm_profiles.wrong', 'fails', KEY_REFUSED],
      [
        'llm_profiles.unknown',
        'fails',
        expect.stringContaining('(1) there is no key: set api_key; (2) '),
      ],
      ['llm_profiles.linked', 'works', FAULTLESS],
      [
        'agent_profiles.reviewer',
        'not-checked',
        'it names what is stored by the same apply: main, files',
      ],
    ]);
    expect(environment?.refusals.map(({ rule }) => rule)).toEqual(Array(4).fill('unproven'));
    expect(stores()).toBe(0);
    // The key of team is that of linked: it is tried once.
    expect(tries().filter((path) => path.endsWith('/validate'))).toHaveLength(5);
  });

  it('tries a profile with the key that is stored, and nothing that does not change', async () => {
    await service();
    await applied(`llm_profiles: { ${profile('main', 'GOOD')}, ${profile('other', 'BAD')} }`);
    const kept = `llm_profiles: { main: { model: ${MODEL}, base_url: "${URL}", temperature: 0.3 } }`;
    expect(told((await planned(kept))?.proofs)).toEqual([
      ['llm_profiles.main', 'works', FAULTLESS],
    ]);
    const same = `llm_profiles: { main: { model: ${MODEL}, base_url: "${URL}" } }`;
    const before = tries().length;
    expect((await planned(same))?.proofs).toEqual([]);
    expect(tries()).toHaveLength(before);
  });

  it('tries a profile that is renamed with the key that it keeps, if more of it changes', async () => {
    await service();
    await applied(`llm_profiles: { ${profile('old', 'GOOD')} }`);
    const renamed = (more: string) =>
      `moved: [{ from: llm_profiles.old, to: llm_profiles.new }]\nllm_profiles: { new: { model: ${MODEL}, base_url: "${URL}"${more} } }`;
    expect((await planned(renamed('')))?.proofs).toEqual([]);
    expect(told((await planned(renamed(', temperature: 0.3')))?.proofs)).toEqual([
      ['llm_profiles.new', 'works', FAULTLESS],
    ]);
  });

  it('tries a server with the secrets that are stored', async () => {
    await service();
    const server = (timeout: string) =>
      `mcp_servers: { tracker: { url: "https://mcp.example.com/mcp", auth: { strategy: bearer, value: "\${env:TOKEN}" }${timeout} } }`;
    await applied(server(''));
    expect(told((await planned(server(', timeout: 9')))?.proofs)).toEqual([
      ['mcp_servers.tracker', 'works', 'it lists 1 tool'],
    ]);
  });

  it('tries the profile that becomes active, stored or declared', async () => {
    await service();
    await applied(`llm_profiles: { ${profile('main', 'GOOD')}, ${profile('wrong', 'BAD')} }`);
    const active = (name: string) => `active: { llm_profile: ${name} }`;
    expect(told((await planned(active('main')))?.proofs)).toEqual([
      ['active.llm_profile', 'works', FAULTLESS],
    ]);
    expect(told((await planned(active('wrong')))?.proofs)).toEqual([
      ['active.llm_profile', 'fails', KEY_REFUSED],
    ]);
  });

  it('leaves out what is turned off, and does not use up a login by OAuth', async () => {
    await service();
    const environment = await planned(`mcp_servers:
  off: { command: npx, args: [-y, files], enabled: false }
  login: { url: "https://mcp.example.com/mcp", auth: { strategy: oauth2 } }`);
    expect(told(environment?.proofs)).toEqual([
      ['mcp_servers.login', 'not-checked', 'a try would use up its login by OAuth'],
    ]);
    expect(tries()).toEqual([]);
  });

  it('says what has no value yet, and tries it not', async () => {
    await service();
    const environment = await planned(`llm_profiles: { ${profile('main', 'NOT_SET')} }`);
    expect(told(environment?.proofs)).toEqual([
      ['llm_profiles.main', 'not-checked', 'a reference in it has no value'],
    ]);
    expect(tries()).toEqual([]);
  });

  it('tries nothing of a plan that another guard refuses', async () => {
    await service();
    const environment = await planned(`mcp_servers: { ${FILES} }\nguards: { run_code: true }`);
    expect(told(environment?.proofs)).toEqual([
      ['mcp_servers.files', 'not-checked', 'an apply would be refused (rule run-code)'],
    ]);
    expect(tries()).toEqual([]);
  });

  it('says what a release does not try, and what a service answers without a result', async () => {
    await service();
    const blocks = `llm_profiles: { ${profile('main', 'GOOD')} }`;
    const answers = [
      [404, '{"detail":"Not Found"}', 'not-checked', 'this release of the service does not try it'],
      [
        422,
        '{"detail":"canary-good-1"}',
        'fails',
        'the service refuses it as invalid (status 422)',
      ],
      [500, 'canary-good-1', 'not-checked', 'the service answered with status 500 to it'],
      [
        200,
        '{"valid":false,"error":{"type":"canary-good-1 x","message":"canary-good-1"}}',
        'fails',
        'the service cannot use it',
      ],
    ] as const;
    for (const [status, body, verdict, found] of answers) {
      front.instead = ({ path }) =>
        TRIES.test(path) ? { status, type: 'application/json', body } : null;
      expect(told((await planned(blocks))?.proofs)).toEqual([
        ['llm_profiles.main', verdict, found],
      ]);
    }
  });

  it.each(['settings-v0', 'app-server'] as const)('%s: nothing can be asked', async (dialect) => {
    await service(dialect);
    const environment = await planned(`settings: { llm_model: ${MODEL} }\n${GUARD}`);
    const why = `this service (${dialect} API) cannot try it; only an Agent Server can`;
    expect(told(environment?.proofs)).toEqual([['agent_settings.llm', 'not-checked', why]]);
    expect(environment?.refusals.map(({ rule }) => rule)).toEqual(['unproven']);
  });
});

describe('on a pull request', () => {
  it.each([
    ['GITHUB_EVENT_NAME', 'pull_request'],
    ['GITHUB_EVENT_NAME', 'pull_request_target'],
    ['GITHUB_REF', 'refs/pull/7/merge'],
    ['CI_PIPELINE_SOURCE', 'merge_request_event'],
    ['CI_MERGE_REQUEST_IID', '7'],
    ['BITBUCKET_PR_ID', '7'],
    ['BUILD_REASON', 'PullRequest'],
  ])('%s=%s: nothing is tried, and nothing is sent', async (name, value) => {
    await service();
    const request = asked(`llm_profiles: { ${profile('main', 'GOOD')} }`, { [name]: value });
    for (const run of [
      plan({ ...request, check: true }),
      apply({ ...request, check: true }),
      doctor({ ...request, check: true }),
    ])
      await expect(run).rejects.toMatchObject({ code: 'usage', message: new RegExp(name) });
    expect(front.seen).toEqual([]);
  });
});

describe('the guard unproven', () => {
  const blocks = (key: string) => `llm_profiles: { ${profile('main', key)} }\n${GUARD}`;

  it('refuses what nobody has tried, in plan and apply, until --allow lifts it', async () => {
    await service();
    const [shown] = (await plan(asked(blocks('GOOD')))).environments;
    const refusal = { rule: 'unproven', path: ['llm_profiles', 'main'] };
    expect(shown).toMatchObject({ refusals: [refusal] });
    expect(shown?.refusals[0]?.hint).toContain('--check');
    expect(await applied(blocks('GOOD'))).toMatchObject({
      status: 'refused',
      error: { code: 'guard-refused' },
      refusals: [refusal],
    });
    expect([stores(), tries()]).toEqual([0, []]);
    const lifted = await applied(blocks('GOOD'), { allow: ['unproven'] });
    expect(lifted).toMatchObject({ status: 'applied', allowed: ['unproven'] });
  });

  it('is content with what apply --check has seen to work, and writes nothing if it does not', async () => {
    await service();
    expect(await applied(blocks('BAD'), { check: true })).toMatchObject({ status: 'refused' });
    expect(stores()).toBe(0);
    expect(await applied(blocks('GOOD'), { check: true })).toMatchObject({
      status: 'applied',
      proofs: [{ path: ['llm_profiles', 'main'], status: 'works' }],
    });
  });

  it('is content with what the saved plan has seen to work, and not with one made without', async () => {
    await service();
    const unchecked = await plan(asked(blocks('GOOD')));
    expect(await applied(blocks('GOOD'), { approved: unchecked })).toMatchObject({
      status: 'refused',
    });
    const failed = await plan({ ...asked(blocks('BAD')), check: true });
    expect(await applied(blocks('BAD'), { approved: failed })).toMatchObject({ status: 'refused' });
    expect(stores()).toBe(0);
    const checked = await plan({ ...asked(blocks('GOOD')), check: true });
    const before = tries().length;
    expect(await applied(blocks('GOOD'), { approved: checked })).toMatchObject({
      status: 'applied',
    });
    expect(tries()).toHaveLength(before);
  });

  it('wants no proof of what is removed, of other settings, and of agent profiles', async () => {
    await service();
    await applied(`llm_profiles: { ${profile('main', 'GOOD')} }`);
    const free = `settings: { language: en }\nagent_profiles: { mine: { llm_profile: main } }\n${GUARD}`;
    expect(await applied(free)).toMatchObject({ status: 'applied' });
    const removal = `agent_profiles: { mine: null }\nllm_profiles: { main: null }\n${GUARD}`;
    expect(await applied(removal)).toMatchObject({ status: 'applied' });
  });

  it('is not turned on by protected', async () => {
    await service();
    const all = `settings: { llm_model: ${MODEL} }\nguards: { protected: true }`;
    const [shown] = (await plan(asked(all))).environments;
    expect(shown?.refusals.map(({ rule }) => rule)).not.toContain('unproven');
  });

  it('apply --check without the guard refuses what does not work, and no more', async () => {
    await service();
    const off = (key: string) => blocks(key).replace(GUARD, '');
    expect(await applied(off('BAD'), { check: true })).toMatchObject({ status: 'refused' });
    expect(await applied(off('BAD'))).toMatchObject({ status: 'applied' });
    const login =
      'mcp_servers: { login: { url: "https://mcp.example.com/mcp", auth: { strategy: oauth2 } } }';
    expect(await applied(login, { check: true })).toMatchObject({ status: 'applied' });
  });

  it('has a controller refuse to heal, and name the rule', LONG, async () => {
    await service();
    const watching = watchFolder();
    settingsFile(
      watching,
      `version: 1\nserver: { url: "${front.url}" }\nwatch: { mode: heal, interval: 5m }\nsettings: { llm_model: ${MODEL} }\n${GUARD}\n`,
    );
    const world = startWatching({ folder: watching });
    try {
      await world.pass(30 * MINUTE);
      const { status, plan: last } = world.state();
      expect([status, last?.refusals.map(({ rule }) => rule)]).toEqual(['refused', ['unproven']]);
      expect([stores(), tries()]).toEqual([0, []]);
    } finally {
      await world.stop();
    }
  });
});

describe('doctor --check', () => {
  const BLOCKS = `settings: { llm_model: ${MODEL}, llm_api_key: "\${env:GOOD}" }
mcp_servers: { ${FILES}, gone: { command: npx, args: [-y, gone] } }
llm_profiles: { ${profile('main', 'GOOD')}, ${profile('wrong', 'BAD')} }
agent_profiles: { mine: { llm_profile: main } }`;

  it('tries what is stored and declared, and says what is not stored yet', async () => {
    await service();
    await applied(BLOCKS);
    await front.ask('POST', '/api/profiles/theirs', { llm: { model: MODEL } });
    const more = BLOCKS.replace(
      'agent_profiles: {',
      'agent_profiles: { new: { llm_profile: main },',
    ).replace('llm_profiles: {', `llm_profiles: { ${profile('new', 'GOOD')},`);
    const [environment] = (await doctor({ ...asked(more), check: true })).environments;
    expect(JSON.stringify(environment)).not.toContain('canary');
    const later = 'it is not stored yet: setpoint plan --check tries what is to be stored';
    expect(told(environment?.proofs)).toEqual([
      ['agent_settings.llm', 'works', FAULTLESS],
      ['mcp_servers.files', 'works', 'it lists 1 tool'],
      ['mcp_servers.gone', 'fails', UNREACHED],
      ['llm_profiles.new', 'not-checked', later],
      ['llm_profiles.main', 'works', FAULTLESS],
      ['llm_profiles.wrong', 'fails', KEY_REFUSED],
      ['agent_profiles.new', 'not-checked', 'the service does not have it yet'],
      ['agent_profiles.mine', 'works', 'the service can put the agent together'],
    ]);
  });

  it('tries nothing unless it is asked to', async () => {
    await service();
    await applied(BLOCKS);
    const [environment] = (await doctor(asked(BLOCKS))).environments;
    expect([environment?.proofs, tries()]).toEqual([undefined, []]);
  });
});

describe('the command', () => {
  const run = (...args: string[]) =>
    setpoint(args, { cwd: folder.path, env: { SERVER_KEY: 'a-key', ...ENV } });

  it('plan --check: says the cost first, exits 1 if something does not work, and shows it in each format', async () => {
    await service();
    asked(`mcp_servers: { ${FILES} }\nllm_profiles: { ${profile('wrong', 'BAD')} }`);
    for (const format of ['text', 'markdown', 'html', 'github', 'json'] as const) {
      const { code, stdout, stderr } = await run('plan', '--check', '--exit-code', '-o', format);
      expect(code).toBe(1);
      expect(stderr).toContain(
        'default: to check, the service calls 1 model (about 20 tokens each), starts 1 program on its machine.',
      );
      expect(stdout).toContain('the provider refuses the key');
      expect(stdout + stderr).not.toContain('canary');
    }
  });

  it('plan --check: exits 0 if all works, and says so if there is nothing to check', async () => {
    await service();
    asked(`llm_profiles: { ${profile('main', 'GOOD')} }`);
    const { code, stdout } = await run('plan', '--check');
    expect([code, stdout]).toEqual([0, expect.stringContaining('✓ llm_profiles.main works: ')]);
    asked('settings: { language: en }');
    expect((await run('plan', '--check')).stdout).toContain(
      'Nothing to check: --check tries what this plan changes',
    );
  });

  it('apply --check: writes nothing if something does not work', async () => {
    await service();
    asked(`llm_profiles: { ${profile('wrong', 'BAD')} }`);
    const { code, stdout, stderr } = await run('apply', '--check', '--yes');
    expect([code, stores()]).toEqual([5, 0]);
    expect(stdout).toContain('✗ llm_profiles.wrong does not work: the provider refuses the key');
    expect(stderr).toContain('(rule unproven)');
    expect(stdout + stderr).not.toContain('canary');
  });

  it('apply --check --allow unproven: what failed is in the outcome of each format, the report and the history', async () => {
    await service();
    const told = 'llm_profiles.wrong does not work: the provider refuses the key';
    asked(`llm_profiles: { ${profile('wrong', 'BAD')}, ${profile('main', 'GOOD')} }`);
    expect((await run('plan', '--check', '--out', 'plan.json')).code).toBe(1);
    const lifted = ['--allow', 'unproven', '--yes'];
    const applied = await run('apply', 'plan.json', ...lifted, '--journal', 'data');
    expect(applied.code).toBe(0);
    // Once by the plan, once by what was done.
    expect(applied.stdout.split(`✗ ${told}`)).toHaveLength(3);
    expect(applied.stdout.split('llm_profiles.main works')).toHaveLength(2);
    const history = await run('history', '--data', 'data');
    expect(history.stderr).toBe('');
    expect(history.stdout).toContain(`✗ ${told}`);
    expect(history.stdout).toContain('lifted by --allow: unproven');
    const other = await run('history', 'llm_profiles.main', '--data', 'data');
    expect(other.stdout).not.toContain(told);
    await front.ask('DELETE', '/api/profiles/wrong');
    const again = await run('apply', '--check', ...lifted, '-o', 'json');
    writeFileSync(join(folder.path, 'outcome.json'), again.stdout);
    for (const format of ['text', 'markdown', 'html', 'json'] as const) {
      const { stdout, stderr, code } = await run('report', 'outcome.json', '-o', format);
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('the provider refuses the key');
      expect(stdout + history.stdout + applied.stdout).not.toContain('canary');
    }
  });

  it('doctor --check: exits 1 if something does not work; it needs a file', async () => {
    await service();
    const bare = await run('doctor', '--check', '--server', front.url);
    expect([bare.code, front.seen]).toEqual([3, []]);
    expect(bare.stderr).toContain(
      '--check tries the values of a settings file, but no settings file was found.',
    );
    await applied(`llm_profiles: { ${profile('wrong', 'BAD')} }`);
    const { code, stdout, stderr } = await run('doctor', '--check');
    expect(code).toBe(1);
    expect(stdout).toContain('✗ llm_profiles.wrong does not work: the provider refuses the key');
    expect(stdout + stderr).not.toContain('canary');
  });
});
