// What the bundle contains of other packages: their notices, which their licences require in every copy, and a bill of materials. Both
// come from the bundler's own list of modules, so that neither names a package that is not shipped, or leaves one out.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a package contains of others without a notice of theirs. */
const PARTS = { undici: ['and of llhttp (MIT), in it: Copyright Fedor Indutny, 2018.'] };

/** The packages whose code is in the chunks, by name and version. Throws an Error if one has no licence text. */
export function findPackages(root, chunks) {
  const folders = new Set();
  for (const { modules } of chunks)
    for (const [id, { renderedLength }] of Object.entries(modules ?? {})) {
      const [folder] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll('\\', '/')) ?? [];
      if (folder !== undefined && renderedLength > 0) folders.add(folder);
    }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const packages = new Map();
  for (const folder of folders) {
    const { name, version, license } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    );
    const texts = readdirSync(folder)
      .filter((file) => /^(licen[cs]e|copying|notice)(\.|-|$)/i.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8').trim().replaceAll('\r\n', '\n'));
    if (texts.length === 0) throw new Error(`${name} ${version} has no licence text.`);
    const { integrity } = lock[folder.slice(folder.indexOf('node_modules/'))] ?? {};
    if (integrity === undefined) throw new Error(`${name} ${version} is not in package-lock.json.`);
    const found = { name, version, license, text: texts.join('\n\n'), integrity };
    packages.set(`${name}@${version}`, found);
  }
  return [...packages].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found);
}

const COPYRIGHT = /^[ \t]*Copyright\b.*(\d{4}|\(c\)|\[yyyy\]).*\n?/gm;
const TITLE = /^\s*(The )?(MIT|ISC) License( \(MIT\))?\s*/i;

/** The text of THIRD-PARTY-NOTICES.txt. Packages that differ in nothing but their copyright lines share the text of a licence. */
export function formatNotices(packages) {
  const byText = new Map();
  for (const one of packages) {
    const terms = one.text.replace(TITLE, '').replaceAll(COPYRIGHT, '').trim();
    const key = terms.replaceAll(/\s+/g, ' ');
    byText.set(key, { terms, same: [...(byText.get(key)?.same ?? []), one] });
  }
  const parts = [...byText.values()].map(({ terms, same }) => {
    const heads = same.map(({ name, version, license, text }) => {
      const lines = (text.match(COPYRIGHT) ?? []).filter((line) => !line.includes('[yyyy]'));
      const notices = [...lines.map((line) => line.trim()), ...(PARTS[name] ?? [])];
      return [`${name} ${version} (${license})`, ...notices].join('\n  ');
    });
    return `${heads.join('\n')}\n\n${terms}\n`;
  });
  const head = 'setpoint contains code of these packages, under these licences.\n';
  return [head, ...parts].join(`\n${'-'.repeat(72)}\n\n`);
}

/** A bill of materials, CycloneDX 1.6. */
export function formatBom(packages, { name, version, license }) {
  const component = (type, one) => ({
    type,
    'bom-ref': `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`,
    name: one.name,
    version: one.version,
    purl: `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`,
    licenses: [{ license: { id: one.license } }],
  });
  const components = packages.map((one) => {
    const [algorithm, digest] = one.integrity.split('-', 2);
    if (algorithm !== 'sha512') throw new Error(`${one.name} is locked by ${algorithm}.`);
    const content = Buffer.from(digest, 'base64').toString('hex');
    return { ...component('library', one), hashes: [{ alg: 'SHA-512', content }] };
  });
  const self = component('application', { name, version, license });
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: self },
    components,
    dependencies: [{ ref: self['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) }],
  };
  return `${JSON.stringify(bom)}\n`;
}
