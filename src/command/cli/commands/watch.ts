import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import { readSaved } from '../../../reconciler/operations/saved-document.ts';
import { join } from 'node:path';
import { keepYoungSpace } from '../../../reconciler/host/this-process.ts';
import { DiskAnswers } from '../../../reconciler/host/disk-answers.ts';
import { readText } from '../../../reconciler/host/read-text.ts';
import { listenOptions } from '../../../controller/page/listen-options.ts';
import type { Controller } from '../../../controller/watch/controller.ts';
import { openBranch } from '../../../reconciler/host/git-branch.ts';
import type { Notices } from '../../../controller/watch/notices/notices.ts';
import type { Options } from '../../../reconciler/operations/options.ts';
import { FollowedCommits } from '../../../controller/watch/followed-commits.ts';
import { branchSource, type SettingsSource } from '../../../controller/watch/source.ts';
import { SYSTEM_CLOCK } from '../../../reconciler/host/system-clock.ts';
import { fileLocks } from '../../../controller/watch/locks/file-locks.ts';
import { clusterHere } from '../../../controller/watch/locks/lease-api.ts';
import { leaseLocks } from '../../../controller/watch/locks/lease-locks.ts';
import { scopedLocks, type Locks } from '../../../controller/watch/locks/locks.ts';
import { lockFolder, openController } from '../../../controller/watch/open.ts';
import type { Flags } from '../command-table.ts';
import { countOf, intervalOf, optionsFrom } from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { shardOptions } from '../shard.ts';
import { DEFAULT_DATA, watchLog, type WatchLog } from '../watch-log.ts';

/** `setpoint watch`: reads every environment again and again until a signal stops it. */
export async function watchCommand(flags: Flags<'watch'>, io: Io): Promise<number> {
  keepYoungSpace();
  try {
    const data = flags.data ?? DEFAULT_DATA;
    const named = optionsFrom(flags, io, 'writes');
    const disks = new DiskAnswers();
    const request = {
      ...named,
      ...shardOptions(flags, named.env, io),
      strict: flags.strict,
      unanswered: (paths: Iterable<string>) => disks.silentOf(paths),
    };
    const approved =
      flags.approved === undefined ? undefined : await readSaved(flags.approved, ['plan']);
    const log = watchLog(flags, io);
    const source = await sourceFor(flags, request, data);
    const controller = openController({
      request:
        source === undefined ? request : { ...request, checkout: { root: '.', state: data } },
      source,
      data,
      interval: intervalOf(flags.interval),
      parallel: flags.parallel === undefined ? 8 : countOf('--parallel', flags.parallel),
      approved,
      abandon: io.abandon,
      locks: locksOf(flags, data, request.env),
      report: log.note,
    });
    controller.subscribe(log.event);
    const notices = await noticesFor(flags, request.env, log.note);
    await controller.begin();
    const teller = notices?.(controller) ?? null;
    const page = await pageFor(flags, controller, teller, request.env, log.note);
    const told = new AbortController();
    const telling = teller?.run(told.signal);
    try {
      await controller.run();
    } finally {
      told.abort();
      await telling;
      await page?.close();
    }
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** Who is told by --notify, read before anything is watched; null without it. */
async function noticesFor(
  { notify }: Flags<'watch'>,
  env: Options['env'],
  report: WatchLog['note'],
): Promise<((controller: Controller) => Notices) | null> {
  if (notify === undefined) return null;
  const { noticesFrom } = await import('../watch-notices.ts');
  const made = noticesFrom(notify, env, SYSTEM_CLOCK);
  return (controller) => made({ watching: controller, journal: controller.notices, report });
}

/** The page of --listen, with metrics and health; null without it. */
async function pageFor(
  flags: Flags<'watch'>,
  controller: Controller,
  notices: Notices | null,
  env: Io['env'],
  note: WatchLog['note'],
): Promise<{ close(): Promise<void> } | null> {
  const options = listenOptions(flags, env, pemText);
  if (options === null) return null;
  const { servePage } = await import('../../../controller/page/serve.ts');
  const { metricsOf } = await import('../../../controller/watch/telemetry/metrics.ts');
  const metrics = metricsOf(controller, {
    perEnvironment: flags.environmentMetrics !== false,
    notices: notices?.counts ?? null,
  });
  const page = await servePage(controller, {
    ...options,
    clock: SYSTEM_CLOCK,
    metrics: () => metrics.text(),
    failed: ({ message }) => note({ severity: 'warning', message: `The page: ${message}` }),
  });
  note({ severity: 'info', message: `The page is at ${page.url}` });
  return {
    close: async () => {
      await page.close();
      metrics.close();
    },
  };
}

const LARGEST_PEM = 1024 * 1024;

function pemText(path: string): string {
  const read = readText(path, LARGEST_PEM);
  if ('text' in read) return read.text;
  throw usageError(`${path} is not a PEM file.`);
}

/** The branch of --git; undefined without it. */
async function sourceFor(
  { git, ref, gitFrom: from }: Flags<'watch'>,
  request: Options,
  data: string,
): Promise<SettingsSource | undefined> {
  if (git === undefined) {
    if (ref === undefined && from === undefined) return undefined;
    const flag = ref === undefined ? '--git-from' : '--ref';
    throw usageError(
      `${flag} is about a branch, and --git names no repository.`,
      `Add --git, or leave ${flag} out.`,
    );
  }
  const { env, signal } = request;
  const into = join(data, 'git');
  const branch = await openBranch({ source: git, ref: ref ?? 'main', into, env, signal });
  const commits = new FollowedCommits(into);
  return branchSource(request, { branch, commits, from }, SYSTEM_CLOCK, data);
}

function locksOf({ lock, lockScope }: Flags<'watch'>, data: string, env: Io['env']): Locks {
  const locks = locksFor(lock, data, env);
  return lockScope === undefined ? locks : scopedLocks(locks, lockScope);
}

/** Leases in a cluster, unless files are asked for; files elsewhere. */
function locksFor(place: string | undefined, data: string, env: Io['env']): Locks {
  if (place !== undefined && place !== 'file' && place !== 'lease')
    throw usageError('--lock takes file or lease.');
  const cluster = place === 'file' ? null : clusterHere(env);
  if (cluster !== null) return leaseLocks(cluster, SYSTEM_CLOCK);
  if (place === 'lease') {
    throw new SetpointError(
      'usage',
      '--lock lease needs a cluster, and this is not a pod with a token.',
      {
        hint: 'Leave it out, or mount the token of a service account.',
      },
    );
  }
  return fileLocks(lockFolder(data), SYSTEM_CLOCK);
}
