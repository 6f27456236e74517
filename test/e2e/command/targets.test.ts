import { existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';
import { dedent } from '../../fixture/dedent.ts';

let [one, two]: StoreServer[] = [];
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  [one, two] = [await startStore({}, { language: 'en' }), await startStore({}, { language: 'en' })];
  folder = folderWith({});
});
afterEach(async () => {
  await one?.close();
  await two?.close();
  folder.remove();
});

function use(files: Record<string, string>): void {
  folder.remove();
  folder = folderWith(files);
}

const server = (store: StoreServer | undefined, key: string) =>
  `server: { url: "${store?.url}", api_key: "\${env:${key}}" }`;
const environments = (keys: [string, string] = ['KEY_1', 'KEY_2']) =>
  dedent`
    version: 1
    settings: { language: fr, sandbox_api_key: null }
    environments:
      first:
        ${server(one, keys[0])}
      second:
        ${server(two, keys[1])}
  `;
const env = { KEY_1: 'key-one', KEY_2: 'key-two' };
const run = (args: string[], variables: Record<string, string> = env) =>
  setpoint(args, { cwd: folder.path, env: variables });

describe('several targets', () => {
  it('plan takes all; apply needs -e or --all, and goes in the order given', async () => {
    use({ 'settings.yaml': environments() });
    const planned = JSON.parse((await run(['plan', '-o', 'json'])).stdout) as {
      environments: { name: string }[];
      summary: object;
    };
    expect(planned.environments.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(planned.summary).toMatchObject({ change: 2 });
    const refused = await run(['apply', '--yes']);
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('first, second');
    expect(two?.posts()).toBe(0);
    const applied = JSON.parse(
      (await run(['apply', '--yes', '-e', 'second', '-e', 'first', '-o', 'json'])).stdout,
    ) as { environments: { name: string; status: string }[] };
    expect(applied.environments.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'second applied',
      'first applied',
    ]);
  });

  it('a pattern in -e takes the environments that match, once each, and in the order of the file', async () => {
    use({ 'settings.yaml': environments() });
    const named = async (...args: string[]) => {
      const ended = await run(['plan', '-o', 'json', ...args]);
      const { environments: found } = JSON.parse(ended.stdout) as { environments: object[] };
      return found.map((one) => (one as { name: string }).name);
    };
    expect(await named('-e', 's*')).toEqual(['second']);
    expect(await named('-e', '*')).toEqual(['first', 'second']);
    expect(await named('-e', 'second,*s*')).toEqual(['second', 'first']);
    const none = await run(['plan', '-e', 'prod-*']);
    expect(none.code).toBe(3);
    expect(none.stderr).toContain('No environment matches "prod-*".');
    expect((await run(['apply', '--yes', '-e', '*t'])).code).toBe(0);
    expect([one?.posts(), two?.posts()]).toEqual([1, 0]);
  });

  it('a pattern in -f takes the files that match, sorted by name', async () => {
    const file = (store: StoreServer | undefined) =>
      `version: 1\nserver: { url: "${store?.url}" }\nsettings: { language: fr, sandbox_api_key: null }\n`;
    use({ 'envs/b.yaml': file(two), 'envs/a.yaml': file(one), 'envs/a.txt': 'no settings' });
    const planned = await run(['plan', '-o', 'json', '-f', 'envs/*.yaml', '-f', 'envs/a.yaml']);
    const { environments: found } = JSON.parse(planned.stdout) as {
      environments: { name: string }[];
    };
    expect(found.map(({ name }) => name)).toEqual(['a', 'b']);
    const none = await run(['validate', '-f', 'envs/*.yml']);
    expect(none.code).toBe(3);
    expect(`${none.stdout}${none.stderr}`).toContain('No file matches envs/*.yml.');
  });

  it('apply stops at the first that does not end well; --max-failures 100% goes on; the exit code is the worst', async () => {
    use({ 'settings.yaml': environments() });
    if (one !== undefined) {
      one.intercept = (_, response) => {
        response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
        return true;
      };
    }
    const stopped = await run(['apply', '--yes', '--all', '-o', 'json']);
    expect(stopped.code).toBe(4);
    expect(JSON.parse(stopped.stdout)).toMatchObject({
      environments: [{ error: { code: 'unauthorized' } }, { error: { code: 'skipped' } }],
    });
    expect(two?.requests).toEqual([]);
    const went = await run(['apply', '--yes', '--all', '--max-failures', '100%', '-o', 'json']);
    expect(went.code).toBe(4);
    expect(two?.stored).toMatchObject({ language: 'fr' });
  });

  it('apply checks every reference before the first request to any', async () => {
    use({ 'settings.yaml': environments() });
    const ended = await run(['apply', '--yes', '--all'], { KEY_1: 'key-one' });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('KEY_2 is not set');
    expect(one?.requests).toEqual([]);
  });

  it('one variable never goes as the key of two origins', async () => {
    use({ 'settings.yaml': environments(['KEY_1', 'KEY_1']) });
    const ended = await run(['plan']);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('KEY_1');
    expect([...(one?.requests ?? []), ...(two?.requests ?? [])]).toEqual([]);
  });

  it('files are targets by name, or by file name; -f is repeatable', async () => {
    use({
      'base.yaml': 'version: 1\nsettings: { language: fr }\n',
      'envs/one.yaml': `version: 1\nextends: ../base.yaml\n${server(one, 'KEY_1')}\n`,
      'envs/two.yaml': dedent`
        version: 1
        name: zwei
        extends: ../base.yaml
        ${server(two, 'KEY_2')}
      `,
    });
    const ended = await run(['plan', '-f', 'envs/one.yaml', '-f', 'envs/two.yaml', '-o', 'json']);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      environments: [
        {
          name: 'one',
          changes: [{ path: ['language'], source: { file: 'base.yaml', line: 2, column: 23 } }],
        },
        { name: 'zwei' },
      ],
    });
  });

  it('--server with several targets is a usage error', async () => {
    use({ 'settings.yaml': environments() });
    expect((await run(['plan', '--server', 'http://127.0.0.1:9'])).code).toBe(3);
  });
});

describe('which origins a key may be sent to', () => {
  it("--server elsewhere does not get the file's key", async () => {
    use({ 'settings.yaml': `version: 1\n${server(one, 'KEY_1')}\nsettings: { language: fr }\n` });
    await run(['plan', '--server', two?.url ?? '']);
    expect(two?.requests[0]?.headers['x-session-api-key']).toBeUndefined();
    await run(['plan', '--server', two?.url ?? ''], { ...env, SETPOINT_API_KEY: 'its-own' });
    expect(two?.requests.at(-1)?.headers['x-session-api-key']).toBe('its-own');
    await run(['plan', '--server', `${one?.url}/`]);
    expect(one?.requests[0]?.headers['x-session-api-key']).toBe('key-one');
  });

  const away =
    'version: 1\nserver: { url: "https://agents.invalid", api_key: "${env:KEY_1}" }\nsettings: { language: fr }\n';

  it('in a pipeline the lists must be set, with the line to add; loopback needs neither', async () => {
    use({ 'settings.yaml': away });
    const ended = await run(['plan'], { ...env, CI: 'true' });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('SETPOINT_ALLOWED_ORIGINS=https://agents.invalid');
    const variables = await run(['plan'], {
      ...env,
      CI: 'true',
      SETPOINT_ALLOWED_ORIGINS: 'https://*.invalid',
    });
    expect(variables.code).toBe(3);
    expect(variables.stderr).toContain('SETPOINT_ALLOWED_VARIABLES=KEY_1');
    use({ 'settings.yaml': `version: 1\n${server(one, 'KEY_1')}\nsettings: { language: fr }\n` });
    expect((await run(['plan'], { ...env, CI: 'true' })).code).toBe(0);
  });

  it('set, they refuse anything else before connecting', async () => {
    use({ 'settings.yaml': away });
    const origin = await run(['plan'], {
      ...env,
      SETPOINT_ALLOWED_ORIGINS: 'https://agents.example.com',
    });
    expect(origin.code).toBe(3);
    expect(origin.stderr).toContain('not among SETPOINT_ALLOWED_ORIGINS');
    use({ 'settings.yaml': `version: 1\n${server(one, 'KEY_1')}\nsettings: { language: fr }\n` });
    const variable = await run(['plan'], { ...env, SETPOINT_ALLOWED_VARIABLES: 'OTHER_*' });
    expect(variable.code).toBe(3);
    expect(variable.stderr).toContain('KEY_1');
    expect(one?.requests).toEqual([]);
  });

  it('http: off loopback is allowed only if it is listed with its scheme', async () => {
    use({ 'settings.yaml': away.replace('https://agents.invalid', 'http://agents.invalid') });
    const ended = await run(['plan'], { ...env, SETPOINT_ALLOWED_ORIGINS: 'agents.invalid' });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('in the clear');
  });

  it('TLS that checks nothing is refused off loopback', async () => {
    use({ 'settings.yaml': away });
    const ended = await run(['plan'], { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  });
});

describe('embedded:', () => {
  it('keeps its store beside the file: plan, apply and drift see one service, and no password is in it', async () => {
    use({
      'sub/settings.yaml':
        'version: 1\nserver: { url: "embedded:" }\nsettings: { language: fr, llm_api_key: "${env:KEY_1}" }\n',
    });
    const args = ['-f', 'sub/settings.yaml'];
    expect((await run(['drift', ...args])).code).toBe(2);
    expect((await run(['apply', '--yes', ...args])).code).toBe(0);
    expect((await run(['drift', ...args])).code).toBe(0);
    const kept = join(folder.path, 'sub/.setpoint/embedded.json');
    expect(readFileSync(kept, 'utf8')).toContain('"fr"');
    expect(readFileSync(kept, 'utf8')).not.toContain('key-one');
    expect(existsSync(join(folder.path, '.setpoint'))).toBe(false);
  });

  const at = (url: string) =>
    use({ 'settings.yaml': embeddedFile(url), 'store.json': storeOf(folder) ?? '' });

  it('the same file and store in each dialect: what an upgrade loses is planned, and put back', async () => {
    use({ 'settings.yaml': embeddedFile('embedded:./store.json') });
    expect((await run(['apply', '--yes'])).code).toBe(0);
    at('embedded:./store.json?dialect=app-server');
    const lost = await run(['plan']);
    expect(lost.stdout).toContain('embedded:./store.json?dialect=app-server');
    expect(lost.stdout).toContain('~ max_iterations: 500 → 100');
    expect(lost.stdout).toContain('+ llm_api_key: not set, will be set');
    expect(lost.stdout).not.toContain('language');
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect((await run(['drift'])).code).toBe(0);
    at('embedded:./store.json?dialect=agent-server');
    expect((await run(['drift'])).code).toBe(2);
    expect((await run(['apply', '--yes'])).code).toBe(0);
    expect((await run(['drift'])).code).toBe(0);
    expect(storeOf(folder)).not.toContain('key-one');
  });

  it.each(['settings-v0', 'app-server', 'agent-server'])('server.dialect is %s', async (name) => {
    const file = embeddedFile('embedded:');
    use({ 'settings.yaml': file.replace(' }', `, dialect: ${name} }`) });
    const { code, stdout } = await run(['plan', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ environments: [{ dialect: name }] });
  });

  it('a dialect that there is not is a problem of the file', async () => {
    use({ 'settings.yaml': embeddedFile('embedded:./store.json?dialect=v2') });
    const { code, stderr } = await run(['validate']);
    expect(code).toBe(3);
    expect(stderr).toContain('embedded:, or an address with http or https and a host');
  });
});

const embeddedFile = (url: string) => dedent`
  version: 1
  server: { url: "${url}" }
  settings: { language: fr, max_iterations: 100, llm_api_key: "\${env:KEY_1}" }
`;

function storeOf({ path }: { readonly path: string }): string | null {
  const file = join(path, 'store.json');
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}

describe('a secret file is the key of one origin, as a variable is', () => {
  const keyed = (store: StoreServer | undefined, path: string) =>
    `    server: { url: "${store?.url}", api_key: "\${file:${path}}" }\n`;
  const twoKeys = (first: string, second: string) => {
    use({ 'keys/one': 'key-one', 'keys/two': 'key-two', 'settings.yaml': '' });
    const at = (name: string) => join(folder.path, 'keys', name);
    symlinkSync('one', at('link'));
    linkSync(at('one'), at('hard'));
    writeFileSync(
      join(folder.path, 'settings.yaml'),
      `version: 1\nenvironments:\n  first:\n${keyed(one, at(first))}  second:\n${keyed(two, at(second))}`,
    );
    return run(['plan'], { SETPOINT_ALLOWED_FILES: join(folder.path, 'keys') });
  };

  it.each([
    ['the same path', 'one', 'one'],
    ['another way to the same path', 'one', '../keys/one'],
    ['a link to it', 'one', 'link'],
    ['another name of the same file', 'one', 'hard'],
  ])('%s: refused, nothing sent', async (_, first, second) => {
    const { code, stderr } = await twoKeys(first, second);
    expect(code).toBe(3);
    expect(stderr).toContain('would be sent as the key of two origins');
    expect([...(one?.requests ?? []), ...(two?.requests ?? [])]).toEqual([]);
  });

  it('two files are two keys', async () => {
    expect(await twoKeys('one', 'two')).toMatchObject({ code: 0 });
  });
});

it('without a terminal and --yes, what else is missing is named first', async () => {
  use({ 'settings.yaml': environments() });
  const unnamed = await run(['apply']);
  expect(unnamed.code).toBe(3);
  expect(unnamed.stderr).toContain('There are 2 environments, and apply needs to know which.');
  const unanswered = await run(['apply', '-e', 'first']);
  expect(unanswered.code).toBe(3);
  expect(unanswered.stderr).toContain('--yes is not set');
  expect([...(one?.requests ?? []), ...(two?.requests ?? [])]).toEqual([]);
});

it('a saved plan chooses the environments that it is of', async () => {
  use({ 'settings.yaml': environments() });
  await run(['plan', '-e', 'second', '--out', 'plan.json', '-q']);
  const applied = await run(['apply', 'plan.json']);
  expect(applied.code).toBe(0);
  expect(applied.stdout).toContain('second');
  expect(applied.stdout).not.toContain('first');
  expect(one?.requests ?? []).toEqual([]);
});

it('a pattern leaves out a file that others of it extend, unless it is named', async () => {
  const own = environments();
  use({
    'envs/base.yaml': 'version: 1\nsettings: { language: en }\n',
    'envs/own.yaml': own.replace('version: 1', 'version: 1\nextends: base.yaml'),
  });
  expect(await run(['validate', '-f', 'envs/*.yaml'])).toMatchObject({
    code: 0,
    stdout: 'Valid: first, second.\n',
  });
  expect((await run(['validate', '-f', 'envs/*.yaml', '-f', 'envs/base.yaml'])).code).toBe(3);
});
