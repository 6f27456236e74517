import { fstatSync, writeSync } from 'node:fs';
import type { Stream } from './io.ts';

/**
 * stdout or stderr of this process. A terminal gets Node's own stream. A pipe, a file or a socket is written to directly: of a text that
 * a disk takes in part, which then is full, Node's stream for files drops the rest, and reports nothing. `failed` is told why a write
 * failed.
 */
export function processOutput(fd: 1 | 2, failed: (code: string) => void): Stream {
  if (process.platform === 'win32' || fstatSync(fd).isCharacterDevice()) return ofNode(fd, failed);
  let taken: Stream | null = null;
  return {
    get writableLength() {
      return taken?.writableLength ?? 0;
    },
    write(text, done) {
      if (taken !== null) return taken.write(text, done);
      const rest = writeAll(fd, Buffer.from(text), failed);
      if (rest === null) {
        done?.();
        return true;
      }
      // The other end does not keep up, and somebody made the pipe non-blocking: Node's stream waits for it.
      taken = ofNode(fd, failed);
      return taken.write(rest, done);
    },
  };
}

/** Writes as much as is taken; null if nothing is left to write. */
function writeAll(fd: number, bytes: Buffer, failed: (code: string) => void): Buffer | null {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
  } catch (thrown) {
    const { code = 'unknown' } = thrown as NodeJS.ErrnoException;
    if (code === 'EAGAIN') return rest;
    failed(code);
  }
  return null;
}

function ofNode(fd: 1 | 2, failed: (code: string) => void): Stream {
  const stream = fd === 1 ? process.stdout : process.stderr;
  stream.on('error', ({ code = 'unknown' }: NodeJS.ErrnoException) => failed(code));
  return stream;
}
