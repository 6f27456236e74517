import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EnvironmentOutcome, OutcomeDocument } from '../../../src/reconciler/model/outcome.ts';
import type { EnvironmentPlan, PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith, type Ended } from '../../fixture/command.ts';
import { startSandboxServer, type SandboxServer } from '../../fixture/sandbox-server.ts';

const CANARY = 'canary-91f0b27c3d';
const ENV = { KEY: CANARY, LLM: `${CANARY}-llm`, MODEL: `${CANARY}-model` };
let server: SandboxServer;
let folder: ReturnType<typeof folderWith>;

const path = (name: string): string => join(folder.path, name);

function put(settings: string, more = ''): void {
  const head = `version: 1\nserver: { url: "${server.url}", api_key: "\${env:KEY}" }\n`;
  writeFileSync(path('settings.yaml'), `${head}settings:\n${settings}\n${more}`);
}

async function run(...args: string[]): Promise<Ended> {
  const ended = await setpoint(args, { cwd: folder.path, env: ENV });
  expect(ended.stdout + ended.stderr).not.toContain(CANARY);
  return ended;
}

async function savePlan(...flags: string[]): Promise<PlanDocument> {
  const { code, stderr } = await run('plan', '--out', 'plan.json', ...flags);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const text = readFileSync(path('plan.json'), 'utf8');
  expect(text).not.toContain(CANARY);
  return JSON.parse(text) as PlanDocument;
}

async function applied(...flags: string[]) {
  const before = server.posts();
  const ended = await run('apply', 'plan.json', '-o', 'json', ...flags);
  const document = JSON.parse(ended.stdout) as OutcomeDocument;
  const posts = server.posts() - before;
  return { ...ended, posts, document, environment: document.environments?.[0] };
}

function alreadyMade(environment: EnvironmentOutcome | undefined) {
  const made = environment?.warnings.filter(({ code }) => code === 'already-made');
  return made?.map(({ path: at }) => at);
}

/** The saved plan as somebody else may have written it. */
function forge(saved: PlanDocument, change: (part: EnvironmentPlan) => EnvironmentPlan): void {
  const environments = saved.environments.map(change);
  writeFileSync(path('plan.json'), JSON.stringify({ ...saved, environments }));
}

beforeEach(async () => {
  server = await startSandboxServer({ now: () => Date.now() }, { boots: 0 });
  server.stored = { language: 'fr', agent: 'A', sandbox_api_key: null };
  folder = folderWith({});
});
afterEach(async () => {
  await server.close();
  folder.remove();
});

const SETTINGS = `  language: en
  llm_api_key: \${env:LLM}
  llm_model: \${env:MODEL}
  sandbox_api_key: null
  mcp_config: { shttp_servers: [{ url: "https://mcp.example.com/mcp", api_key: "\${env:LLM}" }] }`;

describe('a saved plan', () => {
  it('is applied once and only once: the second apply prints "No changes." and sends no POST', async () => {
    put(SETTINGS, 'sandboxes: [{ running: 1 }]');
    const saved = await savePlan();
    if (process.platform !== 'win32') expect(statSync(path('plan.json')).mode & 0o777).toBe(0o600);
    expect(saved.environments[0]?.changes.length).toBe(5);
    const first = await applied();
    expect(first).toMatchObject({ code: 0, posts: 2, environment: { status: 'applied' } });
    expect(server.stored).toMatchObject({
      language: 'en',
      llm_api_key: ENV.LLM,
      llm_model: ENV.MODEL,
    });
    expect(server.sandboxes.length).toBe(1);

    const second = await applied();
    expect(second).toMatchObject({ code: 0, posts: 0, environment: { status: 'in-sync' } });
    expect(alreadyMade(second.environment)).toEqual(
      saved.environments[0]?.changes.map(({ path: at }) => at),
    );
    const text = await run('apply', 'plan.json');
    expect(text.stdout).toContain('No changes.');
    expect(text.stdout).toMatch(/^ {2}! .*\blanguage\b.*: already as the saved plan makes it\.$/m);
  });

  it('needs no --yes: it is the answer to the question', async () => {
    put('  language: en');
    await savePlan();
    expect((await run('apply', 'plan.json')).code).toBe(0);
    expect(server.stored).toMatchObject({ language: 'en' });
  });

  it('made by another job is found out by what it holds, wherever it lies', async () => {
    put('  language: en');
    await savePlan();
    const elsewhere = folderWith({ 'approved.json': readFileSync(path('plan.json'), 'utf8') });
    const { code } = await run('apply', join(elsewhere.path, 'approved.json'));
    elsewhere.remove();
    expect(code).toBe(0);
  });

  it('covers part of it: what somebody has made meanwhile is a warning and not refused', async () => {
    put('  language: en\n  agent: B');
    await savePlan();
    server.stored = { ...server.stored, language: 'en' };
    const { code, environment } = await applied();
    expect(code).toBe(0);
    expect(environment?.changes.map(({ path: at }) => at)).toEqual([['agent']]);
    expect(environment?.warnings).toContainEqual(
      expect.objectContaining({ code: 'already-made', path: ['language'] }),
    );
  });

  it('warns that a rotation needs --rotate in the run that does it', async () => {
    server.stored = { llm_api_key: 'old', sandbox_api_key: null };
    put('  llm_api_key: ${env:LLM}\n  sandbox_api_key: null');
    await savePlan('--rotate', 'llm_api_key');
    const without = await applied();
    expect(without).toMatchObject({ code: 0, posts: 0 });
    const messages = without.environment?.warnings.map(({ message }) => message);
    expect(messages?.join(' ')).toContain('pass --rotate llm_api_key');
    expect(await applied('--rotate', 'llm_api_key')).toMatchObject({ code: 0, posts: 1 });
    expect(server.stored).toMatchObject({ llm_api_key: ENV.LLM });
  });
});

describe('what goes beyond the saved plan is refused: exit 6, the changes are named, nothing is sent', () => {
  const refused = async (names: string, ...flags: string[]): Promise<void> => {
    const stored = structuredClone(server.stored);
    const { code, posts, environment, stderr } = await applied(...flags);
    expect({ code, posts }).toEqual({ code: 6, posts: 0 });
    expect(environment).toMatchObject({ status: 'refused', error: { code: 'not-covered' } });
    expect(stderr).toContain(names);
    expect(server.stored).toEqual(stored);
  };

  it('another change in the file', async () => {
    put('  language: en');
    await savePlan();
    put('  language: en\n  agent: B');
    await refused('agent (change)');
  });

  it('another value in the file, another value on the service', async () => {
    put('  language: en');
    await savePlan();
    put('  language: de');
    await refused('language (change)');
    put('  language: en');
    server.stored = { ...server.stored, language: 'es' };
    await refused('language (change)');
  });

  it('another reference, and a reference in place of a value', async () => {
    put('  language: en\n  llm_api_key: ${env:LLM}\n  sandbox_api_key: null');
    await savePlan();
    put('  language: en\n  llm_api_key: ${env:MODEL}\n  sandbox_api_key: null');
    await refused('llm_api_key (set)');
    put('  language: ${env:MODEL}\n  llm_api_key: ${env:LLM}\n  sandbox_api_key: null');
    await refused('language (change)');
  });

  it('one more sandbox, and a rotation that nobody approved', async () => {
    put('  language: en', 'sandboxes: [{ running: 1 }]');
    await savePlan();
    put('  language: en', 'sandboxes: [{ running: 2 }]');
    await refused('sandbox default #2 (start)');
    server.stored = { language: 'en', llm_api_key: 'old', sandbox_api_key: null };
    put('  llm_api_key: ${env:LLM}\n  sandbox_api_key: null');
    await savePlan();
    await refused('llm_api_key (rotate)', '--rotate', 'all');
  });

  it('a change that appears between the first observation and the write', async () => {
    put('  language: en\n  agent: A');
    await savePlan();
    server.intercept = (request, _response, proceed, count) => {
      if (request.method === 'GET' && count === reads + 2)
        server.stored = { ...server.stored, agent: 'theirs' };
      proceed();
      return true;
    };
    const reads = server.requests.length;
    const { code, posts, stderr } = await applied();
    expect({ code, posts }).toEqual({ code: 6, posts: 0 });
    expect(stderr).toContain('agent (change)');
  });
});

describe('a forged plan can only refuse, or approve what the committed file declares', () => {
  it('sends nothing of what it contains', async () => {
    put('  language: en');
    const saved = await savePlan();
    forge(saved, (part) => ({
      ...part,
      changes: [
        ...part.changes,
        { ...part.changes[0], path: ['agent'], after: 'forged' } as (typeof part.changes)[0],
        { ...part.changes[0], after: 'forged' } as (typeof part.changes)[0],
      ],
    }));
    const { code, document } = await applied();
    expect(code).toBe(0);
    expect(server.stored).toMatchObject({ language: 'en', agent: 'A' });
    expect(document.environments[0]?.changes.length).toBe(1);
    expect(server.requests.some(({ body }) => body.includes('forged'))).toBe(false);
  });

  it('of another address, or of another target: exit 6 before the first request', async () => {
    put('  language: en');
    const saved = await savePlan();
    const before = server.requests.length;
    forge(saved, (part) => ({ ...part, origin: 'https://elsewhere.example.com' }));
    const elsewhere = await run('apply', 'plan.json');
    expect(elsewhere.code).toBe(6);
    expect(elsewhere.stderr).toContain('was made for https://elsewhere.example.com');
    forge(saved, (part) => ({ ...part, name: 'production' }));
    const other = await run('apply', 'plan.json');
    expect(other.code).toBe(6);
    expect(other.stderr).toContain('does not contain default');
    expect(server.requests.length).toBe(before);
  });

  it('chooses among the targets of the file, and only if nothing else does', async () => {
    put('  language: en', 'environments: { one: {}, two: {} }');
    await savePlan();
    expect((await run('apply', 'plan.json', '-e', 'one')).code).toBe(0);
    expect((await run('apply', 'plan.json')).code).toBe(0);
    put('  language: en', 'environments: { one: {}, three: {} }');
    expect((await run('apply', 'plan.json')).code).toBe(3);
  });

  it.each([
    ['no JSON', '{'],
    ['a snapshot', '{"format_version":"1.0","kind":"observed"}'],
    ['a part missing', '{"format_version":"1.0","kind":"plan","environments":[]}'],
    ['changes of another form', null],
  ])('%s is no saved plan: exit 3', async (_, text) => {
    put('  language: en');
    const saved = await savePlan();
    const environments = [{ ...saved.environments[0], changes: [{ path: 'language' }] }];
    writeFileSync(path('plan.json'), text ?? JSON.stringify({ ...saved, environments }));
    const before = server.requests.length;
    for (const command of ['apply', 'plan']) {
      const ended = await run(command, 'plan.json', '-o', 'json');
      expect(ended.code).toBe(3);
      expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'file-unreadable' } });
    }
    expect(server.requests.length).toBe(before);
  });

  it('members of a later version are let be', async () => {
    put('  language: en');
    const saved = await savePlan();
    writeFileSync(path('plan.json'), JSON.stringify({ ...saved, later: 1, format_version: '1.7' }));
    expect((await run('apply', 'plan.json')).code).toBe(0);
  });
});

describe('setpoint plan PLAN.json', () => {
  it('shows it as it was, sends nothing, and keeps the exit codes', async () => {
    put('  language: en\n  llm_api_key: ${env:LLM}');
    const shown = (await run('plan', '--out', 'plan.json')).stdout;
    const before = server.requests.length;
    expect(await run('plan', 'plan.json')).toMatchObject({ code: 0, stdout: shown, stderr: '' });
    expect((await run('plan', 'plan.json', '--exit-code')).code).toBe(2);
    const again = await run('plan', 'plan.json', '-o', 'json');
    expect(JSON.parse(again.stdout)).toEqual(JSON.parse(readFileSync(path('plan.json'), 'utf8')));
    for (const format of ['markdown', 'github', 'html']) {
      const { code, stdout } = await run('plan', 'plan.json', '-o', format);
      expect(code).toBe(0);
      expect(stdout).toContain('language');
    }
    expect(server.requests.length).toBe(before);
  });

  it('shows the part that -e names, and refuses what is about a new plan', async () => {
    put('  language: en', 'environments: { one: {}, two: {} }');
    await savePlan();
    const one = await run('plan', 'plan.json', '-e', 'two', '-o', 'json');
    const document = JSON.parse(one.stdout) as PlanDocument;
    expect(document.environments.map(({ name }) => name)).toEqual(['two']);
    expect(document.summary.change).toBe(1);
    expect((await run('plan', 'plan.json', '-e', 'tow')).stderr).toContain('Did you mean two?');
    for (const flag of ['--rotate=all', '--base=b.yaml', '--snapshot=o.json', '-f=settings.yaml'])
      expect((await run('plan', 'plan.json', flag)).code).toBe(3);
    expect((await run('apply', 'plan.json', '--dry-run', '-e', 'one')).code).toBe(3);
  });
});
