import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import {
  ENV,
  KEY,
  SECRET_DIALECTS,
  startSecretsWorld,
  type SecretsWorld,
} from '../../fixture/custom-secrets.ts';

/** What validate says of the files. */
async function validated(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = folderWith(files);
  try {
    const { stdout, stderr } = await setpoint(['validate'], { cwd: folder.path });
    return stdout + stderr;
  } finally {
    folder.remove();
  }
}

const HEAD = 'version: 1\nserver: { url: "http://127.0.0.1:1" }\n';
const of = (secrets: string, more = ''): Record<string, string> => ({
  'settings.yaml': `${HEAD}secrets: ${secrets}\n${more}`,
});

describe('names of custom secrets in a file', () => {
  it('that differ in case alone clash, unless one of them is to be removed', async () => {
    expect(await validated(of('{ a: "${env:A}", A: "${env:A}" }'))).toContain('declared-twice');
    expect(await validated(of('{ a: null, A: "${env:A}" }'))).toContain('Valid');
  });

  it('clash with those that an environment lays over, or a base is below', async () => {
    const other = 'environments: { x: { secrets: { a: "${env:B}" } } }\n';
    expect(await validated(of('{ A: "${env:A}" }', other))).toContain(
      'a and A differ in upper and lower case alone',
    );
    const base = { 'base.yaml': 'version: 1\nsecrets: { A: "${env:A}" }\n' };
    const above = `${HEAD}extends: base.yaml\nsecrets: { a: "\${env:B}" }\n`;
    expect(await validated({ ...base, 'settings.yaml': above })).toContain('declared-twice');
    const removing = other.replace('a:', 'A: null, a:');
    expect(await validated(of('{ A: "${env:A}" }', removing))).toContain('Valid');
  });

  it('clash with the name under which a value waits', async () => {
    const said = await validated(of('{ A: "${env:A}", A__next: "${env:B}" }'));
    expect(said).toContain('a value waits under one of these names');
  });

  it('a list in place of a secret: the remedy speaks of a reference', async () => {
    expect(await validated(of('{ A: [x] }'))).toContain('Write a reference, or a map with keys');
  });
});

let world: SecretsWorld;
afterEach(() => world?.close());

describe.each(SECRET_DIALECTS)('%s: custom secrets, told', (dialect) => {
  const FILE = '{ DB: { value: "${env:DB}", description: replica }, JIRA: "${env:JIRA}" }';

  it('a snapshot gives the plan that the service gives, as far as values do not matter', async () => {
    world = await startSecretsWorld(dialect);
    await world.theirs('DB');
    writeFileSync(join(world.folder, 'settings.yaml'), world.asked(FILE).text);
    const at = { cwd: world.folder, env: { ...ENV, SETPOINT_API_KEY: KEY } };
    await setpoint(['get', 'settings,secrets', '-o', 'json=snapshot.json'], at);
    const [now] = (await plan({ ...world.asked(FILE), env: {} })).environments;
    const snapshot = join(world.folder, 'snapshot.json');
    const [then] = (await plan({ ...world.asked(FILE), env: {}, snapshot })).environments;
    expect(then?.changes).toMatchObject(
      now?.changes.map(({ path, action }) => ({ path, action })) ?? [],
    );
    await setpoint(['get', 'settings', '-o', 'json=snapshot.json'], at);
    const [without] = (await plan({ ...world.asked(FILE), env: {}, snapshot })).environments;
    expect(without?.error).toMatchObject({ code: 'not-in-snapshot' });
    expect(without?.error?.hint).toContain('get settings,secrets');
  });

  it('a name that is a value, put in the wrong place by somebody, is masked in every output', async () => {
    world = await startSecretsWorld(dialect);
    await world.theirs('canary_as_a_name');
    writeFileSync(join(world.folder, 'settings.yaml'), world.asked(FILE).text);
    const at = { cwd: world.folder, env: { ...ENV, DB: 'canary_as_a_name' } };
    const runs = [
      ['plan', '-v'],
      ['plan', '-o', 'json'],
      ['get', 'secrets'],
      ['get', 'secrets', '-o', 'json'],
      ['explain', 'secrets'],
      ['apply', '--yes', '-v'],
    ];
    for (const args of runs) {
      const { stdout, stderr } = await setpoint(args, at);
      expect(stdout + stderr, args.join(' ')).not.toContain('canary');
    }
  });

  it('doctor counts their references', async () => {
    world = await startSecretsWorld(dialect);
    writeFileSync(join(world.folder, 'settings.yaml'), world.asked(FILE).text);
    const { stdout } = await setpoint(['doctor'], { cwd: world.folder, env: ENV });
    expect(stdout).toContain('2 references, and all have a value');
  });

  it('one fingerprint is kept of each, also if its description changes with it', async () => {
    world = await startSecretsWorld(dialect);
    await world.theirs('DB');
    await apply({ ...world.asked(FILE), rotate: 'all' });
    const kept = readFileSync(join(world.folder, '.setpoint/fingerprints.json'), 'utf8');
    const { entries } = JSON.parse(kept) as { entries: readonly { path: string[] }[] };
    expect(entries.map(({ path }) => path.join('.')).toSorted()).toEqual([
      'secrets.DB',
      'secrets.JIRA',
    ]);
  });
});
