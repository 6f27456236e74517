import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInNodeRange, NODE_RANGE } from '../../../src/reconciler/model/version.ts';

describe('the versions of Node', () => {
  it('are those of package.json', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8');
    expect((JSON.parse(text) as { engines: { node: string } }).engines.node).toBe(NODE_RANGE);
  });

  it.each([
    ['20.18.9', false],
    ['20.19.0', true],
    ['20.20.2', true],
    ['21.7.3', false],
    ['22.11.0', false],
    ['22.12.0', true],
    ['24.0.0', true],
  ])('%s: %j', (version, supported) => {
    expect(isInNodeRange(version)).toBe(supported);
  });
});
