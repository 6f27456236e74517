import { afterEach, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { drift, plan } from '../../../src/reconciler/operations/plan.ts';
import {
  GIT_DIALECTS,
  GIT_ENV,
  sentTokens,
  startGitWorld,
  type GitDialect,
  type GitWorld,
} from '../../fixture/git-providers.ts';
import { describeEach } from '../../fixture/long.ts';

let world: GitWorld;
afterEach(() => world.close());

const HUB = 'github: { token: "${env:HUB}" }';
const LAB = 'gitlab: { token: "${env:LAB}", host: git.example.com }';

/** Applies a file with these providers, and returns what became of its environment. No token is in it. */
async function applied(providers: string, env = {}, more = {}) {
  const outcome = await apply({ ...world.asked(providers, env), ...more });
  expect(JSON.stringify(outcome)).not.toContain('canary');
  return outcome.environments[0];
}

async function planned(providers: string, env = {}) {
  const document = await plan(world.asked(providers, env));
  expect(JSON.stringify(document)).not.toContain('canary');
  return document.environments[0];
}

async function world0(dialect: GitDialect): Promise<void> {
  world = await startGitWorld(dialect);
}

describeEach(GIT_DIALECTS, (dialect) => dialect === 'settings-v0')(
  '%s: git providers',
  (dialect) => {
    it('are created by name, told as set, and quiet the second time; a plan asks no more than the settings', async () => {
      await world0(dialect);
      const found = await planned(`{ ${HUB} }`);
      expect(found).toMatchObject({
        status: 'differs',
        changes: [
          {
            resource: 'git provider',
            path: ['git_providers', 'github'],
            action: 'set',
            sensitive: true,
            ref: '${env:HUB}',
          },
        ],
      });
      const reads = world.front.seen.length;
      expect(await applied(`{ ${HUB} }`)).toMatchObject({
        status: 'applied',
        error: null,
        changes: [{ result: 'set' }],
      });
      expect(world.stored()).toEqual({ github: { token: GIT_ENV.HUB, host: null } });
      expect(world.writes().map(sentTokens)).toEqual([{ github: { token: GIT_ENV.HUB } }]);
      const before = world.front.seen.length;
      expect(await planned(`{ ${HUB} }`)).toMatchObject({ status: 'in-sync', unknown: [] });
      expect(world.front.seen.length - before).toBe(reads);
    });

    it('are written one new token a request; one that the file does not name stays with its own host', async () => {
      await world0(dialect);
      const host = 'git2.example.com/';
      await world.theirs({ gitlab: { token: 'good-gitlab-theirs', host } });
      const file = `{ ${HUB}, bitbucket: { token: "\${env:BUCKET}" } }`;
      const found = await planned(file);
      expect(found?.unmanaged).toContainEqual(['git_providers', 'gitlab']);
      expect(await applied(file)).toMatchObject({ status: 'applied', error: null });
      expect(world.writes().map(sentTokens)).toEqual([
        { gitlab: { token: '', host }, github: { token: GIT_ENV.HUB } },
        {
          gitlab: { token: '', host },
          github: { token: '' },
          bitbucket: { token: GIT_ENV.BUCKET },
        },
      ]);
      expect(world.stored()).toEqual({
        gitlab: { token: 'good-gitlab-theirs', host },
        github: { token: GIT_ENV.HUB, host: null },
        bitbucket: { token: GIT_ENV.BUCKET, host: null },
      });
    });

    it('are rotated when their reference has another value, by --rotate, and not because nothing is known', async () => {
      await world0(dialect);
      await world.theirs({
        github: { token: 'good-github-theirs' },
        gitlab: { token: 'good-gitlab-theirs', host: 'git.example.com' },
      });
      expect(await planned(`{ ${LAB} }`)).toMatchObject({
        changes: [],
        unknown: [{ path: ['git_providers', 'gitlab', 'token'], ref: '${env:LAB}' }],
      });
      const rotate = ['git_providers.gitlab.token'];
      expect(await applied(`{ ${LAB} }`, {}, { rotate })).toMatchObject({
        changes: [{ action: 'rotate', result: 'unverifiable' }],
      });
      const env = { LAB: 'canary-good-gitlab-2' };
      expect(await planned(`{ ${LAB} }`, env)).toMatchObject({ changes: [{ action: 'rotate' }] });
      expect(await applied(`{ ${LAB} }`, env)).toMatchObject({ status: 'applied', error: null });
      expect(world.stored()).toEqual({
        github: { token: 'good-github-theirs', host: null },
        gitlab: { token: env.LAB, host: 'git.example.com' },
      });
      expect(await planned(`{ ${LAB} }`, env)).toMatchObject({ status: 'in-sync', unknown: [] });
    });

    it('get another host with the token that is stored; left out, the host stays', async () => {
      await world0(dialect);
      await applied(`{ ${LAB} }`);
      const moved = LAB.replace('git.', 'git2.');
      expect(await applied(`{ ${moved} }`)).toMatchObject({
        status: 'applied',
        changes: [
          {
            path: ['git_providers', 'gitlab', 'host'],
            before: 'git.example.com',
            after: 'git2.example.com',
            result: 'verified',
          },
        ],
      });
      expect(sentTokens(world.writes().at(-1) as never)).toEqual({
        gitlab: { token: '', host: 'git2.example.com' },
      });
      const without = 'gitlab: { token: "${env:LAB}" }';
      const env = { LAB: 'canary-good-gitlab-2' };
      const rotated = await applied(`{ ${without} }`, env);
      expect(rotated?.warnings).toContainEqual({
        code: 'shown-to-providers',
        message:
          'The token of gitlab goes to git2.example.com, its stored host. The file does not name this host.',
        path: ['git_providers', 'gitlab'],
      });
      expect(world.stored()).toEqual({ gitlab: { token: env.LAB, host: 'git2.example.com' } });
      expect(await applied('{ gitlab: { token: "${env:LAB}", host: null } }', env)).toMatchObject({
        changes: [{ action: 'clear', result: 'verified' }],
      });
      expect(world.stored()).toEqual({ gitlab: { token: env.LAB, host: null } });
    });

    it('are removed if the file says null, the last one too, and never because it does not name them', async () => {
      await world0(dialect);
      await applied(`{ ${HUB}, ${LAB} }`);
      expect(await applied('{ github: null }')).toMatchObject({
        changes: [{ path: ['git_providers', 'github'], action: 'remove', result: 'verified' }],
      });
      expect(world.stored()).toEqual({ gitlab: { token: GIT_ENV.LAB, host: 'git.example.com' } });
      expect(await applied('{ github: null, gitlab: null }')).toMatchObject({ status: 'applied' });
      expect(world.stored()).toEqual({});
      expect(await planned('{ github: null, gitlab: null }')).toMatchObject({ status: 'in-sync' });
    });

    it('that somebody removed or moved are drift, and set again', async () => {
      await world0(dialect);
      await applied(`{ ${HUB}, ${LAB} }`);
      await world.theirs({ gitlab: { token: '', host: 'git2.example.com' } });
      const [found] = (await drift(world.asked(`{ ${HUB}, ${LAB} }`))).environments;
      expect(found?.changes.map(({ path }) => path.join('.'))).toEqual([
        'git_providers.github',
        'git_providers.gitlab.host',
      ]);
      expect(await applied(`{ ${HUB}, ${LAB} }`)).toMatchObject({ status: 'applied', error: null });
      expect(world.stored()).toEqual({
        github: { token: GIT_ENV.HUB, host: null },
        gitlab: { token: GIT_ENV.LAB, host: 'git.example.com' },
      });
    });

    it('whose token nobody accepts are an error of their own, tried once, and nothing of them is stored', async () => {
      await world0(dialect);
      const env = { LAB: 'canary-bad' };
      const refused = await applied(`{ ${LAB}, ${HUB} }`, env);
      expect(refused).toMatchObject({
        status: 'failed',
        changes: [{ result: 'not-sent' }, { result: 'not-sent' }],
        error: { code: 'settings-refused', hint: expect.stringContaining('may not have reached') },
      });
      expect(refused?.error?.message).toContain('an invalid gitlab token');
      expect(world.writes()).toHaveLength(1);
      expect(world.stored()).toEqual({});
      const inPart = await applied(`{ ${HUB}, ${LAB} }`, env);
      expect(inPart).toMatchObject({
        status: 'partial',
        error: { code: 'applied-in-part' },
        changes: [{ result: 'set' }, { result: 'not-sent' }],
      });
      expect(world.writes()).toHaveLength(3);
      expect(world.stored()).toEqual({ github: { token: GIT_ENV.HUB, host: null } });
      expect(await planned(`{ ${HUB}, ${LAB} }`)).toMatchObject({
        changes: [{ path: ['git_providers', 'gitlab'] }],
      });
    });

    it('a key that the service refuses is told from a token that nobody accepts', async () => {
      await world0(dialect);
      world.front.instead = ({ method }) =>
        method === 'GET' ? null : { status: 401, body: { detail: 'Unauthorized' } };
      expect(await applied(`{ ${HUB} }`)).toMatchObject({ error: { code: 'unauthorized' } });
      expect(world.writes()).toHaveLength(1);
    });

    it('a product that a release lacks is an error with the release that has it', async () => {
      await world0(dialect);
      world.front.instead = ({ body }) =>
        body.includes('forgejo') ? { status: 422, body: { detail: [{ input: body }] } } : null;
      const refused = await applied('{ forgejo: { token: "${env:HUB}", host: git.example.com } }');
      expect(refused?.error?.message).toContain(
        'it has no git provider forgejo, which releases have from 1.2 on',
      );
      expect(world.stored()).toEqual({});
    });

    it('are not sent again if the answer is lost: the list tells of a new one, and nothing of a rotated one', async () => {
      await world0(dialect);
      world.front.instead = async ({ method, path, body }) => {
        if (method === 'GET') return null;
        await world.front.ask(method, path, JSON.parse(body));
        return { status: 502, body: 'gone' };
      };
      expect(await applied(`{ ${HUB} }`)).toMatchObject({
        error: null,
        changes: [{ result: 'set' }],
      });
      expect(world.writes()).toHaveLength(1);
      const rotated = await applied(`{ ${HUB} }`, { HUB: 'canary-good-github-2' });
      expect(rotated).toMatchObject({
        changes: [{ action: 'rotate', result: 'unknown' }],
        error: { code: 'state-unknown' },
      });
      expect(world.writes()).toHaveLength(2);
    });

    it('say what somebody else lost beside the write', async () => {
      await world0(dialect);
      await world.theirs({ bitbucket: { token: 'good-bitbucket-theirs' } });
      world.front.before = async ({ method }) => {
        if (method !== 'GET') await world.theirs({ gitlab: { token: 'good-gitlab-theirs' } });
      };
      expect(await applied(`{ ${HUB} }`)).toMatchObject({
        status: 'not-converged',
        remaining: [{ path: ['git_providers', 'bitbucket'], actual: null }],
      });
    });

    it('keep what somebody else stores between two requests of one run', async () => {
      await world0(dialect);
      let isFirst = true;
      world.front.before = async ({ method }) => {
        if (method === 'GET' && world.writes().length === 1 && isFirst) {
          isFirst = false;
          await world.theirs({
            github: { token: '' },
            bitbucket: { token: 'good-bitbucket-theirs' },
          });
        }
      };
      expect(await applied(`{ ${HUB}, ${LAB} }`)).toMatchObject({ status: 'applied', error: null });
      expect(Object.keys(world.stored()).toSorted()).toEqual(['bitbucket', 'github', 'gitlab']);
    });

    it('whose reference has no value are unknown alone, and an apply refuses to begin', async () => {
      await world0(dialect);
      for (const HUB_VALUE of ['', '  ', '**********']) {
        const env = { HUB: HUB_VALUE };
        expect((await planned(`{ ${HUB} }`, env))?.unknown).toMatchObject([
          { path: ['git_providers', 'github', 'token'], ref: '${env:HUB}' },
        ]);
        await expect(apply(world.asked(`{ ${HUB} }`, env))).rejects.toMatchObject({
          code: 'reference-missing',
        });
      }
      expect(world.writes()).toEqual([]);
    });
  },
);
