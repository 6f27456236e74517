import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInShard } from '../../src/reconciler/model/shard.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/guides/shards.md'), 'utf8');
const NAMES = ['production', 'staging', 'customer-17', 'a', 'Zürich 1', '日本', 'x'.repeat(200)];
const COUNTS = [1, 2, 3, 10, 64, 1000];

const shardOf = (name: string, count: number) => {
  const indices = Array.from({ length: count }, (_, index) => index);
  return indices.find((index) => isInShard(name, { index, count }));
};

describe('how docs/guides/shards.md computes a shard', () => {
  it('the table has what setpoint does', () => {
    const rows = [...PAGE.matchAll(/^\| `([\w-]+)` \| (\d+) \| (\d+) \| (\d+) \|$/gm)];
    expect(rows).toHaveLength(3);
    for (const [, name = '', ...shards] of rows)
      expect(shards.map(Number)).toEqual([2, 10, 1000].map((count) => shardOf(name, count)));
  });

  const hasPython = spawnSync('python3', ['-c', '']).status === 0;
  it.skipIf(!hasPython)('the Python does the same as setpoint (skipped without python3)', () => {
    const [, code = ''] = /```python\n([^]*?)```/.exec(PAGE) ?? [];
    const input = JSON.stringify({ names: NAMES, counts: COUNTS });
    const main = `import json, sys\nasked = json.load(sys.stdin)\nprint(json.dumps([[shard(name, count) for count in asked["counts"]] for name in asked["names"]]))\n`;
    const { stdout, stderr } = spawnSync('python3', ['-c', `${code}\n${main}`], {
      input,
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(
      NAMES.map((name) => COUNTS.map((count) => shardOf(name, count))),
    );
  });
});
