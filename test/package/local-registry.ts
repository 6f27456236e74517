import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pack } from './npm.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

export interface LocalRegistry {
  readonly url: string;
  /** The names of the requested packages. */
  readonly asked: ReadonlySet<string>;
  close(): void;
}

/**
 * An npm registry on loopback that holds what a package depends on at run time, directly or not, made from the folders that
 * are installed for it; anything else is 404.
 */
export async function startRegistry(root: string, home: string): Promise<LocalRegistry> {
  const folders = [...dependencyFolders(root)];
  const packed = await pack(folders, { cwd: root, home });
  const manifests = folders.map(manifestOf);
  const asked = new Set<string>();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    const tarball = packed.find(({ filename }) => path === `-/${filename}`);
    if (tarball !== undefined) {
      response.end(readFileSync(join(home, tarball.filename)));
      return;
    }
    asked.add(path);
    const versions = manifests.filter(({ name }) => name === path);
    response.writeHead(versions.length > 0 ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(packument(path, versions)));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    asked,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  function packument(name: string, versions: readonly Manifest[]) {
    const entries = versions.map((manifest) => {
      const { filename, integrity } =
        packed.find((one) => one.name === name && one.version === manifest.version) ?? {};
      return [
        manifest.version,
        { ...manifest, dist: { tarball: `${url}/-/${filename}`, integrity } },
      ];
    });
    return {
      name,
      'dist-tags': { latest: versions.at(-1)?.version },
      versions: Object.fromEntries(entries),
    };
  }
}

function dependencyFolders(folder: string, found = new Set<string>()): ReadonlySet<string> {
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {})) {
    const installed = installedFor(folder, name);
    if (found.has(installed)) continue;
    found.add(installed);
    dependencyFolders(installed, found);
  }
  return found;
}

/** Where Node finds a package that another one imports: in the nearest node_modules above it. */
function installedFor(folder: string, name: string): string {
  const here = join(folder, 'node_modules', name);
  return existsSync(here) ? here : installedFor(dirname(folder), name);
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}
