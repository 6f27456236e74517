import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { validate } from '../../../src/reconciler/operations/validate.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { dedent } from '../../fixture/dedent.ts';

const FILE = `version: 1
server: { url: "embedded:" }
environments:
  staging: { settings: { language: en } }
  production: { settings: { language: de } }
`;

let folder: ReturnType<typeof folderWith>;
beforeEach(() => (folder = folderWith({ 'settings.yaml': FILE })));
afterEach(() => folder.remove());

const run = (line: string, env: Record<string, string> = {}) =>
  setpoint(line.split(' '), { cwd: folder.path, env });

it.each([
  ['lint', 'Did you mean validate?'],
  ['check', 'Did you mean validate?'],
  ['diff', 'Did you mean plan?'],
  ['rotate', 'Did you mean apply --rotate PATH?'],
  ['undo', 'Take the commit back with git revert, then run setpoint apply.'],
  ['promote', 'then run setpoint apply -e NAME.'],
  ['logs', 'Did you mean history?'],
  ['help lint', 'Did you mean validate?'],
  ['apply --auto-approve', 'Did you mean --yes?'],
  ['apply -auto-approve', 'Did you mean --yes?'],
  ['drift --exit-code', 'Leave it out: drift exits with 2 if there is drift'],
  ['plan --allow run-code,clear', 'Did you mean clear-secret?'],
  ['apply --yess', 'Did you mean --yes?'],
  ['plan --json', 'Did you mean -o json?'],
  ['validate --json', 'Did you mean -o json?'],
  ['plan --environment production', 'Did you mean --env?'],
  ['plan --nothing-like-it', 'Run setpoint plan --help for its flags.'],
  ['plan -e prod', 'No environment named "prod".'],
  ['plan -e prod', 'Did you mean production?'],
  ['plan -e live', 'Available: staging, production.'],
  ['plan -e stagin', 'Did you mean staging?'],
])('setpoint %s prints: %s', async (line, words) => {
  const { code, stderr } = await run(line);
  expect(code).toBe(3);
  expect(stderr).toContain(words);
});

it.each(['no', 'false', 'yes', ''])('--yes=%s is an error and never yes', async (value) => {
  const { code, stdout, stderr } = await run(`apply -e staging --yes=${value}`);
  expect(code).toBe(3);
  expect(stdout).toBe('');
  expect(stderr).toBe('setpoint: --yes takes no value.\n  Write --yes, or leave it out.\n');
  expect((await run('get settings -e staging')).stdout).toContain('Nothing is stored yet.');
});

it('-e splits at commas, and repeats', async () => {
  for (const line of [
    'plan -e staging,production -o json',
    'plan -e staging -e production -o json',
  ]) {
    const { environments } = JSON.parse((await run(line)).stdout) as {
      environments: { name: string }[];
    };
    expect(environments.map(({ name }) => name)).toEqual(['staging', 'production']);
  }
});

it('validate -e names environments, and an unknown one is an error', async () => {
  expect(await run('validate -e production')).toMatchObject({
    code: 0,
    stdout: 'Valid: production.\n',
  });
  expect(await run('validate -e prod')).toMatchObject({ code: 3, stdout: '' });
});

describe('without a settings file', () => {
  beforeEach(() => {
    folder.remove();
    folder = folderWith({});
  });

  it.each(['plan', 'apply --yes', 'drift', 'pull', 'validate', 'explain', 'get settings'])(
    '%s shows how to begin',
    async (line) => {
      const { code, stderr } = await run(line);
      expect(code).toBe(3);
      expect(stderr).toContain('No settings.yaml in this folder.');
      expect(stderr).toContain(
        'Create one with `setpoint init --server URL`, or name one with -f.',
      );
    },
  );

  it('a file that was named is named', async () => {
    expect((await run('plan -f other.yaml')).stderr).toContain('other.yaml does not exist.');
  });

  it('init names what it needs', async () => {
    const { code, stderr } = await run('init');
    expect(code).toBe(3);
    expect(stderr).toContain('setpoint init --server URL');
    expect(stderr).toContain('SETPOINT_API_KEY');
  });

  it('every commented line of what init writes is valid, alone and with all others', async () => {
    expect((await run('init --server embedded:')).code).toBe(0);
    const text = readFileSync(join(folder.path, 'settings.yaml'), 'utf8');
    expect(text).not.toMatch(/^ {2}sandbox_api_key/m);
    const lines = text.replace('# settings:', 'settings:').split('\n');
    const commented = lines.flatMap((line, at) => (/^# {3}[a-z_]+: /.test(line) ? [at] : []));
    expect(commented.length).toBeGreaterThan(20);
    const without = (chosen: readonly number[]) =>
      lines.map((line, at) => (chosen.includes(at) ? line.replace('# ', '') : line)).join('\n');
    for (const chosen of [...commented.map((at) => [at]), commented]) {
      writeFileSync(join(folder.path, 'settings.yaml'), without(chosen));
      const { diagnostics } = await validate({ file: join(folder.path, 'settings.yaml'), env: {} });
      expect(diagnostics).toEqual([]);
    }
  });
});

it('serve reports that the port is in use, and what to do', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await run(`serve --port ${port}`);
  taken.close();
  expect(code).toBe(3);
  expect(stderr).toBe(
    `setpoint: The embedded service cannot listen on 127.0.0.1 port ${port}: the port is in use.\n  Stop the program that listens there, or choose another port: --port 0 takes a free one.\n`,
  );
});

describe('the age of a snapshot', () => {
  const HOUR = 3_600_000;
  const plan = async (hours: number, flags = '') => {
    await run('get settings -e staging -o json=snapshot.json');
    const snapshot = JSON.parse(readFileSync(join(folder.path, 'snapshot.json'), 'utf8')) as {
      observed_at: string;
    };
    snapshot.observed_at = new Date(Date.now() - hours * HOUR).toISOString();
    writeFileSync(join(folder.path, 'snapshot.json'), JSON.stringify(snapshot));
    const ended = await run(`plan -e staging --snapshot snapshot.json -o json${flags}`);
    return {
      ...ended,
      environment: (
        JSON.parse(ended.stdout) as {
          environments: {
            status: string;
            warnings: { code: string }[];
            error: { code: string } | null;
          }[];
        }
      ).environments[0],
    };
  };
  const old = { code: 'snapshot-old' };

  it.each([
    [1, '', 0],
    [23, '', 0],
    [25, '', 1],
    [25, ' --max-age 2d', 0],
  ])('%i h old%s: %i warnings', async (hours, flags, count) => {
    const { code, environment } = await plan(hours, flags);
    expect(code).toBe(0);
    expect(environment?.warnings.filter(({ code: one }) => one === old.code)).toHaveLength(count);
  });

  it.each([
    ['older', 25, ' --max-age 24h', '24 h'],
    ['a little older', 2, ' --max-age 90m', '1.5 h'],
    ['minutes older', 0.5, ' --max-age 20m', '20 m'],
    ['from the future', -48, ' --max-age 24h', '24 h'],
  ])('%s than --max-age allows: exit 6', async (_, hours, flags, most) => {
    const { code, environment, stderr } = await plan(hours, flags);
    expect(code).toBe(6);
    expect(environment).toMatchObject({ status: 'error', error: { code: 'snapshot-too-old' } });
    expect(stderr).toContain(`, and --max-age is ${most}.`);
    expect(stderr).toContain('Take a new snapshot');
  });

  it.each(['1', 'a day', '0h', '24H'])('--max-age %s is a usage error', async (age) => {
    const { code, stderr } = await setpoint(['plan', '--snapshot', 'x.json', '--max-age', age], {
      cwd: folder.path,
    });
    expect([code, stderr]).toEqual([
      3,
      'setpoint: --max-age takes an age such as 90m, 24h or 7d.\n  Run setpoint help plan for its flags.\n',
    ]);
  });
});

it('a secret that was not there is set, not verified; one that no answer shows cannot be read back', async () => {
  writeFileSync(
    join(folder.path, 'settings.yaml'),
    dedent`
      version: 1
      server: { url: "embedded:" }
      settings:
        language: en
        llm_api_key: \${env:LLM}
        sandbox_api_key: \${env:BOX}
    `,
  );
  const env = { LLM: 'a-model-key', BOX: 'a-sandbox-key' };
  const { code, stdout } = await run('apply --yes -o json=outcome.json -o text', env);
  expect(code).toBe(0);
  expect(stdout).toContain('✓ language: verified\n');
  expect(stdout).toContain('✓ llm_api_key: set\n');
  expect(stdout).toContain(
    '? sandbox_api_key: sent; the server does not show it, so it is not checked\n',
  );
  const outcome = readFileSync(join(folder.path, 'outcome.json'), 'utf8');
  const { environments } = JSON.parse(outcome) as {
    environments: { changes: { result: string }[] }[];
  };
  expect(environments[0]?.changes.map(({ result }) => result)).toEqual([
    'verified',
    'set',
    'unverifiable',
  ]);
});
