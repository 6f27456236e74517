import { afterEach, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
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
