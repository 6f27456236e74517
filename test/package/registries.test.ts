import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const root = join(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const NAMES = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'windows-x64'];

function write(names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-registries-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lines = names.map(
    (name, index) => `${String(index).repeat(64)}  setpoint-${version}-${name}.tar.gz\n`,
  );
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
  const args = [join(root, 'scripts/registries.mjs'), 'team/setpoint', folder];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  return { folder, status, stderr };
}

it('the formula has each archive of a release with its own hash', () => {
  const { folder, status } = write(NAMES);
  expect(status).toBe(0);
  const formula = readFileSync(join(folder, 'setpoint.rb'), 'utf8');
  const found = [...formula.matchAll(/url "(.*)"\n +sha256 "(\d)/g)].map(
    ([, url, sum]) => `${url?.split('/').slice(3).join('/')} ${sum}`,
  );
  const release = `team/setpoint/releases/download/v${version}/setpoint-${version}`;
  expect(found).toEqual(
    NAMES.slice(0, 4).map((name, index) => `${release}-${name}.tar.gz ${index}`),
  );
  const ruby = spawnSync('ruby', ['-c', join(folder, 'setpoint.rb')], { encoding: 'utf8' });
  if (ruby.error === undefined) expect(ruby.stderr + ruby.stdout).toBe('Syntax OK\n');
});

it('an archive that the release lacks is an error, and no formula is written', () => {
  const { status, stderr } = write(NAMES.slice(1));
  expect(status).toBe(1);
  expect(stderr).toContain(`SHA256SUMS has no setpoint-${version}-darwin-arm64.tar.gz.`);
});

it("the entry of SchemaStore names the schema by its id, and no file of another program's", () => {
  const { folder } = write(NAMES);
  const entry = JSON.parse(readFileSync(join(folder, 'schemastore.json'), 'utf8')) as {
    fileMatch: readonly string[];
    url: string;
  };
  const schema = JSON.parse(readFileSync(join(root, 'schemas/settings.schema.json'), 'utf8')) as {
    $id: string;
  };
  expect(Object.keys(entry)).toEqual(['name', 'description', 'fileMatch', 'url']);
  expect(entry.url).toBe(schema.$id);
  expect(entry.fileMatch.every((pattern) => pattern.startsWith('**/setpoint/'))).toBe(true);
});
