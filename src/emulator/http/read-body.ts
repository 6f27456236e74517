import type { IncomingMessage } from 'node:http';

const maxBodyBytes = 1024 * 1024;

/**
 * The body's bytes, or undefined where there are more than 1 MiB of them. What is too long is read to its end and thrown
 * away, since a client that is still sending may not see an early answer.
 */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= maxBodyBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size <= maxBodyBytes ? Buffer.concat(chunks) : undefined;
}
