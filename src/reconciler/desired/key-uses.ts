import { parsedUrl } from '../model/address.ts';
import { secretName } from '../model/ports.ts';
import type { ServerSettings } from '../model/state.ts';
import { wholeReference, type Reference } from './references.ts';
import type { Target } from './target.ts';

/** The variables and files that are sent as keys in one run, and the origin of each. */
export class KeyUses {
  readonly #fileOf: (path: string) => string;
  readonly #used = new Map<string, { readonly origin: string; readonly target: string }>();

  /** `fileOf` identifies the file that a path leads to. */
  constructor(fileOf: (path: string) => string) {
    this.#fileOf = fileOf;
  }

  /** Adds the keys of a target. Returns the first variable or file that is sent to another origin as well, or null. */
  add(
    { name }: Pick<Target, 'name'>,
    server: ServerSettings,
  ): { readonly key: string; readonly targets: readonly string[] } | null {
    const origin = server.url.startsWith('embedded:') ? server.url : parsedUrl(server.url).origin;
    for (const secret of [server.apiKey, ...server.headers.values()]) {
      const reference = wholeReference(secret?.ref ?? '');
      if (reference === null) continue;
      const source = sourceOf(reference, this.#fileOf);
      const other = this.#used.get(source);
      if (other !== undefined && other.origin !== origin)
        return { key: referenceName(reference), targets: [other.target, name] };
      if (other === undefined) this.#used.set(source, { origin, target: name });
    }
    return null;
  }
}

function sourceOf(reference: Reference, fileOf: (path: string) => string): string {
  switch (reference.kind) {
    case 'env':
      return `env:${reference.name}`;
    case 'file':
      return `file:${fileOf(reference.path)}`;
    case 'secret':
      return `secret:${secretName(reference)}`;
  }
}

function referenceName(reference: Reference): string {
  switch (reference.kind) {
    case 'env':
      return reference.name;
    case 'file':
      return `the file ${reference.path}`;
    case 'secret':
      return `the secret ${secretName(reference)}`;
  }
}
