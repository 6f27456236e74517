import { onceFor } from './cache.ts';

/** A place under `settings`: keys, and identities of list entries. */
export type Path = readonly string[];

const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const PLAIN_IDENTITY = /^[!#-Z\\^-~]+$/;
const POSITION = /^(?:0|[1-9]\d*)$/;

/** The path as people write it and flags accept it: `mcp_config.sse_servers[https://x/sse].api_key`, `tools[0]`, `["a.b"]` for odd keys. */
export function formatPath(path: Path): string {
  let text = '';
  for (const [index, segment] of path.entries()) {
    const identity = index === 2 && path[0] === 'mcp_config';
    if (POSITION.test(segment) || (identity && PLAIN_IDENTITY.test(segment)))
      text += `[${segment}]`;
    else if (identity || !PLAIN_KEY.test(segment)) text += `[${quote(segment)}]`;
    else text += index === 0 ? segment : `.${segment}`;
  }
  return text;
}

/** The segments of a path as a person wrote it; null if it is not a path. */
export function parsePath(text: string): Path | null {
  const segments: string[] = [];
  const token = /\.?([A-Za-z_][A-Za-z0-9_-]*)|\[("(?:[^"\\]|\\.)*")\]|\[([^[\]"]+)\]/y;
  while (token.lastIndex < text.length) {
    const start = token.lastIndex;
    const match = token.exec(text);
    if (match === null) return null;
    const dotted = text[start] === '.';
    if (match[1] !== undefined && dotted === (start === 0)) return null;
    const segment = match[1] ?? match[3] ?? unquote(match[2] ?? '');
    if (segment === null) return null;
    segments.push(segment);
  }
  return segments.length === 0 ? null : segments;
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((segment, index) => segment === b[index]);
}

/** Reports whether a path is the other one or is under it. */
export function isWithin(path: Path, outer: Path): boolean {
  return outer.length <= path.length && outer.every((segment, index) => segment === path[index]);
}

/** The path of a field by its name: a native one is called by its path. */
export function pathNamed(name: string): Path {
  return name.includes('.') || name.includes('[') ? (parsePath(name) ?? [name]) : [name];
}

/** A segment in quotes, all but printable ASCII escaped, so that what is shown can be typed. */
function quote(segment: string): string {
  const escape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(segment).replaceAll(/[^ -~]/g, escape);
}

function unquote(text: string): string | null {
  try {
    return String(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A key for maps: the same for the same path, and for no other. */
export function formatPathKey(path: Path): string {
  return JSON.stringify(path);
}

/** The keys of a list of paths, which is searched for every path of an answer. */
const toPathKeys = onceFor(
  (paths: readonly Path[]): ReadonlySet<string> => new Set(paths.map(formatPathKey)),
);

/** The path of the first of those that are called alike: without the `#2` of the second. */
export function firstAlike(path: Path): Path {
  return [...path.slice(0, -1), (path.at(-1) ?? '').replace(/#\d+$/, '')];
}

/** Reports whether a path is unmanaged: it is listed, or a path above it is, or, for a second entry alike, the first. */
export function isUnmanaged(unmanaged: readonly Path[], path: Path): boolean {
  if (unmanaged.length === 0) return false;
  const keys = toPathKeys(unmanaged);
  const first = firstAlike(path);
  return (
    keys.has(formatPathKey(first)) ||
    Array.from({ length: path.length + 1 }, (_, index) => path.slice(0, index)).some((above) =>
      keys.has(formatPathKey(above)),
    )
  );
}

/** A path as a JSON pointer (RFC 6901). */
export function pointerTo(path: Path): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The path that a JSON pointer writes. */
export function pathOfPointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A place in a file: lines and columns count from 1, columns in UTF-16 units. */
export interface Source {
  /** The path of the file. */
  readonly file: string;
  /** The line, from 1. */
  readonly line: number;
  /** The column, from 1, in UTF-16 units. */
  readonly column: number;
}
