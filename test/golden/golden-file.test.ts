import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { expectGolden } from './golden-file.ts';

let folder: ReturnType<typeof folderWith>;
beforeEach(() => (folder = folderWith({ 'there.txt': 'as it was\n' })));
afterEach(() => {
  vi.unstubAllEnvs();
  folder.remove();
});

it.each([undefined, '', '0', 'true'])(
  'a golden file that is missing fails, and is not written (UPDATE_GOLDEN=%s)',
  (update) => {
    vi.stubEnv('UPDATE_GOLDEN', update);
    expect(() => expectGolden('a/lost.txt', 'text\n', folder.path)).toThrow(
      'a/lost.txt is missing. UPDATE_GOLDEN=1 writes it.',
    );
    expect(existsSync(join(folder.path, 'a'))).toBe(false);
  },
);

it('a golden file that reads otherwise fails, and stays as it is', () => {
  vi.stubEnv('UPDATE_GOLDEN', undefined);
  expectGolden('there.txt', 'as it was\n', folder.path);
  expect(() => expectGolden('there.txt', 'otherwise\n', folder.path)).toThrow();
  expect(readFileSync(join(folder.path, 'there.txt'), 'utf8')).toBe('as it was\n');
});

it('UPDATE_GOLDEN=1 writes both', () => {
  vi.stubEnv('UPDATE_GOLDEN', '1');
  expectGolden('there.txt', 'otherwise\n', folder.path);
  expectGolden('a/new.txt', 'new\n', folder.path);
  vi.stubEnv('UPDATE_GOLDEN', undefined);
  expectGolden('there.txt', 'otherwise\n', folder.path);
  expectGolden('a/new.txt', 'new\n', folder.path);
});
