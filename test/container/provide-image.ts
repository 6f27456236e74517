import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getContainerRuntimeClient } from 'testcontainers';
import type { TestProject } from 'vitest/node';
import { layOutBaseImage } from './base-image.ts';
import { buildImage } from './build-image.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The name of the image that the Dockerfile makes. */
    image: string;
  }
}

const root = join(import.meta.dirname, '../..');
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'];

/** Builds the image that every test here runs, from the project's Dockerfile, and removes it in the end. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { container } = await getContainerRuntimeClient();
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-image-'));
  const tag = randomUUID();
  const [image, ownBase] = [`localhost/setpoint:${tag}`, `localhost/setpoint-base:${tag}`];
  const remove = (name: string) => container.dockerode.getImage(name).remove({ force: true });
  try {
    const base = await pulledBase();
    if (base === undefined) {
      console.log(
        `No image can be pulled here: the base image is made of Node ${process.version}.`,
      );
      layOutBaseImage(join(folder, 'base'));
      await buildImage(join(folder, 'base'), ownBase);
    }
    layOutContext(join(folder, 'context'));
    const given = proxies.flatMap((name) => {
      const value = process.env[name] ?? process.env[name.toLowerCase()];
      return value === undefined ? [] : [[name, value] as const];
    });
    await buildImage(join(folder, 'context'), image, {
      ...Object.fromEntries(given),
      NODE_IMAGE: base ?? ownBase,
    });
    project.provide('image', image);
    return async () => {
      await remove(image);
      if (base === undefined) await remove(ownBase);
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The Dockerfile's own base image, pulled if it is not there yet; undefined if it is unavailable. */
async function pulledBase(): Promise<string | undefined> {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const [, base = ''] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
  const { container } = await getContainerRuntimeClient();
  const { dockerode } = container;
  const isThere = () =>
    dockerode
      .getImage(base)
      .inspect()
      .then(
        () => true,
        () => false,
      );
  if (await isThere()) return base;
  await dockerode.pull(base).then(
    (stream: NodeJS.ReadableStream) =>
      new Promise((resolve) => {
        dockerode.modem.followProgress(stream, resolve);
      }),
    () => undefined,
  );
  return (await isThere()) ? base : undefined;
}

/** What a build of the project's folder is handed: the Dockerfile, and what .dockerignore lets through by name. */
function layOutContext(folder: string): void {
  mkdirSync(folder);
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  const names = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  for (const name of ['Dockerfile', ...names])
    cpSync(join(root, name), join(folder, name), { recursive: true });
}
