/** Files of a branch that are links tell nothing of what lies outside of the working directory. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { folderWith } from '../../fixture/command.ts';
import { setpoint } from '../../fixture/command-here.ts';

let folder: ReturnType<typeof folderWith>;
beforeEach(() => {
  folder = folderWith({ 'hosts.yml': 'canary_host: { canary_token: canary-value }\n' });
  mkdirSync(join(folder.path, 'checkout'));
});
afterEach(() => folder.remove());

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  setpoint(args, { cwd: join(folder.path, 'checkout'), env });

describe('a settings file that is a link to a file of the machine', () => {
  it.each([['validate'], ['plan'], ['validate', '-f', 'envs/*.yaml']])(
    'is refused in a pipeline, and no key of it is shown: %s %s %s',
    async (...args) => {
      mkdirSync(join(folder.path, 'checkout/envs'));
      for (const at of ['settings.yaml', 'envs/one.yaml'])
        symlinkSync(join(folder.path, 'hosts.yml'), join(folder.path, 'checkout', at));
      const { code, stdout, stderr } = await run(args, { CI: 'true' });
      expect(code).toBe(3);
      expect(stdout + stderr).toContain('is a link to a file elsewhere');
      expect(stdout + stderr).not.toContain('canary');
    },
  );

  it('is read if it leads to another file of the working directory, or outside of a pipeline', async () => {
    const text = 'version: 1\nserver: { url: "embedded:" }\n';
    writeFileSync(join(folder.path, 'checkout/other.yaml'), text);
    symlinkSync('other.yaml', join(folder.path, 'checkout/settings.yaml'));
    expect((await run(['validate'], { CI: 'true' })).code).toBe(0);
    writeFileSync(join(folder.path, 'outside.yaml'), text);
    symlinkSync('../outside.yaml', join(folder.path, 'checkout/linked.yaml'));
    expect((await run(['validate', '-f', 'linked.yaml'])).code).toBe(0);
  });
});

it('ca_file tells a file that is not there from no other file', async () => {
  const messages: string[] = [];
  mkdirSync(join(folder.path, 'a-folder'));
  for (const name of ['hosts.yml', 'not-there.pem', 'a-folder']) {
    writeFileSync(
      join(folder.path, 'checkout/settings.yaml'),
      `version: 1\nserver: { url: "https://127.0.0.1:9", ca_file: "../${name}" }\nsettings: { language: en }\n`,
    );
    const { stderr } = await run(['plan']);
    messages.push(stderr.replaceAll(name, 'NAME'));
  }
  expect(messages[0]).toContain('contains no certificates in PEM form');
  expect(new Set(messages).size).toBe(1);
});
