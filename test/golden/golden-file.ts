import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';

/** Compares a text with the golden file of that path under this folder; UPDATE_GOLDEN=1 writes it anew. */
export function expectGolden(path: string, text: string): void {
  const file = join(import.meta.dirname, path);
  if (process.env['UPDATE_GOLDEN'] === '1' || !existsSync(file)) {
    if (process.env['CI'] !== undefined) throw new Error(`${path} is missing`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text).toBe(readFileSync(file, 'utf8'));
}
