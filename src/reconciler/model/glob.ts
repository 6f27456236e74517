/**
 * Whether one of the globs matches a text as a whole; `*` matches any characters but a slash. Slashes at a glob's end do not
 * count. Without backtracking: each part between two stars is searched for once, from left to right, so that neither a glob nor
 * a text takes more steps than the product of their lengths.
 */
export function matches(text: string, globs: readonly string[]): boolean {
  return globs.some((glob) => globMatcher(glob)(text));
}

/** The same for one glob and many texts. */
export function globMatcher(glob: string): (text: string) => boolean {
  const [first = '', ...rest] = withoutSlashes(glob).split('*');
  const last = rest.pop();
  return last === undefined
    ? (text) => text === first
    : (text) => matchesParts(text, first, rest, last);
}

function matchesParts(
  text: string,
  first: string,
  between: readonly string[],
  last: string,
): boolean {
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of between) {
    const found = text.indexOf(part, at);
    if (found === -1 || crosses(text, at, found)) return false;
    at = found + part.length;
  }
  return at <= end && !crosses(text, at, end);
}

/**
 * Taking the first place of a part is right: a later one that leaves out a slash does not exist, because the star before it
 * would have to take in that slash.
 */
function crosses(text: string, from: number, to: number): boolean {
  const slash = text.indexOf('/', from);
  return slash !== -1 && slash < to;
}

function withoutSlashes(glob: string): string {
  let end = glob.length;
  while (end > 0 && glob[end - 1] === '/') end -= 1;
  return glob.slice(0, end);
}
