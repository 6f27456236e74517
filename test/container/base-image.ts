import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const certificates = '/etc/ssl/certs/ca-certificates.crt';

/**
 * Lays out a base image for the Dockerfile, made of this machine's own Node, npm and what they need, for machines that can pull no
 * image. The folder is then the context of a build.
 */
export function layOutBaseImage(folder: string): void {
  const rootfs = join(folder, 'rootfs');
  const programs: readonly (readonly [from: string, to: string])[] = [
    [process.execPath, '/usr/bin/node'],
    ['/bin/sh', '/bin/sh'],
    ['/usr/bin/env', '/usr/bin/env'],
    ['/bin/chmod', '/usr/bin/chmod'],
    ['/usr/bin/install', '/usr/bin/install'],
  ];
  for (const [from, to] of programs) copy(from, join(rootfs, to));
  const linked = [...programs.map(([from]) => from), ...bindings()];
  for (const library of librariesOf(linked)) copy(library, join(rootfs, library));
  copy(join(npm('root', '--global'), 'npm'), join(rootfs, 'usr/lib/node_modules/npm'));
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(rootfs, 'usr/bin/npm'));
  const trusted = process.env['NODE_EXTRA_CA_CERTS'] ?? certificates;
  if (existsSync(trusted)) copy(trusted, join(rootfs, certificates));
  writeFileSync(
    join(folder, 'Dockerfile'),
    `FROM scratch
COPY rootfs /
ENV PATH=/usr/bin:/bin NODE_EXTRA_CA_CERTS=${certificates} npm_config_registry=${npm('config', 'get', 'registry')}
`,
  );
}

/** The bundler's native parts: the build loads them, and they need libraries of their own. */
function bindings(): readonly string[] {
  const scope = join(root, 'node_modules/@rolldown');
  return readdirSync(scope)
    .filter((name) => name.startsWith('binding-'))
    .flatMap((name) =>
      readdirSync(join(scope, name))
        .filter((file) => file.endsWith('.node'))
        .map((file) => join(scope, name, file)),
    );
}

function librariesOf(programs: readonly string[]): ReadonlySet<string> {
  const listed = execFileSync('ldd', programs, { encoding: 'utf8' });
  return new Set([...listed.matchAll(/(\/\S+) \(0x/g)].flatMap(([, path]) => path ?? []));
}

function npm(...args: readonly string[]): string {
  return execFileSync('npm', args, { encoding: 'utf8', cwd: root, stdio: 'pipe' }).trim();
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, dereference: true });
}
