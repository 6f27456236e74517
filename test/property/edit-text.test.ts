import fc from 'fast-check';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { editText } from '../../src/reconciler/yaml-edit/edit-text.ts';
import type { Json } from '../../src/reconciler/model/value.ts';
import { text } from '../fixture/arbitrary.ts';
import { hand, writer } from '../fixture/hand-written.ts';
import { itHolds } from '../fixture/property-runs.ts';

const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('en', '${env:X}', 'two words', '100'),
);
const key = fc.constantFrom('language', 'agent', 'email', 'a b', 'x.y', '1', 'url-x', 'timeout');
const leafMap = fc.dictionary(key, scalar, { maxKeys: 3 });
const entry = fc.record(
  { url: fc.constantFrom('https://a', 'https://b', 'https://c'), env: leafMap, timeout: scalar },
  { requiredKeys: ['url'] },
);
const list = fc.oneof(
  fc.uniqueArray(entry, { maxLength: 4, selector: ({ url }) => url }),
  fc.array(text, { maxLength: 3 }),
);
const block = fc.dictionary(
  fc.constantFrom('settings', 'server', 'mcp', 'list', 'name', 'args'),
  fc.oneof(
    scalar,
    leafMap,
    list,
    fc.dictionary(key, fc.oneof(scalar, list, leafMap), { maxKeys: 4 }),
  ),
  { minKeys: 1, maxKeys: 5 },
);

itHolds('whatever is put into whatever file, the rest stays as it was written', 150, (numRuns) => {
  fc.assert(
    fc.property(hand, block, block, (how, before, after) => {
      const written = writer(how)(before);
      expect(parse(written.replace(/^\uFEFF/, ''), { logLevel: 'error' })).toEqual(before);
      const puts = Object.entries(after).map(([name, value]) => ({
        path: [name],
        value: value as Json,
      }));
      const edited = editText(written, puts);
      expect(edited).not.toBeNull();
      if (edited === null) return;
      expect(parse(edited.replace(/^\uFEFF/, ''), { logLevel: 'error' })).toEqual({
        ...before,
        ...after,
      });
      const lines = new Set(edited.split('\n'));
      // The lines of what was not named are all still there.
      const rest = Object.keys(before).filter((name) => !(name in after));
      const starts = written.split('\n').map((line) => /^\uFEFF?([a-z]+):/.exec(line)?.[1] ?? null);
      let owner: string | null = null;
      for (const [index, line] of written.split('\n').entries()) {
        owner = starts[index] ?? owner;
        if (owner !== null && rest.includes(owner) && line.trim() !== '')
          expect(
            lines.has(line) || lines.has(line.replace(/\r$/, '')) || lines.has(`${line}\r`),
          ).toBe(true);
      }
      expect(edited.startsWith('\uFEFF')).toBe(how.mark !== '');
      if (how.eol === '\n') expect(edited).not.toContain('\r\n');
      else if (written.includes('\n')) expect(edited.replaceAll('\r\n', '')).not.toContain('\n');
      expect(editText(edited, puts)).toBe(edited);
    }),
    { numRuns },
  );
});
