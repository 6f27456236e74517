import { readdirSync } from 'node:fs';
import { getContainerRuntimeClient } from 'testcontainers';

/**
 * Builds the folder's Dockerfile, with this machine's own network, so that what npm reaches here it reaches there.
 * Rejects with the end of the build's output.
 */
export async function buildImage(
  folder: string,
  name: string,
  buildargs: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { container } = await getContainerRuntimeClient();
  const { dockerode } = container;
  const output: string[] = [];
  const stream = await dockerode.buildImage(
    { context: folder, src: readdirSync(folder) },
    { t: name, buildargs, networkmode: 'host', forcerm: true },
  );
  const failed = await new Promise<Error | null>((resolve) => {
    dockerode.modem.followProgress(
      stream,
      resolve,
      ({ stream = '' }: { readonly stream?: string }) => output.push(stream),
    );
  });
  // An engine may end its answer without a word of what went wrong.
  const problem =
    failed ??
    (await dockerode
      .getImage(name)
      .inspect()
      .then(() => null, asError));
  if (problem === null) return;
  const end = output.join('').split('\n').slice(-40).join('\n');
  throw new Error(`${name} could not be built: ${problem.message}\n${end}`);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
