import fc from 'fast-check';
import { expect, it } from 'vitest';
import { commandLine } from '../../src/command/cli/command-line.ts';
import {
  COMMAND_NAMES,
  commandEntry,
  type CommandName,
} from '../../src/command/cli/command-table.ts';
import { FLAGS, flagSpec, type FlagName } from '../../src/command/cli/flag-table.ts';
import { buildProgram } from '../../src/command/cli/program.ts';
import { propertyRuns } from '../fixture/property-runs.ts';

/** What commander makes of a line, or null if it refuses it or prints help. */
async function commanderLine(argv: readonly string[]) {
  const io = { stdout: { write: () => true }, env: {} };
  const program = buildProgram(io as never, () => {}, argv[0]);
  const [command] = program.commands.filter((one) => one.name() === argv[0]);
  command?.action(() => {});
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return { name: argv[0], flags: command?.opts(), args: command?.args };
  } catch {
    return null;
  }
}

const VALUES = fc.constantFrom('x', 'a b', 'json', 'a=b', '-x', '--all', '-', '', '1', '-1', '=x');
const name = fc.constantFrom<CommandName>(...COMMAND_NAMES);
const anyFlag = fc.constantFrom<FlagName>(...(Object.keys(FLAGS) as FlagName[]));

/** One flag as a person may write it: with its value apart, behind a sign, or attached; short ones together. */
function written(flag: fc.Arbitrary<FlagName>): fc.Arbitrary<readonly string[]> {
  return fc
    .tuple(flag, VALUES, fc.constantFrom('apart', 'sign', 'short', 'attached', 'bare', 'group'))
    .map(([one, value, way]) => {
      const { short = one } = flagSpec(one);
      if (way === 'sign') return [`${one}=${value}`];
      if (way === 'bare') return [one];
      if (way === 'attached') return [`${short}${value}`];
      if (way === 'group') return [`-q${short.slice(1)}`, value];
      const takesValue = flagSpec(one).value !== undefined;
      return [way === 'short' ? short : one, ...(takesValue ? [value] : [])];
    });
}

const lines = name.chain((command) => {
  const own = commandEntry(command).flags;
  const flag =
    own.length === 0
      ? anyFlag
      : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...own) }, anyFlag);
  const word = fc.oneof(
    { weight: 6, arbitrary: written(flag) },
    VALUES.map((value) => [value]),
    fc.constantFrom(['--'], ['--help'], ['-h'], ['-V'], ['help']),
  );
  return fc.array(word, { maxLength: 5 }).map((words) => [command, ...words.flat()]);
});

it('a line that is read without commander means what commander makes of it', async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(lines, async (argv) => {
      const line = commandLine(argv);
      if (line === null) return;
      read += 1;
      expect({ ...line, flags: { ...line.flags } }).toEqual(await commanderLine(argv));
    }),
    { numRuns: propertyRuns(1000) },
  );
  expect(read).toBeGreaterThan(100);
});

it.each([
  'validate',
  'validate -f envs/*.yaml -e prod',
  'plan',
  'plan -e staging --exit-code -o json=plan.json -o text',
  'plan plan.json --no-color',
  'drift --all -qv --fail-on drift --base old.yaml',
  'apply -e production --yes --no-wait',
  'apply --yes --no-wait --wait 5s',
  'apply --wait=5s --yes',
  'get settings,sandboxes -o json',
  'serve --port 0',
  'comment a.json b.json --pr 3',
])('setpoint %s is read without commander', async (text) => {
  const argv = text.split(' ');
  expect(commandLine(argv)).toEqual(await commanderLine(argv));
  expect(commandLine(argv)).not.toBeNull();
});
