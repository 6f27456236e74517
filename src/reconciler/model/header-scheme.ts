import type { Path } from './path.ts';

/** Schemes of an Authorization header, in the spellings that people use; the schema of the settings file has the same. */
const SCHEME = /^(?:[Bb]earer|[Bb]asic|[Tt]oken|ApiKey|Api-Key) (?=\S)/;

/** The scheme that a header's value begins with, and its space; empty if it begins with none. It is no secret: its credentials follow it. */
export function headerScheme(text: string): string {
  return SCHEME.exec(text)?.[0] ?? '';
}

/** Whether a path is that of a header's value. */
export function isHeaderPath(path: Path): boolean {
  return path.slice(0, -1).some((name) => /headers?$/i.test(name));
}

/** Whether a path is that of a header that has a scheme by its definition. */
export function isAuthorizationPath(path: Path): boolean {
  return isHeaderPath(path) && /authorization$/i.test(path.at(-1) ?? '');
}
