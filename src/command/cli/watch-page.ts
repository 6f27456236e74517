import type { CredentialSource } from '../../controller/page/credentials.ts';
import {
  credentialFiles,
  listenOptions,
  pageCertificate,
  probeOptions,
  watchToken,
  type ListenFlags,
} from '../../controller/page/listen-options.ts';
import type { ControllerNote } from '../../controller/watch/conditions.ts';
import type { Controller } from '../../controller/watch/controller.ts';
import type { Notices } from '../../controller/watch/notices/notices.ts';
import { SetpointError, usageError } from '../../reconciler/model/error.ts';
import type { Variables } from '../../reconciler/model/ports.ts';
import type { DiskAnswers } from '../../reconciler/host/disk-answers.ts';
import { readText } from '../../reconciler/host/read-text.ts';
import { SYSTEM_CLOCK } from '../../reconciler/host/this-process.ts';

/** The page of --listen and the probes of --probes, with metrics and health; null without both. */
export async function pageFor(
  flags: ListenFlags,
  controller: Controller,
  tools: {
    readonly notices: Notices['counts'] | null;
    readonly env: Variables;
    readonly disks: DiskAnswers;
    readonly note: (note: ControllerNote) => void;
    readonly begun: (message: string) => void;
  },
): Promise<{ close(): Promise<void> } | null> {
  const { notices, env, disks, note, begun } = tools;
  const options = listenOptions(flags, env, credentialText);
  const probing = probeOptions(flags);
  if (options === null && probing === null) return null;
  const { servePage, serveProbes } = await import('../../controller/page/serve-page.ts');
  const { createMetrics: metricsOf } = await import('../../controller/watch/telemetry/metrics.ts');
  const metrics = metricsOf(controller, notices);
  const serving = {
    clock: SYSTEM_CLOCK,
    failed: ({ message }: SetpointError) =>
      note({ severity: 'warning', message: `The page: ${message}` }),
  };
  const doors: { close(): Promise<void> }[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(doors.map((door) => door.close()));
    metrics.close();
  };
  try {
    if (probing !== null) {
      const { withMetrics, ...place } = probing;
      const probes = await serveProbes(controller, {
        ...place,
        ...serving,
        metrics: withMetrics ? metrics.text : null,
      });
      doors.push(probes);
      begun(`${withMetrics ? 'Probes and metrics' : 'Probes'} are at ${probes.url}`);
    }
    if (options !== null) {
      const page = await servePage(controller, {
        ...options,
        ...serving,
        metrics: metrics.text,
        source: credentialSource(flags, env, disks),
        taken: (kind) => note({ severity: 'info', message: `The page has another ${kind} now.` }),
      });
      doors.push(page);
      begun(`The page is at ${page.url}`);
    }
    return { close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

const LARGEST = 1024 * 1024;

/** The text of a file of the page. Throws if it cannot be read; no message quotes it. */
export function credentialText(path: string, what: 'PEM' | 'token'): string {
  const read = readText(path, LARGEST);
  if ('text' in read) return read.text;
  throw usageError(`${path} is not a ${what} file.`);
}

/** Reads the files of the page again; one whose disk hangs is an error, and stops nothing else. */
export function credentialSource(
  flags: ListenFlags,
  env: Variables,
  disks: DiskAnswers,
): CredentialSource {
  const files = credentialFiles(flags, env);
  const again =
    <T>(paths: readonly string[], read: () => T | null) =>
    async (): Promise<T> => {
      const [silent] = await disks.findSilent(paths);
      const found = silent === undefined ? read() : null;
      if (found !== null) return found;
      throw new SetpointError('file-unreadable', `The disk of ${silent} does not answer.`);
    };
  return {
    certificate:
      files.certificate.length === 0
        ? null
        : again(files.certificate, () => pageCertificate(flags, credentialText)),
    token:
      files.token.length === 0 ? null : again(files.token, () => watchToken(env, credentialText)),
  };
}
