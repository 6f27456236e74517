import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import { readSaved } from '../../../reconciler/operations/saved-document.ts';
import { join } from 'node:path';
import { DiskAnswers } from '../../../reconciler/host/disk-answers.ts';
import type { Controller } from '../../../controller/watch/controller.ts';
import { lockFolder, openController } from '../../../controller/watch/open-controller.ts';
import { openBranch } from '../../../reconciler/host/git-branch.ts';
import type { Notices } from '../../../controller/watch/notices/notices.ts';
import { defaultFiles } from '../../../reconciler/operations/settings-files.ts';
import type { Options } from '../../../reconciler/operations/options.ts';
import { FollowedCommits } from '../../../controller/watch/followed-commits.ts';
import { branchSource } from '../../../controller/watch/branch-source.ts';
import type { SettingsSource } from '../../../controller/watch/source.ts';
import {
  growThreadPool,
  keepYoungSpace,
  SYSTEM_CLOCK,
} from '../../../reconciler/host/this-process.ts';
import { SharedSecrets } from '../../../reconciler/host/shared-secrets.ts';
import { fileLocks } from '../../../controller/watch/locks/file-locks.ts';
import { detectCluster } from '../../../controller/cluster/kube-api.ts';
import { leaseLocks } from '../../../controller/watch/locks/lease-locks.ts';
import { scopeLocks, type Locks } from '../../../controller/watch/locks/locks.ts';
import type { Flags } from '../command-table.ts';
import {
  parseCountFlag,
  parseIntervalFlag,
  parseLockFlag,
  parseOperationOptions,
  parseRolloutFlags,
  DEFAULT_DATA,
  shardOptions,
} from '../flags.ts';
import { type Io, writeText } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import type { JournalRecord, WatchState } from '../../../reconciler/model/watch.ts';
import { escapeJsonText, visible } from '../../../reconciler/render/text.ts';
import {
  entryLine,
  logLine,
  type LogEntry,
  type LogFormat,
  afterFirstRound,
  watchesEntry,
} from '../../../controller/watch/telemetry/log.ts';
import type { ControllerNote } from '../../../controller/watch/conditions.ts';
import type { ReadEnd } from '../../../controller/watch/watching.ts';
import type { FlagValues } from '../flag-table.ts';
import { pageFor } from '../watch-page.ts';

/** `setpoint watch`: reads every environment again and again until a signal stops it. */
export async function watchCommand(flags: Flags<'watch'>, io: Io, plan?: string): Promise<number> {
  keepYoungSpace();
  growThreadPool(process.env);
  try {
    const data = flags.data ?? DEFAULT_DATA;
    const named = parseOperationOptions(flags, io);
    const disks = new DiskAnswers();
    const interval = parseIntervalFlag(flags.interval);
    const request = {
      ...named,
      ...shardOptions(flags, io),
      strict: flags.strict,
      unanswered: (paths: Iterable<string>) => disks.findSilent(paths),
      sharedSecrets: new SharedSecrets(named.env, SYSTEM_CLOCK, interval, named.signal),
    };
    const approved = plan === undefined ? undefined : await readSaved(plan, ['plan']);
    const log = watchLog(flags, io);
    const source = await openGitSource(flags, request, data);
    const controller = openController({
      request:
        source === undefined
          ? request
          : { ...request, checkout: { from: 'branch', root: '.', state: data } },
      source,
      data,
      interval,
      ...parseRolloutFlags(flags),
      parallel: flags.parallel === undefined ? 8 : parseCountFlag('--parallel', flags.parallel),
      approved,
      abandon: io.abandon,
      locks: createWatchLocks(flags, data, request.env),
      report: log.note,
    });
    const unnamed = flags.git === undefined ? defaultFiles() : [];
    const files = [request.file ?? unnamed].flat();
    const began = { controller, begin: () => controller.begin(), run: () => controller.run() };
    await watchOver(began, { flags, env: request.env, files, data, disks, log });
    log.say('stopped', { level: 'info', message: 'stopped watching', details: {} });
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

/** The environments to watch and the flags that select them. */
interface WatchedOver {
  readonly flags: Flags<'controller'>;
  readonly env: Options['env'];
  /** The files that the first line names. */
  readonly files: readonly string[];
  readonly data: string;
  readonly disks: DiskAnswers;
  readonly log: WatchLog;
}

/** Runs a controller with its log, its page and its notices until it is stopped. */
export async function watchOver(
  {
    controller,
    begin,
    run,
  }: {
    readonly controller: Controller;
    readonly begin: () => Promise<void>;
    readonly run: () => Promise<void>;
  },
  { flags, env, files, data, disks, log }: WatchedOver,
): Promise<void> {
  controller.subscribe(log.event);
  const notices = await noticesFor(flags, env, log.note);
  await begin();
  log.say('watching', watchesEntry(controller.states(), { files, data }));
  const now = (): number => SYSTEM_CLOCK.now();
  afterFirstRound(controller, now, (entry, name) => log.say('found', entry, name));
  const teller = notices?.(controller) ?? null;
  const page = await pageFor(flags, controller, {
    notices: teller?.counts ?? null,
    env,
    disks,
    note: log.note,
    begun: log.begun,
  });
  const ended = new AbortController();
  const telling = teller?.run(ended.signal);
  try {
    await run();
  } finally {
    ended.abort();
    await telling;
    await page?.close();
  }
}

/** Reads the receivers of --notify before anything is watched; null without the flag. */
async function noticesFor(
  { notify }: Pick<Flags<'watch'>, 'notify'>,
  env: Options['env'],
  report: WatchLog['note'],
): Promise<((controller: Controller) => Notices) | null> {
  if (notify === undefined) return null;
  const { loadNoticesFactory: noticesFrom } = await import('../watch-notices.ts');
  const made = await noticesFrom(notify, env, SYSTEM_CLOCK);
  return (controller) => made({ watching: controller, journal: controller.notices, report });
}

/** The branch of --git; undefined without it. */
async function openGitSource(
  flags: Flags<'watch'>,
  request: Options,
  data: string,
): Promise<SettingsSource | undefined> {
  const { git, ref = 'main' } = flags;
  if (git === undefined) {
    if (flags.ref === undefined) return undefined;
    throw usageError(
      '--ref is about a branch, and --git names no repository.',
      'Add --git, or leave --ref out.',
    );
  }
  const { env, signal } = request;
  const into = join(data, 'git');
  // No branch has a colon in its name.
  const [name = '', from] = ref.split(':');
  const branch = await openBranch({ source: git, ref: name, into, env, signal });
  const commits = new FollowedCommits(into);
  return branchSource(request, { branch, commits, from }, SYSTEM_CLOCK, data);
}

function createWatchLocks({ lock }: Flags<'watch'>, data: string, env: Io['env']): Locks {
  const { place, scope } = parseLockFlag(lock);
  const locks = locksFor(place, data, env);
  return scope === undefined ? locks : scopeLocks(locks, scope);
}

/** Leases in a cluster, unless files are asked for; files elsewhere. */
function locksFor(place: string | undefined, data: string, env: Io['env']): Locks {
  if (place !== undefined && place !== 'file' && place !== 'lease')
    throw usageError('--lock takes file or lease, and a scope: lease=team-a.');
  const cluster = place === 'file' ? null : detectCluster(env);
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

/** The output of a controller: a line for each change of state and each write, to stdout; warnings to stderr. */
export interface WatchLog {
  readonly event: (state: WatchState, event: ReadEnd | JournalRecord) => void;
  readonly note: (note: ControllerNote) => void;
  /** Prints what the user needs at the start: the address of the page. */
  readonly begun: (message: string) => void;
  /** Something that is not a record, perhaps of an environment. */
  readonly say: (
    kind: 'watching' | 'found' | 'stopped',
    entry: LogEntry,
    environment?: string | null,
  ) => void;
}

export function watchLog(flags: FlagValues<'--output' | '--quiet'>, io: Io): WatchLog {
  const format = parseLogFormat(flags.output);
  const note: WatchLog['note'] = ({ severity, message, environment = null }) => {
    const at = new Date().toISOString();
    const level = severity === 'info' ? 'info' : 'warn';
    const line =
      format === 'json'
        ? `${escapeJsonText(JSON.stringify({ at, level, environment, message }))}\n`
        : entryLine({ at, kind: 'note', environment }, { level, message, details: {} }, format);
    void writeText(io.stderr, line);
  };
  return {
    event: (_, event) => {
      if (event.kind === 'read' || flags.quiet === true) return;
      const line = logLine(event, format);
      if (line !== null) void writeText(io.stdout, line);
    },
    say: (kind, entry, environment = null) => {
      if (flags.quiet === true) return;
      const at = new Date().toISOString();
      void writeText(io.stdout, entryLine({ at, kind, environment }, entry, format));
    },
    note,
    begun: (message) => {
      if (format === 'json') note({ severity: 'info', message });
      else void writeText(io.stderr, `setpoint: ${visible(message)}\n`);
    },
  };
}

function parseLogFormat(output: readonly string[] | undefined): LogFormat {
  const [format = 'text', ...others] = output ?? [];
  if (others.length === 0 && (format === 'text' || format === 'json')) return format;
  throw usageError('watch logs text or json, to stdout.', 'Write -o text or -o json.');
}
