import type { Call } from '../call.ts';
import type { Json } from '../json.ts';
import type { Answer } from './answer.ts';

export type Methods = Readonly<Record<string, (call: Call) => Promise<Answer>>>;

/** The paths of a service with their methods, in the order in which they are tried. `{id}` is one part of a path. */
export type Routes = readonly (readonly [pattern: string, methods: Methods])[];

export interface Route {
  readonly methods: Methods;
  /** The part at `{id}`, decoded; empty if the pattern has none. */
  readonly id: string;
}

/** The first route of a path that has the method, else the first of the path. */
export function routeOf(routes: Routes, path: string, method: string): Route | undefined {
  let first: Route | undefined;
  for (const [pattern, methods] of routes) {
    const id = matchPath(pattern, path);
    if (id === undefined) continue;
    if (Object.hasOwn(methods, method)) return { methods, id };
    first ??= { methods, id };
  }
  return first;
}

/**
 * The part of a path at the pattern's `{id}`, percent-decoded; empty if the pattern has none. Undefined if the path does not
 * match, or cannot be decoded.
 */
export function matchPath(pattern: string, path: string): string | undefined {
  const [before = '', after] = pattern.split('{id}');
  if (after === undefined) return path === pattern ? '' : undefined;
  if (!path.startsWith(before) || !path.endsWith(after)) return undefined;
  const id = decoded(path.slice(before.length, path.length - after.length));
  return id === '' || id?.includes('/') === true ? undefined : id;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The `paths` of an OpenAPI document. */
export function openApiPaths(routes: Routes): Json {
  const entries = routes.map(([pattern, methods]) => {
    const names = Object.keys(methods).map((name) => [name.toLowerCase(), {}] as const);
    return [pattern, Object.fromEntries(names)] as const;
  });
  return Object.fromEntries(entries);
}
