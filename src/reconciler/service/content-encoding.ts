import { foreignCode, withoutText, type WireFault } from './wire-fault.ts';

export type ContentEncoding = 'identity' | 'gzip' | 'deflate' | 'br';

/** The one encoding of a body; null if there are several, or one that is not supported. */
export function contentEncoding(header: string | undefined): ContentEncoding | null {
  const names = (header ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  if (names.length > 1) return null;
  const [name = 'identity'] = names;
  switch (name) {
    case 'identity':
    case 'gzip':
    case 'deflate':
    case 'br':
      return name;
    case 'x-gzip':
      return 'gzip';
    default:
      return null;
  }
}

/** Unpacks a body, and stops as soon as it is larger than `most` bytes: what is packed may be a bomb. */
export async function unpack(
  bytes: Uint8Array,
  encoding: ContentEncoding,
  most: number,
): Promise<Uint8Array | WireFault> {
  if (encoding === 'identity') return bytes;
  const zlib = await import('node:zlib');
  const options = { maxOutputLength: most };
  return new Promise((resolve) => {
    const done = (error: Error | null, unpacked: Uint8Array) =>
      resolve(error === null ? unpacked : unpackFault(error));
    switch (encoding) {
      case 'gzip':
        return zlib.gunzip(bytes, options, done);
      case 'deflate':
        return zlib.inflate(bytes, options, done);
      case 'br':
        return zlib.brotliDecompress(bytes, options, done);
    }
  });
}

function unpackFault(error: Error): WireFault {
  const tooLarge = foreignCode(error) === 'ERR_BUFFER_TOO_LARGE';
  return {
    kind: tooLarge ? 'body-too-large' : 'undecodable',
    phase: 'body',
    cause: withoutText(error),
  };
}
