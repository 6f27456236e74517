import fc from 'fast-check';
import { expect } from 'vitest';
import { createBranchesClient } from '../../src/command/github/branches.ts';
import { gitHub } from '../../src/command/github/client.ts';
import { writeDriftPulls, type ReadEnvironment } from '../../src/command/github/drift-pull.ts';
import { readJobAccess } from '../../src/command/github/job.ts';
import { SetpointError } from '../../src/reconciler/model/error.ts';
import { change, environment, planOf } from '../fixture/documents.ts';
import { PULLS_TOKEN, REPOSITORY, startGitHub, type FakeGitHub } from '../fixture/fake-github.ts';
import { itHolds } from '../fixture/property-runs.ts';

const BRANCH = 'setpoint-drift/production';
const LANGUAGES = ['en', 'fr', 'de'];

type Event =
  | { readonly kind: 'run' | 'two-runs'; readonly language: string; readonly fault: Fault }
  | { readonly kind: 'push' | 'merge' | 'close' | 'delete' | 'base' };

/** What happens to the request of a run that has this number: its answer is lost, it fails, or somebody pushes before it. */
type Fault = { readonly at: number; readonly kind: 'lost' | 'failed' | 'push' } | null;

const fault: fc.Arbitrary<Fault> = fc.option(
  fc.record({ at: fc.nat(14), kind: fc.constantFrom('lost', 'failed', 'push') }),
);
const events: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('run', 'two-runs'),
      language: fc.constantFrom(...LANGUAGES),
      fault,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('push', 'merge', 'close', 'delete', 'base') }),
  },
);

function text(language: string, base: number): string {
  return `language: ${language}\n# ${base}\n`;
}

/** The service has a language, the file on main another: what a run of the Action would hand on. */
function read(github: FakeGitHub, language: string): ReadEnvironment {
  const before = github.git.read('main', 'settings.yaml') ?? '';
  const after = before.replace(/^language: .*$/m, `language: ${language}`);
  if (after === before) return { plan: environment(), pull: null };
  const report = {
    name: 'production',
    origin: null,
    status: 'differs',
    pulled: [],
    left: [],
    unknown: [],
    variables: [],
    error: null,
  } as const;
  const files = [{ path: 'settings.yaml', name: 'settings.yaml', before, text: after }];
  return {
    plan: environment({ changes: [change({ before: language })] }),
    pull: { report, files },
  };
}

async function run(github: FakeGitHub, language: string): Promise<void> {
  const access = readJobAccess(
    { GITHUB_REPOSITORY: REPOSITORY, GITHUB_API_URL: github.url },
    PULLS_TOKEN,
  );
  const clock = { sleep: async () => {} };
  const one = read(github, language);
  const [client, branches] = [gitHub(access, clock), createBranchesClient(access, clock)];
  for await (const done of writeDriftPulls(client, branches, planOf(one.plan), 'main', [one]))
    expect(done.environment).toBe('production');
}

/** Any failure of a run must be one of ours. */
async function attempted(github: FakeGitHub, language: string): Promise<void> {
  await run(github, language).catch((thrown: unknown) => {
    if (!(thrown instanceof SetpointError) || thrown.code === 'internal') throw thrown;
  });
}

itHolds(
  'no commit of a person is lost, no pull request of one is touched, and there is never a second one',
  15,
  async (numRuns) => {
    await fc.assert(
      fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 8 }), async (script) => {
        const github = await startGitHub();
        const theirs = new Set<string>();
        let count = 0;
        const push = (): void => {
          if (!github.git.heads.has(BRANCH)) return;
          theirs.add(github.git.push(BRANCH, { 'notes.md': String((count += 1)) }));
        };
        /** The commits that a branch, or a pull request, still leads to. */
        const isKept = (commit: string): boolean =>
          [...github.git.heads.values(), ...github.issues.map(({ headSha }) => headSha)].some(
            (head) => head !== '' && github.git.descends(head, commit),
          );
        const own = () => github.issues.filter(({ pull }) => pull);
        const openNow = () => own().filter(({ state }) => state === 'open');
        try {
          github.git.push('main', { 'settings.yaml': text('en', 0), 'README.md': '' });
          for (const event of script) {
            if (event.kind === 'run' || event.kind === 'two-runs') {
              let asked = 0;
              github.intercept = (_request, response, proceed) => {
                asked += 1;
                if (event.fault === null || asked !== event.fault.at + 1) return false;
                if (event.fault.kind === 'push') {
                  push();
                  return false;
                }
                if (event.fault.kind === 'failed') {
                  response.writeHead(500).end('{}');
                  return true;
                }
                response.end = () => response.destroy();
                proceed();
                return true;
              };
              const runs = [attempted(github, event.language)];
              if (event.kind === 'two-runs') runs.push(attempted(github, event.language));
              await Promise.all(runs);
              github.intercept = null;
            } else if (event.kind === 'push') push();
            else if (event.kind === 'base')
              github.git.push('main', { 'settings.yaml': text('en', (count += 1)) });
            else if (event.kind === 'merge' && openNow().length > 0) {
              const headSha = github.git.heads.get(BRANCH) ?? '';
              github.git.merge(BRANCH, 'main');
              for (const pull of openNow())
                Object.assign(pull, { state: 'closed', merged: true, headSha });
            } else if (event.kind === 'close')
              for (const pull of openNow())
                Object.assign(pull, {
                  state: 'closed',
                  headSha: github.git.heads.get(BRANCH) ?? '',
                });
            else if (event.kind === 'delete' && openNow().length === 0) {
              // What a person deletes is theirs to lose.
              for (const commit of theirs)
                if (github.git.descends(github.git.heads.get(BRANCH) ?? commit, commit))
                  theirs.delete(commit);
              github.git.heads.delete(BRANCH);
            }
            expect([...theirs].filter((commit) => !isKept(commit))).toEqual([]);
            expect(openNow().length).toBeLessThanOrEqual(1);
          }
          // Nobody interferes any more: two runs settle it.
          for (const _ of [1, 2]) await run(github, 'xx');
          const head = github.git.heads.get(BRANCH) ?? '';
          const foreign = [...theirs].some(
            (commit) =>
              github.git.descends(head, commit) &&
              !github.git.descends(github.git.heads.get('main') ?? '', commit),
          );
          if (!foreign) {
            expect(openNow()).toHaveLength(1);
            expect(github.git.read(BRANCH, 'settings.yaml')).toMatch(/^language: xx$/m);
          }
          expect([...theirs].filter((commit) => !isKept(commit))).toEqual([]);
        } finally {
          await github.close();
        }
      }),
      { numRuns },
    );
  },
);
