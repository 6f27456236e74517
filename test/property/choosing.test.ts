import { describe, expect, it } from 'vitest';
import type { Target } from '../../src/reconciler/desired/target.ts';
import { selectEnvironments } from '../../src/reconciler/operations/select.ts';
import { growth, LINEAR } from '../fixture/growth.ts';
import { read, SERVER } from '../unit/desired/reading.ts';

/** Environments like those of a file with as many of them, without the time to read it. */
function fleet(size: number): Target[] {
  const labels = '{ ring: "0", region: eu }';
  const [one] = read(`version: 1\n${SERVER}\nlabels: ${labels}\n`).targets;
  if (one === undefined) throw new Error('no target');
  return Array.from({ length: size }, (_, at) => ({ ...one, name: `customer-${at}` }));
}

const some = (size: number, of: (at: number) => string) =>
  Array.from({ length: size }, (_, at) => of(at));

/** What a person or a pipeline may choose from 40,000 environments. */
const CHOICES: Readonly<
  Record<string, (targets: readonly Target[]) => Parameters<typeof selectEnvironments>[1]>
> = {
  'many names': ({ length }) => ({
    env: {},
    targets: some(length / 4, (at) => `customer-${at * 3}`),
  }),
  'many names that are the same': ({ length }) => ({
    env: {},
    targets: some(length, () => 'customer-0'),
  }),
  patterns: () => ({ env: {}, targets: some(20, (at) => `customer-*${at}`) }),
  'a name that nobody has': () => ({ env: {}, targets: ['costumer-5'] }),
  labels: () => ({ env: {}, selector: 'ring in (0,1),region!=us' }),
  'labels that nobody has': () => ({ env: {}, selector: 'ring=1' }),
};

describe('choosing takes time linear to the environments', () => {
  it.each(Object.entries(CHOICES))('%s', (_, choice) => {
    const choose = (targets: readonly Target[]) => {
      try {
        return selectEnvironments(targets, choice(targets));
      } catch (thrown) {
        return thrown;
      }
    };
    expect(growth(fleet, choose, 10_000)).toBeLessThan(LINEAR);
  });
});
