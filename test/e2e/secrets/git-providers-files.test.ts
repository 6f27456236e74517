import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startEmulator } from '../../../src/emulator/start.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import {
  GIT_DIALECTS,
  GIT_ENV,
  sentTokens,
  startGitWorld,
  type GitWorld,
} from '../../fixture/git-providers.ts';
import { describeEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

let world: GitWorld;
afterEach(() => world.close());

const FILE =
  '{ github: { token: "${env:HUB}" }, gitlab: { token: "${env:LAB}", host: git.example.com } }';

/** The command in the folder of the world, whose file declares these. */
function command(args: readonly string[], text: string, env: Record<string, string> = {}) {
  writeFileSync(join(world.folder, 'settings.yaml'), text);
  return setpoint([...args], { cwd: world.folder, env: { ...GIT_ENV, ...env } });
}

describeEach(GIT_DIALECTS, (dialect) => dialect === 'app-server')(
  '%s: git providers',
  (dialect) => {
    it('on an empty store are planned after the settings, and kept if tokens outlived them', async () => {
      world = await startGitWorld(dialect, true);
      await world.theirs({ bitbucket: { token: 'good-bitbucket-theirs' } });
      const file = FILE.replace(/ }$/, ', bitbucket_data_center: null }');
      const [found] = (await plan(world.asked(file))).environments;
      expect(found?.changes.map(({ path }) => path.join('.'))).toEqual([
        'language',
        'git_providers.github',
        'git_providers.gitlab',
      ]);
      expect(found?.unknown).toMatchObject([{ path: ['git_providers', 'bitbucket_data_center'] }]);
      expect((await apply(world.asked(FILE))).environments[0]).toMatchObject({ status: 'applied' });
      expect(Object.keys(world.stored()).toSorted()).toEqual(['bitbucket', 'github', 'gitlab']);
      expect((await plan(world.asked(FILE))).environments[0]).toMatchObject({ status: 'in-sync' });
    });

    it('on an empty store that stays empty are refused with their place: nothing tells what a write would take away', async () => {
      world = await startGitWorld(dialect, true);
      const asked = world.asked(FILE);
      const text = asked.text.replace('settings: { language: en }\n', '');
      const [found] = (await apply({ ...asked, text })).environments;
      expect(found?.error).toMatchObject({ code: 'unfit-for-service' });
      expect(found?.error?.message).toMatch(/could remove hidden ones.*settings\.yaml:3/s);
      expect(world.writes()).toEqual([]);
    });

    it('a plan warns once of whom a token is shown to', async () => {
      world = await startGitWorld(dialect);
      const [found] = (await plan(world.asked(FILE.replace(', host: git.example.com', ''))))
        .environments;
      expect(found?.warnings.map(({ code, message }) => [code, message])).toEqual([
        [
          'shown-to-providers',
          'Before the service stores a token of github, gitlab, it sends the token to one product after another until one accepts it. Without a host that begins with GitHub (gitlab). From release 1.6 on, dev.azure.com is the last, even with a host. Without a network the service accepts no token.',
        ],
      ]);
    });

    it('guards refuse a removal and another host', async () => {
      world = await startGitWorld(dialect);
      await apply(world.asked(FILE));
      const guarded = (providers: string, guard: string) =>
        apply(world.asked(`${providers}\nguards: { ${guard}: true }`));
      const before = world.stored();
      expect((await guarded('{ github: null }', 'clear_secret')).environments[0]).toMatchObject({
        status: 'refused',
        refusals: [{ rule: 'clear-secret', path: ['git_providers', 'github'] }],
      });
      const moved = FILE.replace('git.', 'git2.');
      expect((await guarded(moved, 'move_endpoint')).environments[0]).toMatchObject({
        status: 'refused',
        refusals: [{ rule: 'move-endpoint', path: ['git_providers', 'gitlab', 'host'] }],
      });
      expect(world.stored()).toEqual(before);
    });

    it('a host is an origin that a key travels to', async () => {
      world = await startGitWorld(dialect);
      const [refused] = (await plan(world.asked(FILE, { SETPOINT_ALLOWED_ORIGINS: 'example.com' })))
        .environments;
      expect(refused?.error).toMatchObject({ code: 'not-allowed' });
      expect(refused?.error?.message).toMatch(
        /git_providers\.gitlab\.host \(.*settings\.yaml:4\).*git\.example\.com is not among/,
      );
      expect(world.front.seen).toEqual([]);
      const env = { SETPOINT_ALLOWED_ORIGINS: '*.example.com' };
      const [allowed] = (await plan(world.asked(FILE, env))).environments;
      expect(allowed).toMatchObject({ error: null, status: 'differs' });
    });

    it('by the names of the specification are the same, and not in one file with them', async () => {
      world = await startGitWorld(dialect);
      const store = `{ provider_tokens: ${FILE}, custom_secrets: { A: "\${env:BUCKET}" } }`;
      const text = world
        .asked('{}')
        .text.replace('{ language: en }', `{ language: en, secrets_store: ${store} }`);
      const asked = { ...world.asked('{}'), text: text.replace('git_providers: {}\n', '') };
      const [found] = (await plan(asked)).environments;
      expect(found?.changes.map(({ path, source }) => [path.join('.'), source?.line])).toEqual([
        ['secrets.A', 3],
        ['git_providers.github', 3],
        ['git_providers.gitlab', 3],
      ]);
      expect((await apply(asked)).environments[0]).toMatchObject({
        status: 'applied',
        error: null,
      });
      expect(Object.keys(world.stored())).toEqual(['github', 'gitlab']);
      expect((await plan(asked)).environments[0]).toMatchObject({
        status: 'in-sync',
        warnings: [],
      });
      const both = await command(['validate'], text);
      expect(both.code).toBe(3);
      expect(both.stdout + both.stderr).toContain('settings.yaml:3:');
      expect(both.stdout + both.stderr).toContain('settings.yaml:4:1');
      expect(both.stdout + both.stderr).toContain('declared-twice');
    });

    it('are shown by get and explain, and planned from a snapshot of the settings, without a token', async () => {
      world = await startGitWorld(dialect);
      await apply(world.asked(FILE));
      const { text } = world.asked(FILE);
      const shown = await command(['get', 'git_providers'], text);
      expect(shown.stdout).toMatch(/GIT PROVIDER +HOST\n +github +-\n +gitlab +git\.example\.com/);
      const explained = await command(['explain', 'git_providers.gitlab.host'], text);
      expect(explained).toMatchObject({ code: 0 });
      expect(explained.stdout).toContain('git.example.com');
      const spelled = await command(
        ['explain', 'secrets_store.provider_tokens.gitlab.token'],
        text,
      );
      expect(spelled.stdout).toContain('git_providers.gitlab.token');
      await command(['get', 'settings', '-o', 'json=snapshot.json'], text);
      const requests = world.front.seen.length;
      const moved = text.replace('git.example.com', 'git2.example.com');
      const from = await command(['plan', '--snapshot', 'snapshot.json'], moved);
      expect(from.stdout).toContain('git_providers.gitlab.host');
      expect(world.front.seen.length).toBe(requests);
      const snapshot = readFileSync(join(world.folder, 'snapshot.json'), 'utf8');
      for (const one of [shown, explained, spelled, from])
        expect(one.stdout + one.stderr + snapshot).not.toContain('canary');
    });
  },
);

it('an agent server has none: the plan shows what takes their place, and nothing is sent', async () => {
  world = await startGitWorld('settings-v0');
  const agent = await startEmulator({ dialect: 'agent-server' });
  const asked = world.asked(FILE);
  const text = asked.text.replace(/server: .*/, `server: { url: "${agent.url}" }`);
  const [found] = (await plan({ ...asked, text, clock: quickClock() })).environments;
  await agent.close();
  expect(found?.error).toMatchObject({
    code: 'unfit-for-service',
    hint: expect.stringContaining(
      'secrets: {github_token: ${env:HUB}, gitlab_token: ${env:LAB}}',
    ) as unknown,
  });
  expect(found?.error?.message).toContain('settings.yaml:4');
});

it('with the key of a token that nobody accepts the command ends with 1, and after other writes with 7', async () => {
  world = await startGitWorld('app-server');
  const env = { LAB: 'canary-bad' };
  const { text } = world.asked(FILE);
  const alone = text.replace('github: { token: "${env:HUB}" }, ', '');
  expect((await command(['apply', '--yes'], alone, env)).code).toBe(1);
  const inPart = await command(['apply', '--yes'], text, env);
  expect(inPart.code).toBe(7);
  expect(inPart.stdout + inPart.stderr).not.toContain('canary');
  expect(sentTokens(world.writes().at(-1) as never)).toEqual({
    github: { token: '' },
    gitlab: { token: env.LAB, host: 'git.example.com' },
  });
});
