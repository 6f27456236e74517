/** Headers of routing, framing and content, and the one that asks for secrets in clear, which only the client sets. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-expose-secrets',
]);

/** Whether `server.headers` may not name a header, in whatever case. */
export function isReservedHeader(name: string): boolean {
  return RESERVED.has(name.toLowerCase());
}
