import { expect, it } from 'vitest';
import { FLAGS, type FlagName } from '../../../src/command/cli/flag-table.ts';
import { FLAGS_ELSEWHERE, flagMeant } from '../../../src/command/cli/words-elsewhere.ts';

const ALL = Object.keys(FLAGS) as FlagName[];

it.each(Object.entries(FLAGS_ELSEWHERE))(
  '%s suggests %s on a command that has that instead',
  (flag, meant) => {
    expect(flagMeant(flag, ALL)).toBe(`Did you mean ${meant}?`);
    expect(flagMeant(flag, [])).toBeNull();
  },
);
