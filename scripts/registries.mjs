// Writes what registries take of a release: node scripts/registries.mjs OWNER/NAME FOLDER, where FOLDER has the files of the release and
// their SHA256SUMS. Adds setpoint.rb (a Homebrew formula of the executables) and schemastore.json (an entry of SchemaStore's catalog).
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [repository = '', folder = '.'] = process.argv.slice(2);
if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
  console.error('Usage: node scripts/registries.mjs OWNER/NAME FOLDER');
  process.exit(2);
}
const root = join(import.meta.dirname, '..');
const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const schema = JSON.parse(readFileSync(join(root, 'schemas/settings.schema.json'), 'utf8'));
const sums = new Map(
  readFileSync(join(folder, 'SHA256SUMS'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(/ [ *]/, 2).toReversed()),
);

/** Homebrew's words for systems and processors, with those of the archives. */
const SYSTEMS = [
  ['macos', 'darwin'],
  ['linux', 'linux'],
];
const PROCESSORS = [
  ['arm', 'arm64'],
  ['intel', 'x64'],
];

function urlOf(archive) {
  const sum = sums.get(archive);
  if (sum === undefined) throw new Error(`SHA256SUMS has no ${archive}.`);
  const address = `https://github.com/${repository}/releases/download/v${version}/${archive}`;
  return [`url "${address}"`, `sha256 "${sum}"`];
}

function block(opening, lines) {
  return [opening, ...lines.map((line) => (line === '' ? '' : `  ${line}`)), 'end'];
}

const archives = SYSTEMS.flatMap(([system, name]) => [
  '',
  ...block(
    `on_${system} do`,
    PROCESSORS.flatMap(([processor, word]) =>
      block(`on_${processor} do`, urlOf(`setpoint-${version}-${name}-${word}.tar.gz`)),
    ),
  ),
]);
const settings = ['version: 1', 'server: { url: "embedded:" }', 'settings: { language: en }'];
const formula = block('class Setpoint < Formula', [
  `desc "${description.split(':')[0]}"`,
  `homepage "https://github.com/${repository}"`,
  `version "${version}"`,
  'license "MIT"',
  ...archives,
  '',
  ...block('def install', [
    'bin.install "setpoint"',
    'prefix.install Dir["*.txt"], Dir["*.json"]',
    'generate_completions_from_executable(bin/"setpoint", "completion", shells: [:bash, :zsh, :fish])',
  ]),
  '',
  ...block('test do', [
    `(testpath/"settings.yaml").write <<~YAML`,
    ...settings.map((line) => `  ${line}`),
    'YAML',
    'assert_match "1 to set", shell_output("#{bin}/setpoint plan")',
  ]),
]);
writeFileSync(join(folder, 'setpoint.rb'), `${formula.join('\n')}\n`);

// settings.yaml is a name of many programs: only one in a folder of this name is taken for setpoint's.
const entry = {
  name: 'setpoint',
  description,
  fileMatch: ['**/setpoint/settings.yaml', '**/setpoint/settings.yml'],
  url: schema.$id,
};
writeFileSync(join(folder, 'schemastore.json'), `${JSON.stringify(entry, null, 2)}\n`);
