import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: a script has no types
import * as table from '../../scripts/real/table.mjs';
import { RELEASES } from '../real/releases.ts';

const root = join(import.meta.dirname, '../..');
const NO_PYTHON = { PYTHON: join(root, 'no-such-python') };

function testReal(args: readonly string[], env: Readonly<Record<string, string>>) {
  const script = join(root, 'scripts/test-real.mjs');
  try {
    const options = { env: { ...env }, encoding: 'utf8', stdio: 'pipe' } as const;
    return { code: 0, shown: execFileSync(process.execPath, [script, ...args], options) };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { code: status, shown: stdout + stderr };
  }
}

describe('npm run test:real', () => {
  it('skips every release by name if there is no Python for it', () => {
    const { code, shown } = testReal([], NO_PYTHON);
    expect(code).toBe(0);
    expect(shown).toContain('SKIPPED: no Python 3.12 or 3.13.');
    for (const { server, release } of RELEASES)
      expect(shown).toContain(`skipped: ${server} ${release}`);
  });

  it('skips only the releases that are named', () => {
    const { shown } = testReal(['1.6.0'], NO_PYTHON);
    expect(shown.match(/^skipped: .*$/gm)).toEqual(['skipped: openhands-ai 1.6.0']);
  });

  it('fails without a Python if one is required', () => {
    expect(testReal([], { ...NO_PYTHON, SETPOINT_REQUIRE_PYTHON: '1' }).code).toBe(1);
  });

  it('names the releases that there are', () => {
    const { code, shown } = testReal(['9.9.9'], NO_PYTHON);
    expect(code).toBe(2);
    expect(shown).toContain(
      `Unknown release: 9.9.9. Available: ${RELEASES.map(({ release }) => release).join(', ')}.`,
    );
  });
});

describe('the table of releases', () => {
  const { rowOf, tableOf, TITLES } = table as {
    readonly TITLES: Readonly<Record<string, string>>;
    readonly rowOf: (release: object, results: object) => object;
    readonly tableOf: (rows: readonly object[]) => string;
  };
  const results = (tests: readonly (readonly [string[], string, string])[]) => ({
    testResults: [
      {
        assertionResults: tests.map(([ancestorTitles, title, status]) => ({
          ancestorTitles,
          title,
          status,
        })),
      },
    ],
  });

  it('counts the cases, and shows how each step has ended', () => {
    const about = {
      release: '1.0.0',
      server: 'openhands-ai',
      dialect: 'settings-v0',
      differs: { 'case b': 'it is known' },
      without: { 'step c': 'it cannot' },
    };
    const row = rowOf(
      about,
      results([
        [['contract'], 'is known to differ in a case that is there: case b', 'passed'],
        [['contract', 'on an empty store'], 'case a', 'passed'],
        [['contract', 'on an empty store'], 'case b (it is known)', 'passed'],
        [['contract', 'on an empty store'], 'case c', 'failed'],
        [['skills and plugins'], 'step a', 'passed'],
        [['git providers'], 'are custom secrets on these servers', 'skipped'],
        [['custom secrets'], 'step e', 'passed'],
        [['loop'], 'step a', 'passed'],
        [['loop'], 'step b', 'failed'],
        [['loop'], 'step c', 'skipped'],
        [['loop'], 'step d', 'skipped'],
      ]),
    );
    expect(tableOf([row])).toBe(`|  | Server 1.0.0 |
| --- | --- |
| dialect | settings-v0 |
| recorded cases | 1 of 3, 1 known to differ |
| settings | **no** |
| custom secrets | yes |
| skills, plugins and canvas extensions | yes |

- 1.0.0, the case "case b": it is known.
- 1.0.0, step b: failed.
- 1.0.0, step c: it cannot.
- 1.0.0, step d: not tried.
`);
  });

  it('says that a server has none of what another one has', () => {
    const about = { server: 'openhands-ai', dialect: 'settings-v0' };
    const one = rowOf({ ...about, release: '1' }, results([[['git providers'], 'a', 'passed']]));
    const none = rowOf({ ...about, release: '2' }, results([[['git providers'], 'b', 'skipped']]));
    expect(tableOf([one, none])).toContain('\n| git providers | yes | has none |\n');
  });

  it('says that a loop is left out whole, and why', () => {
    const about = { server: 'openhands-agent-server', dialect: 'agent-server' };
    const left = { ...about, release: '1', without: { 'git providers': 'it cannot' } };
    const rows = [
      rowOf(left, results([[['git providers'], 'it cannot', 'skipped']])),
      rowOf({ ...about, release: '2' }, results([[['git providers'], 'a', 'passed']])),
    ];
    expect(tableOf(rows)).toContain('\n| git providers | left out | yes |\n');
    expect(tableOf(rows)).toContain('\n- 1, git providers: it cannot.\n');
  });

  it('says all without a number, which would be wrong with the next recorded case', () => {
    const about = { release: '1.0.0', server: 'openhands-ai', dialect: 'settings-v0' };
    const answered = (name: string): [string[], string, string] => [
      ['contract', 'on an empty store'],
      name,
      'passed',
    ];
    const known = { ...about, differs: { 'case b': 'it is known' } };
    for (const [release, words] of [
      [about, 'all'],
      [known, 'all except 1 known to differ'],
    ] as const)
      expect(
        tableOf([rowOf(release, results([answered('case a'), answered('case b')]))]),
      ).toContain(`| recorded cases | ${words} |`);
    expect(readFileSync(join(root, 'docs/service/releases.md'), 'utf8')).not.toMatch(/\d+ of \d+/);
  });

  it('is written for every release in docs/service/releases.md', () => {
    const page = readFileSync(join(root, 'docs/service/releases.md'), 'utf8');
    for (const { server, release } of RELEASES)
      expect(page).toContain(`| ${TITLES[server]} ${release} |`);
    expect(page).not.toContain('**no**');
  });
});
