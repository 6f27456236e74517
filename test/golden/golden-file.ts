import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

/** Compares a text with the golden file of that path. A file that is missing fails; UPDATE_GOLDEN=1 alone writes one. */
export function expectGolden(path: string, text: string, root: string = import.meta.dirname): void {
  const file = join(root, path);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  if (!existsSync(file)) throw new Error(`${path} is missing. UPDATE_GOLDEN=1 writes it.`);
  expect(text).toBe(readFileSync(file, 'utf8'));
}
