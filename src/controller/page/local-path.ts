/** A path of this page; the list for anything else. It is read twice: once without its dots, a path may begin with the name of a host. */
export function localPath(text: string | null): string {
  const path = parseLocalPath(text ?? '/');
  const isOurs = path !== null && parseLocalPath(path) === path && !/^\/login(?:[/?]|$)/.test(path);
  return isOurs ? path : '/';
}

/** The path and query of an address as a browser reads it here; null if it leads elsewhere. */
function parseLocalPath(text: string): string | null {
  const base = 'http://here.invalid';
  const url = URL.canParse(text, base) ? new URL(text, base) : null;
  return url?.origin === base ? url.pathname + url.search : null;
}
