/** A file that extends several bases: each over those before it, and the file over all. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';

let folder: ReturnType<typeof folderWith>;
beforeEach(() => {
  folder = folderWith({
    'one.yaml':
      'version: 1\nsettings: { language: en, agent: One, max_iterations: 1 }\nsecrets: { A: "${env:A}" }\n',
    'two.yaml':
      'version: 1\nsettings: { agent: Two, max_iterations: 2 }\nsecrets: { B: "${env:B}" }\n',
    'settings.yaml':
      'version: 1\nextends: [one.yaml, two.yaml]\nserver: { url: "embedded:" }\nsettings: { max_iterations: 3 }\n',
  });
});
afterEach(() => folder.remove());

const run = (args: readonly string[]) =>
  setpoint(args, { cwd: folder.path, env: { A: 'a-value', B: 'b-value' } });
const write = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);

it('merges them in order, and explain shows the file of each value', async () => {
  const { stdout } = await run(['explain']);
  expect(stdout).toMatch(/language: en +# one\.yaml:2/);
  expect(stdout).toMatch(/agent: Two +# two\.yaml:2/);
  expect(stdout).toMatch(/max_iterations: 3 +# settings\.yaml:4/);
  expect(stdout).toMatch(/A: .*# one\.yaml:3/);
  expect(stdout).toMatch(/B: .*# two\.yaml:3/);
  const one = await run(['explain', 'agent', '--offline']);
  expect(one.stdout).toContain('two.yaml:2');
  expect(one.stdout).toContain('in the base file');
});

it('pull writes a value into the file that has it', async () => {
  expect((await run(['apply', '--yes'])).code).toBe(0);
  write(
    'two.yaml',
    'version: 1\nsettings: { agent: Other, max_iterations: 2 }\nsecrets: { B: "${env:B}" }\n',
  );
  expect((await run(['pull'])).code).toBe(0);
  expect(readFileSync(join(folder.path, 'two.yaml'), 'utf8')).toContain(
    'agent: Two, max_iterations: 2',
  );
});

it('-f FOLDER takes none of them as a file of its own', async () => {
  expect(await run(['validate', '-f', '.'])).toMatchObject({
    code: 0,
    stdout: 'Valid: default.\n',
  });
});

it.each([
  ['twice', '[one.yaml, ./one.yaml]', /settings\.yaml:2:\d+ .*\n +This base is named twice/],
  [
    'absent',
    '[one.yaml, three.yaml]',
    /settings\.yaml:2:21 .*\n +No such file under the working directory/,
  ],
  ['outside', '[one.yaml, ../two.yaml]', /No such file under the working directory/],
])('reports one that is %s at its place', async (_, bases, words) => {
  write('settings.yaml', `version: 1\nextends: ${bases}\nserver: { url: "embedded:" }\n`);
  const { code, stdout, stderr } = await run(['validate']);
  expect(code).toBe(3);
  expect(stdout + stderr).toMatch(words);
});

it('refuses in each of them what a base cannot have', async () => {
  write('two.yaml', 'version: 1\nserver: { url: "embedded:" }\n');
  const { code, stdout, stderr } = await run(['validate']);
  expect(code).toBe(3);
  expect(stdout + stderr).toMatch(/two\.yaml:2:1 .*unknown-key/);
});
