/** Settings files by folder, by pattern and from stdin. */
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { filesAt } from '../../../src/reconciler/operations/settings-files.ts';

const TEXT = 'version: 1\nserver: { url: "embedded:" }\nsettings: { language: de }\n';

let folder: ReturnType<typeof folderWith> | undefined;
afterEach(() => folder?.remove());

function here(names: readonly string[]): string {
  folder = folderWith(Object.fromEntries(names.map((name) => [name, TEXT])));
  return folder.path;
}

describe('-f', () => {
  const NAMES = [
    'services/a/settings.yaml',
    'services/b/settings.yaml',
    'services/b/deep/down/settings.yaml',
    'services/b/node_modules/x/settings.yaml',
    'services/.git/settings.yaml',
    'services/b/notes.yaml',
  ];
  it.each([
    ['services/a', ['services/a/settings.yaml']],
    ['services/*/settings.yaml', ['services/a/settings.yaml', 'services/b/settings.yaml']],
    ['s*/b/*.yaml', ['services/b/notes.yaml', 'services/b/settings.yaml']],
    [
      'services/**/settings.yaml',
      [
        'services/a/settings.yaml',
        'services/b/deep/down/settings.yaml',
        'services/b/settings.yaml',
      ],
    ],
    ['**/notes.yaml', ['services/b/notes.yaml']],
  ])('%s', (path, files) => {
    const cwd = here(NAMES);
    symlinkSync(join(cwd, 'services'), join(cwd, 'services/a/loop'));
    const found = filesAt(join(cwd, path)).map((file) => file.slice(cwd.length + 1));
    expect(found).toEqual(files);
  });

  it('names environments of files that are called alike by their folders', async () => {
    const cwd = here(NAMES.slice(0, 2));
    const { stdout, code } = await setpoint(['validate', '-f', 'services/*/settings.yaml'], {
      cwd,
    });
    expect([code, stdout]).toEqual([0, 'Valid: a, b.\n']);
  });

  it.each([
    ['services', 'No settings.yaml in the folder services.'],
    ['services/*/none.yaml', 'No file matches services/*/none.yaml.'],
  ])('%s: a sentence', async (path, message) => {
    const { stderr, code } = await setpoint(['validate', '-f', path], { cwd: here(NAMES) });
    expect([code, stderr]).toEqual([3, expect.stringContaining(message) as string]);
  });
});

describe('-f -', () => {
  it('reads the settings from stdin', async () => {
    const cwd = here([]);
    const valid = await setpoint(['validate', '-f', '-'], { cwd, stdin: TEXT });
    expect([valid.code, valid.stdout]).toEqual([0, 'Valid: default.\n']);
    const wrong = await setpoint(['validate', '-f', '-'], {
      cwd,
      stdin: 'version: 9\n',
    });
    expect(wrong.code).toBe(3);
  });

  it.each([[['pull', '-f', '-']], [['validate', '-f', '-', '-f', 'settings.yaml']]])(
    '%j is refused',
    async (args) => {
      const { code, stderr } = await setpoint(args, {
        cwd: here([]),
        stdin: TEXT,
      });
      expect([code, stderr]).toEqual([
        3,
        expect.stringMatching(/takes no (?:settings from stdin|other file)/),
      ]);
    },
  );
});
