/** A path as a URI reference: relative where the path is, forward slashes, all else in percent. */
export function artifactUri(path: string): string {
  const drive = /^[A-Za-z]:[\\/]/.test(path);
  const segments = path.replaceAll('\\', '/').split('/').map(encoded);
  const uri = segments.join('/');
  if (drive) return `file:///${uri}`;
  return uri.startsWith('/') ? `file://${uri}` : uri;
}

function encoded(segment: string): string {
  return encodeURIComponent(Buffer.from(segment).toString());
}
