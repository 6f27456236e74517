import type { CredentialSource } from '../../controller/page/credentials.ts';
import {
  credentialFiles,
  listenOptions,
  pageCertificate,
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
import type { FlagValues } from './flag-table.ts';

/** The page of --listen, with metrics and health; null without it. */
export async function pageFor(
  flags: ListenFlags & FlagValues<'--no-environment-metrics'>,
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
  if (options === null) return null;
  const { servePage } = await import('../../controller/page/serve.ts');
  const { metricsOf } = await import('../../controller/watch/telemetry/metrics.ts');
  const metrics = metricsOf(controller, {
    perEnvironment: flags.environmentMetrics !== false,
    notices,
  });
  const page = await servePage(controller, {
    ...options,
    clock: SYSTEM_CLOCK,
    metrics: () => metrics.text(),
    failed: ({ message }) => note({ severity: 'warning', message: `The page: ${message}` }),
    source: credentialSource(flags, env, disks),
    taken: (kind) => note({ severity: 'info', message: `The page has another ${kind} now.` }),
  });
  begun(`The page is at ${page.url}`);
  return {
    close: async () => {
      await page.close();
      metrics.close();
    },
  };
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
      const [silent] = await disks.silentOf(paths);
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
