import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { FailureDocument } from '../../reconciler/model/error.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';

// GitHub shows annotations at paths from the root of the repository; those in documents are from the working directory.

interface Placed {
  readonly source: { readonly file: string } | null;
}

/** A document with the places of its changes. */
export function changesAtRoot<
  C extends Placed,
  E extends { readonly changes: readonly C[] },
  D extends { readonly environments: readonly E[] },
>(document: D & { readonly environments: readonly (E & { readonly changes: readonly C[] })[] }): D {
  const placed = (change: C): C => ({
    ...change,
    source: change.source === null ? null : atRoot(change.source),
  });
  return {
    ...document,
    environments: document.environments.map((environment) => ({
      ...environment,
      changes: environment.changes.map(placed),
    })),
  };
}

export function validationAtRoot(document: ValidationDocument): ValidationDocument {
  return { ...document, diagnostics: document.diagnostics.map(atRoot) };
}

export function failureAtRoot(document: FailureDocument): FailureDocument {
  const { diagnostics } = document.error;
  if (diagnostics === undefined) return document;
  return { error: { ...document.error, diagnostics: diagnostics.map(atRoot) } };
}

function atRoot<T extends { readonly file: string }>(place: T): T {
  const path = relative(repositoryRoot(), resolve(place.file));
  return path.startsWith('..') ? place : { ...place, file: path };
}

/** The path of a file from the root of the repository, links resolved; null if it is outside. */
export function pathInRepository(file: string): string | null {
  const path = relative(realpathSync(repositoryRoot()), realpathSync(file));
  return path === '' || path.startsWith('..') || isAbsolute(path)
    ? null
    : path.replaceAll('\\', '/');
}

/** The root of the checkout: it may be a folder in the workspace. */
function repositoryRoot(): string {
  let folder = process.cwd();
  while (!existsSync(join(folder, '.git')) && dirname(folder) !== folder) folder = dirname(folder);
  return existsSync(join(folder, '.git'))
    ? folder
    : (process.env['GITHUB_WORKSPACE'] ?? process.cwd());
}
