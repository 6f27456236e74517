import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMarker } from '../../../src/command/github/marker.ts';
import { treeOf } from '../../fixture/markdown-tree.ts';

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc
    .array(fc.constantFrom('-->', '--', '%', '%0041', '\n', ' environment=', 'prod', '\uD800', '>'))
    .map((parts) => parts.join('')),
);

it('a name never ends the comment nor starts another line, and two names have two markers', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const marker = createMarker('plan', one);
      expect(marker).toMatch(/^<!-- setpoint:plan environment=[A-Za-z0-9._%-]* -->$/);
      expect(marker.length).toBeLessThan(300);
      const { children = [] } = treeOf(`${marker}\n\nText.`);
      expect(children.map(({ type, value }) => [type, value])).toEqual([
        ['html', marker],
        ['paragraph', undefined],
      ]);
      expect(marker === createMarker('plan', other)).toBe(one === other);
      expect(marker).not.toBe(createMarker('drift', one));
    }),
  );
});
