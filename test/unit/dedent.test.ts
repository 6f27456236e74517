import { expect, it } from 'vitest';
import { dedent } from '../fixture/dedent.ts';

it('dedent takes away the indentation of the code, and nothing else', () => {
  const value = 'a\n    b';
  expect(dedent`
    one:
      two: "\${env:X}"

      ${value}: \\n
    ${value}
  `).toBe('one:\n  two: "${env:X}"\n\n  a\n    b: \\n\na\n    b\n');
  expect(dedent`one`).toBe('one');
});
