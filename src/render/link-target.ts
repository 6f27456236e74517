/** Where a link may lead: https, without a name and password; null for anything else. */
export function linkTarget(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const safe = url?.protocol === 'https:' && url.username === '' && url.password === '';
  return safe ? url : null;
}
