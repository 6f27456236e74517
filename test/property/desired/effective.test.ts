import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { effectiveFile } from '../../../src/reconciler/desired/effective.ts';
import { plainValue, type Node } from '../../../src/reconciler/desired/node.ts';
import type { Target } from '../../../src/reconciler/desired/target.ts';
import { effectiveText } from '../../../src/reconciler/render/effective-text.ts';
import { sparseSettings } from '../../fixture/arbitrary.ts';
import { read } from '../../unit/desired/reading.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { omitDoubtful } from '../../fixture/omit-doubtful.ts';

const PLAIN = { color: false, width: null, verbose: false };
const BLOCKS = ['server', 'settings', 'sandboxes', 'guards', 'unmanaged'] as const;

function textOf(one: Target): string {
  return effectiveText(effectiveFile(one), one.name, PLAIN);
}

/** Everything a target declares, references as written. */
function declared(one: Target) {
  const plain = (node: Node | undefined) => (node === undefined ? undefined : plainValue(node));
  return {
    name: one.name,
    ...Object.fromEntries(BLOCKS.map((block) => [block, plain(one[block])])),
  };
}

describe('the effective file', () => {
  it('is a settings file that declares the same, whatever the blocks hold, and its lines lead to theirs', () => {
    const guards = fc.record(
      { max_changes: fc.nat(), protected: fc.boolean() },
      { requiredKeys: [] },
    );
    const block = fc.record({ settings: sparseSettings, guards }, { requiredKeys: [] });
    fc.assert(
      fc.property(block, block, block, fc.boolean(), (base, top, environment, flow) => {
        const server = { url: 'https://x.example.com' };
        const file = { version: 1, server, ...top, environments: { e: environment } };
        const style = { collectionStyle: flow ? 'flow' : 'any', lineWidth: 0 } as const;
        const quoted = { ...style, defaultStringType: flow ? 'QUOTE_DOUBLE' : 'PLAIN' } as const;
        const texts = {
          'settings.yaml': stringify(file, quoted),
          'base.yaml': stringify({ version: 1, ...base }, quoted),
        };
        const { targets, diagnostics } = read(texts['settings.yaml'], texts['base.yaml']);
        expect(omitDoubtful(diagnostics)).toEqual([]);
        const [one] = targets;
        if (one === undefined) throw new Error('no target');
        const effective = textOf(one);
        const again = read(effective);
        expect(omitDoubtful(again.diagnostics)).toEqual([]);
        expect(again.targets.map(declared)).toEqual([declared(one)]);
        for (const line of effective.trimEnd().split('\n')) {
          const [, path = '', number] =
            /# ((?:settings|base)\.yaml):(\d+)( \(e\))?$/.exec(line) ?? [];
          const source = texts[path as keyof typeof texts].split('\n')[Number(number) - 1] ?? '';
          const key = /^ *(?:- )?([a-z_]+):/.exec(line)?.[1];
          if (key !== undefined && key !== 'name') expect(source, line).toContain(key);
        }
      }),
      { numRuns: propertyRuns(20) },
    );
  });
});
