import {
  mkdirSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { folderWith, type Ended } from '../fixture/command.ts';
import { runScript } from '../workflows/run-script.ts';
import { EXAMPLES, PACKAGE, stepNamed, WORKFLOWS } from '../workflows/workflow-file.ts';
import { startRegistry, type LocalRegistry } from './local-registry.ts';
import { itEach } from '../fixture/long.ts';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'setpoint-install-'));
let registry: LocalRegistry;
let integrity: string;
let tarball: string;

beforeAll(async () => {
  // A package that depends on this one: the registry holds what it needs.
  const user = join(home, 'user');
  mkdirSync(join(user, 'node_modules'), { recursive: true });
  symlinkSync(root, join(user, 'node_modules/setpoint'));
  const dependencies = { setpoint: PACKAGE.version };
  writeFileSync(join(user, 'package.json'), JSON.stringify({ name: 'user', dependencies }));
  registry = await startRegistry(user, home);
  const packument = (await (await fetch(`${registry.url}/setpoint`)).json()) as {
    versions: Record<string, { dist: { integrity: string; tarball: string } }>;
  };
  ({ integrity, tarball } = packument.versions[PACKAGE.version]?.dist ?? {
    integrity: '',
    tarball: '',
  });
}, 120_000);
afterAll(() => {
  registry.close();
  rmSync(home, { recursive: true, force: true });
});

const WRONG = `sha512-${'A'.repeat(86)}==`;

interface Installing {
  readonly script: string;
  /** Where the command is afterwards, and the folder that has to be absent if nothing was installed. */
  readonly command: string;
}

const ofWorkflow = (path: string, job: string, name: string): string => {
  const file = [...WORKFLOWS, ...EXAMPLES].find((one) => one.path === path);
  if (file === undefined) throw new Error(`There is no ${path}.`);
  return stepNamed(file.workflow, job, name).run ?? '';
};
const TOOL = '.setpoint-cli/node_modules/setpoint/dist/bin/setpoint.cjs';
const HERE = '$GITHUB_WORKSPACE/tool';

/** The example is for a container of its own: its folders are put elsewhere. */
const ofGitLab = (): string => {
  const text = readFileSync(join(root, 'examples/gitlab-ci/.gitlab-ci.yml'), 'utf8');
  const { default: all } = parse(text) as { default: { before_script: string[] } };
  return all.before_script
    .join('\n')
    .replaceAll('/tmp/setpoint', HERE)
    .replaceAll('/usr/local/bin/setpoint', `${HERE}/setpoint`);
};

const INSTALLING: Readonly<Record<string, () => Installing>> = {
  'plan.yml': () => ({
    script: ofWorkflow(
      '.github/workflows/plan.yml',
      'plan',
      'Install setpoint, while nothing of the branch is here',
    ),
    command: TOOL,
  }),
  'drift.yml': () => ({
    script: ofWorkflow('.github/workflows/drift.yml', 'drift', 'Install setpoint'),
    command: TOOL,
  }),
  'drift-pull-requests.yml': () => ({
    script: ofWorkflow(
      'examples/github-actions/drift-pull-requests.yml',
      'drift',
      'Install setpoint',
    ),
    command: TOOL,
  }),
  'apply.yml, plan': () => ({
    script: ofWorkflow('.github/workflows/apply.yml', 'plan', 'Install setpoint'),
    command: TOOL,
  }),
  'apply.yml, apply': () => ({
    script: ofWorkflow('.github/workflows/apply.yml', 'apply', 'Install setpoint'),
    command: TOOL,
  }),
  'with-the-command.yml': () => ({
    script: `${ofWorkflow('examples/github-actions/with-the-command.yml', 'plan', 'Install setpoint')}\ncp -r "$tool" "$GITHUB_WORKSPACE/tool"\n`,
    command: 'tool/bin/setpoint',
  }),
  '.gitlab-ci.yml': () => ({ script: ofGitLab(), command: 'tool/setpoint' }),
};

describe.runIf(process.platform === 'linux')(
  'the step that installs setpoint takes the package with the hash that is written down, and no other (on Linux)',
  () => {
    const workspace = () => folderWith({});

    async function install(
      script: string,
      cwd: string,
      value: string | undefined,
      place = '',
    ): Promise<Ended> {
      return runScript(script, {
        cwd,
        env: {
          SETPOINT_VERSION: PACKAGE.version,
          SETPOINT_PACKAGE: place,
          ...(value === undefined ? {} : { SETPOINT_INTEGRITY: value }),
          GITHUB_PATH: join(home, 'path'),
          GITHUB_WORKSPACE: cwd,
          CI_PROJECT_DIR: cwd,
          npm_config_registry: registry.url,
          npm_config_cache: join(home, 'cache'),
          npm_config_userconfig: join(home, 'user.npmrc'),
          npm_config_globalconfig: join(home, 'global.npmrc'),
          npm_config_update_notifier: 'false',
        },
      });
    }

    /** What is written down in its place, and is not the hash: the first of them is tried in each. */
    const OTHERS = [WRONG, undefined, '', 'cut off', 'behind a blank'] as const;
    // The steps of the workflows are one text; those of the two other examples are not.
    const OWN = ['plan.yml', 'with-the-command.yml', '.gitlab-ci.yml'];
    const steps = OWN.flatMap((name) => [
      [name, OTHERS.slice(0, 1)] as const,
      [name, OTHERS.slice(1)] as const,
    ]);
    itEach(steps, ([name, others]) => others[0] === WRONG && name === 'plan.yml')(
      '%s, and not with %j',
      async (name, others) => {
        const { script, command } = INSTALLING[name]?.() ?? { script: '', command: '' };
        const folder = workspace();
        try {
          for (const other of others) {
            const value =
              other === 'cut off'
                ? integrity.slice(0, -4)
                : other === 'behind a blank'
                  ? ` ${integrity}`
                  : other;
            const refused = await install(script, folder.path, value);
            expect({ value, code: refused.code === 0 }).toEqual({ value, code: false });
            expect(refused.stdout).toContain('Nothing was installed.');
            expect(existsSync(join(folder.path, command))).toBe(false);
          }
          const installed = await install(script, folder.path, integrity);
          expect(installed).toMatchObject({ code: 0 });
          const { stdout } = await runScript(`"$PWD/${command}" version\n`, { cwd: folder.path });
          expect(stdout).toContain(PACKAGE.version);
        } finally {
          folder.remove();
        }
      },
    );

    it.each(OWN)('%s, from an address of the reader too, without a release', async (name) => {
      const { script, command } = INSTALLING[name]?.() ?? { script: '', command: '' };
      const folder = workspace();
      try {
        const refused = await install(script, folder.path, WRONG, tarball);
        expect([refused.code, existsSync(join(folder.path, command))]).toEqual([1, false]);
        expect(await install(script, folder.path, integrity, tarball)).toMatchObject({ code: 0 });
        expect(existsSync(join(folder.path, command))).toBe(true);
      } finally {
        folder.remove();
      }
    });

    it.each(OWN)('%s reports a package that is not there', async (name) => {
      const { script } = INSTALLING[name]?.() ?? { script: '' };
      const folder = workspace();
      try {
        const ended = await install(script, folder.path, integrity, `${tarball}.gone`);
        expect(ended.code).not.toBe(0);
        expect(ended.stdout + ended.stderr).toMatch(/404/);
      } finally {
        folder.remove();
      }
    });

    it('is one text in the workflows', () => {
      const texts = Object.keys(INSTALLING)
        .filter((name) => name === 'plan.yml' || !OWN.includes(name))
        .map((name) => INSTALLING[name]?.().script);
      expect(new Set(texts).size).toBe(1);
      expect(texts).toHaveLength(5);
    });

    it('needs no other package', () => {
      expect([...registry.asked].filter((path) => !path.endsWith('.gone'))).toEqual(['setpoint']);
    });
  },
);
