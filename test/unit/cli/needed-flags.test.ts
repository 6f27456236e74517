import { expect, it } from 'vitest';
import { buildProgram } from '../../../src/command/cli/run-command.ts';

/** What a command is given of a line, by a parser that was made for this line or for any. */
async function given(line: readonly string[], madeFor: readonly string[]): Promise<unknown> {
  const taken: unknown[] = [];
  const printed: string[] = [];
  const program = buildProgram(
    (text) => printed.push(text),
    async (name, flags, args) => void taken.push({ name, flags, args }),
    madeFor,
  );
  const refused = await program
    .parseAsync([...line], { from: 'user' })
    .then(() => null)
    .catch((thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown));
  return { taken, printed, refused };
}

it.each([
  'plan',
  'plan -e staging',
  'plan -e a --env=b -qv plan.json',
  'plan -fsettings.yaml --file other.yaml',
  'plan --env --all',
  'plan -o json=out.json --no-color --exit-code',
  'apply',
  'apply --yes --wait 0s',
  'apply -y --wait 5s --dry-run',
  'serve',
  'serve --port 0',
  'plan --help',
  'plan -h',
  'help plan',
  'plan --enf staging',
  'plan --all=yes',
  'plan -e',
  'plan -',
  'plan -- -e',
  'plan --limit -q',
  'get',
  'no-command --all',
])('setpoint %s is the same line to a parser that was made for it alone', async (text) => {
  const line = text.split(' ');
  expect(await given(line, line)).toEqual(await given(line, []));
});
