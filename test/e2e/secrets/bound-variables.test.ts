/** A variable that SETPOINT_ALLOWED_VARIABLES binds to an origin is sent to no other. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { startStore, type StoreServer } from '../../fixture/store-server.ts';

let store: StoreServer;
let other: StoreServer;
let folder: ReturnType<typeof folderWith>;

beforeEach(async () => {
  [store, other] = [await startStore(), await startStore()];
  folder = folderWith({});
});
afterEach(async () => {
  await store.close();
  await other.close();
  folder.remove();
});

const KEYED = (url: string) => `server: { url: "${url}", api_key: "\${env:BOUND}" }`;

/** The end of a plan of a file with these lines, the variable BOUND being bound to an origin. */
function planned(lines: string, entries: string, args: readonly string[] = []) {
  folder.remove();
  folder = folderWith({ 'settings.yaml': `version: 1\n${lines}\n` });
  const env = { BOUND: 'canary-bound', OTHER: 'canary-other', SETPOINT_API_KEY: 'canary-own' };
  return setpoint(['plan', ...args], {
    cwd: folder.path,
    env: { ...env, SETPOINT_ALLOWED_VARIABLES: entries },
  });
}

const origin = (server: StoreServer) => new URL(server.url).origin;

it.each(['', ',BOUND', ',*', ',B*@https://other.example'])(
  'it is sent to its own origin, with %j beside the entry',
  async (more) => {
    const ended = await planned(KEYED(store.url), `BOUND@${origin(store)}${more}`);
    expect(ended.stderr).toBe('');
    expect(store.requests.length).toBeGreaterThan(0);
  },
);

it.each([
  ['its key', KEYED],
  ['a header', (url: string) => `server: { url: "${url}", headers: { X-A: "\${env:BOUND}" } }`],
  ['a part of its url', (url: string) => `server: { url: "${url}/\${env:BOUND}" }`],
  [
    'a setting',
    (url: string) => `server: { url: "${url}" }\nsettings: { llm_api_key: "\${env:BOUND}" }`,
  ],
  [
    'text of a setting',
    (url: string) => `server: { url: "${url}" }\nsettings: { language: "x-\${env:BOUND}" }`,
  ],
  [
    'a custom secret',
    (url: string) => `server: { url: "${url}" }\nsecrets: { one: "\${env:BOUND}" }`,
  ],
])('and to no other as %s, on this machine either', async (_, file) => {
  for (const more of ['', ',BOUND', ',*', ',*@https://other.example']) {
    const ended = await planned(file(other.url), `BOUND@${origin(store)}${more}`);
    expect(ended.stderr).toContain(`SETPOINT_ALLOWED_VARIABLES binds BOUND to ${origin(store)}`);
    expect(ended.stderr).not.toContain('canary');
    expect(ended.code).toBe(3);
  }
  expect(other.requests).toEqual([]);
});

it('an entry without a valid origin lets it go nowhere', async () => {
  for (const entry of ['BOUND@', 'BOUND@nonsense', '*@']) {
    expect(await planned(KEYED(store.url), entry)).toMatchObject({ code: 3 });
    expect(store.requests).toEqual([]);
  }
});

it('--server with another address sends what the settings read, and its own key, by the same rule', async () => {
  const settings = 'settings: { llm_api_key: "${env:OTHER}" }';
  const file = `${KEYED(store.url)}\n${settings}`;
  const bound = `BOUND@${origin(store)},OTHER`;
  await planned(file, `${bound},SETPOINT_API_KEY`, ['--server', other.url]);
  expect(other.requests.length).toBeGreaterThan(0);
  other.requests.length = 0;
  for (const entries of [
    `${bound}@${origin(store)}`,
    `${bound},SETPOINT_API_KEY@${origin(store)}`,
  ]) {
    const ended = await planned(file, entries, ['--server', other.url]);
    expect(ended).toMatchObject({ code: 3 });
    expect(other.requests).toEqual([]);
  }
});
