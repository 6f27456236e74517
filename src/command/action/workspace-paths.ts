import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { FailureDocument } from '../../reconciler/model/error.ts';
import type { OutcomeDocument } from '../../reconciler/model/outcome.ts';
import type { PlanDocument } from '../../reconciler/model/plan.ts';
import type { ValidationDocument } from '../../reconciler/model/documents.gen.ts';

// GitHub shows annotations at paths from the root of the repository; those in documents are from the working directory.

export function planAtRoot(document: PlanDocument): PlanDocument {
  return {
    ...document,
    environments: document.environments.map((environment) => ({
      ...environment,
      changes: changesAtRoot(environment.changes),
    })),
  };
}

export function outcomeAtRoot(document: OutcomeDocument): OutcomeDocument {
  return {
    ...document,
    environments: document.environments.map((environment) => ({
      ...environment,
      changes: changesAtRoot(environment.changes),
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

function changesAtRoot<C extends { readonly source: { readonly file: string } | null }>(
  changes: readonly C[],
): readonly C[] {
  return changes.map((change) => ({
    ...change,
    source: change.source === null ? null : atRoot(change.source),
  }));
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
