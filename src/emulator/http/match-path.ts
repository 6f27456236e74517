/**
 * What stands in a path where the pattern has `{id}`, percent-decoded; empty where the pattern has none. Undefined where
 * the path is another, or cannot be decoded.
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
