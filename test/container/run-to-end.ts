import { getContainerRuntimeClient, type TestContainer } from 'testcontainers';
import type { Ended } from '../fixture/command.ts';

/** Starts a container, waits until its process has ended, and removes it. */
export async function runToEnd(container: TestContainer): Promise<Ended> {
  const started = await container.start();
  try {
    return await endOf(started.getId());
  } finally {
    await started.stop();
  }
}

/** How a container's process ends, or has ended, and all it has printed. */
export async function endOf(id: string): Promise<Ended> {
  const { container } = await getContainerRuntimeClient();
  const handle = container.getById(id);
  const { StatusCode: code } = (await handle.wait()) as { readonly StatusCode: number };
  const [stdout, stderr] = [
    textOf(await handle.logs({ stdout: true })),
    textOf(await handle.logs({ stderr: true })),
  ];
  return { code, stdout, stderr };
}

/** The log of a container without a terminal: frames, each with a head of 8 bytes whose last 4 are its length. */
function textOf(log: Buffer): string {
  const frames: Buffer[] = [];
  for (let at = 0; at < log.length; at += 8 + log.readUInt32BE(at + 4))
    frames.push(log.subarray(at + 8, at + 8 + log.readUInt32BE(at + 4)));
  return Buffer.concat(frames).toString();
}
