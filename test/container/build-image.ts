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
  const said: string[] = [];
  const stream = await dockerode.buildImage(
    { context: folder, src: readdirSync(folder) },
    { t: name, buildargs, networkmode: 'host', forcerm: true },
  );
  await new Promise<void>((resolve, reject) => {
    dockerode.modem.followProgress(
      stream,
      (error) => {
        const end = said.join('').split('\n').slice(-40).join('\n');
        if (error === null) resolve();
        else reject(new Error(`${name} could not be built: ${error.message}\n${end}`));
      },
      ({ stream = '' }: { readonly stream?: string }) => said.push(stream),
    );
  });
}
