import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT } from './run-script.ts';
import { PACKAGE } from './workflow-file.ts';

const text = readText('.pre-commit-hooks.yaml');
const hooks = parse(text) as readonly Record<string, unknown>[];
/** The local hook of the guide, for a package that is installed on the machine. */
const [, guide = ''] =
  /```yaml\n( *# \.pre-commit-config\.yaml\n[^`]*)```/.exec(readText('docs/install.md')) ?? [];
const { repos = [] } = (parse(guide) ?? {}) as {
  readonly repos?: readonly { readonly hooks: readonly Record<string, unknown>[] }[];
};
const local = repos[0]?.hooks[0];
const VALID = 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n';

/** What the hook comes to in a repository with this file. */
async function runHook(settings: string, hook = hooks[0]): Promise<number | null> {
  const folder = folderWith({ 'settings.yaml': settings });
  try {
    const ran = await runScript(String(hook?.['entry']), {
      cwd: folder.path,
      commands: { setpoint: SETPOINT },
    });
    return ran.code;
  } finally {
    folder.remove();
  }
}

describe('the pre-commit hook', () => {
  it('has what pre-commit requires, and what we promise', () => {
    expect(hooks).toMatchObject([
      { id: 'setpoint-validate', language: 'node', pass_filenames: false },
    ]);
    for (const key of ['id', 'name', 'description', 'entry', 'files'])
      expect(hooks[0]?.[key]).toBeTypeOf('string');
    expect(text).toContain(`rev: action-v${PACKAGE.version}`);
  });

  it('is run for a change of settings.yaml alone', () => {
    const files = new RegExp(String(hooks[0]?.['files']));
    const paths = ['settings.yaml', 'my-settings.yaml', 'settings.yaml.bak', 'test/settings.yaml'];
    expect(paths.filter((path) => files.test(path))).toEqual(['settings.yaml']);
  });

  it.runIf(process.platform !== 'win32').each([
    ['of this repository', hooks[0]],
    ['of the guide', local],
  ])('%s lets a valid file in, and no other', async (_, hook) => {
    expect(await runHook(VALID, hook)).toBe(0);
    expect(await runHook(VALID.replace('language', 'langauge'), hook)).toBe(3);
  });

  it('is the same in the guide, except for the repository and the language', () => {
    const { description: _, ...own } = hooks[0] ?? {};
    expect(local).toEqual({ ...own, language: 'system' });
  });
});
