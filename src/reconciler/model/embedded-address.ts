/** How the embedded service can speak of its settings: the dialects of a service. */
export const EMBEDDED_DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

export type EmbeddedDialect = (typeof EMBEDDED_DIALECTS)[number];

/** The parts of an address of the embedded service: `embedded:`, `embedded:PATH`, either with `?dialect=NAME` at its end. */
export interface EmbeddedAddress {
  /** The file of the store; empty for the one beside the settings. */
  readonly path: string;
  readonly dialect: EmbeddedDialect;
}

const SCHEME = 'embedded:';
const MARK = '?dialect=';

export function isEmbedded(url: string): boolean {
  return url.startsWith(SCHEME);
}

/** The parts of an address; null if it is not one of the embedded service, or names a dialect that there is not. */
export function embeddedAddress(url: string): EmbeddedAddress | null {
  if (!isEmbedded(url)) return null;
  const rest = url.slice(SCHEME.length);
  const at = rest.lastIndexOf(MARK);
  if (at < 0) return { path: rest, dialect: 'settings-v0' };
  const named = rest.slice(at + MARK.length);
  const dialect = EMBEDDED_DIALECTS.find((one) => one === named);
  return dialect === undefined ? null : { path: rest.slice(0, at), dialect };
}
