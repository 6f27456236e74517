import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { readText } from './read-text.ts';
import { runScript, SETPOINT } from './run-script.ts';
import { PACKAGE } from './workflow-file.ts';

const text = readText('.pre-commit-hooks.yaml');
const hooks = parse(text) as readonly Record<string, unknown>[];
const VALID = 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: en }\n';

/** What the hook comes to in a repository with this file. */
async function runHook(settings: string): Promise<number | null> {
  const folder = folderWith({ 'settings.yaml': settings });
  try {
    const ran = await runScript(String(hooks[0]?.['entry']), {
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

  it.runIf(process.platform !== 'win32')('lets a valid file in, and no other', async () => {
    expect(await runHook(VALID)).toBe(0);
    expect(await runHook(VALID.replace('language', 'langauge'))).toBe(3);
  });
});
