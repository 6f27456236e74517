import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aboutFlag, COMMAND_NAMES, commandEntry } from '../../../src/command/cli/command-table.ts';
import { FLAGS, flagSpec, type FlagName } from '../../../src/command/cli/flag-table.ts';
import { ERRORS } from '../../../src/reconciler/model/error.ts';

const read = (path: string): string =>
  readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const flagNames = Object.keys(FLAGS) as FlagName[];

describe('the table of commands', () => {
  it('lists every exit code that there is, and no other', () => {
    const known = new Set<number>([0, 2, ...Object.values(ERRORS).map(({ exit }) => exit)]);
    const listed = COMMAND_NAMES.flatMap((name) =>
      Object.keys(commandEntry(name).exits).map(Number),
    );
    // 143 is listed with 130.
    expect(new Set([...listed, 143])).toEqual(known);
  });

  it('has each command that an error names as next, and it is the one of the hint', () => {
    const named = Object.entries<{ hint: string; next?: string }>(ERRORS);
    const nexts = named.flatMap(([, { next }]) => next ?? []);
    expect(nexts).not.toEqual([]);
    for (const next of nexts)
      expect(COMMAND_NAMES).toContain(/^setpoint ([a-z]+)\b/.exec(next)?.[1]);
    const namesOne = new RegExp(`setpoint (${COMMAND_NAMES.join('|')})\\b`);
    const others = named.filter(([, { hint, next = '' }]) => {
      const [command] = namesOne.exec(hint) ?? [];
      return command !== undefined && !next.startsWith(command);
    });
    expect(others.map(([code]) => code)).toEqual([]);
  });

  it.each(COMMAND_NAMES)('has an example of %s that it accepts', (name) => {
    const { example, flags } = commandEntry(name);
    expect(example).toContain(`setpoint ${name}`);
    const used = example.match(/(?<= )--?[a-z][a-z-]*/g) ?? [];
    const accepted = flags.flatMap((flag) => [flag, flagSpec(flag).short ?? flag]);
    expect(accepted).toEqual(expect.arrayContaining(used));
  });

  it.each(COMMAND_NAMES)('explains in the help of %s what its flags do', (name) => {
    const { flags, about = {} } = commandEntry(name);
    expect(flags).toEqual(expect.arrayContaining(Object.keys(about)));
    for (const flag of flags) expect(aboutFlag(name, flag), flag).not.toBe('');
  });

  it('uses every flag, and no short form twice in one command', () => {
    const used = new Set(COMMAND_NAMES.flatMap((name) => commandEntry(name).flags));
    expect(flagNames.filter((flag) => !used.has(flag))).toEqual([]);
    for (const name of COMMAND_NAMES) {
      const { flags } = commandEntry(name);
      const short = flags.flatMap((flag) => flagSpec(flag).short ?? []);
      expect([...flags, ...short]).toEqual([...new Set([...flags, ...short])]);
    }
  });

  it('is what the reference documents', () => {
    const reference = read('docs/reference/commands.md');
    for (const name of COMMAND_NAMES) expect(reference).toContain(`## ${name}\n`);
  });
});
