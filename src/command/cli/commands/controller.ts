import { SetpointError, usageError } from '../../../reconciler/model/error.ts';
import { DiskAnswers } from '../../../reconciler/host/disk-answers.ts';
import {
  growThreadPool,
  keepYoungSpace,
  SYSTEM_CLOCK,
} from '../../../reconciler/host/this-process.ts';
import { KIND } from '../../../reconciler/kubernetes/crd.ts';
import { detectCluster, type Cluster } from '../../../controller/cluster/kube-api.ts';
import { ClusterController } from '../../../controller/cluster/open.ts';
import { leaseLocks } from '../../../controller/watch/locks/lease-locks.ts';
import { scopeLocks, type Locks } from '../../../controller/watch/locks/locks.ts';
import type { Flags } from '../command-table.ts';
import {
  parseCountFlag,
  DEFAULT_DATA,
  parseIntervalFlag,
  parseLockFlag,
  parseRolloutFlags,
  parseTimeoutFlag,
} from '../flags.ts';
import type { Io } from '../io.ts';
import { reportFailure } from '../reporter.ts';
import { watchLog, watchOver } from './watch.ts';

/** `setpoint controller`: watches the SettingsTargets of the cluster that it runs in until a signal stops it. */
export async function controllerCommand(flags: Flags<'controller'>, io: Io): Promise<number> {
  keepYoungSpace();
  growThreadPool(process.env);
  try {
    const { env, signal } = io;
    const cluster = detectCluster(env);
    if (cluster === null) throw new SetpointError('usage', NO_CLUSTER, { hint: MOUNT });
    const data = flags.data ?? DEFAULT_DATA;
    const namespace = resolveNamespace(flags, cluster);
    const log = watchLog(flags, io);
    const watching = new ClusterController({
      cluster,
      namespace,
      env,
      data,
      interval: parseIntervalFlag(flags.interval),
      ...parseRolloutFlags(flags),
      parallel: flags.parallel === undefined ? 8 : parseCountFlag('--parallel', flags.parallel),
      policy: flags.policy,
      stateSecret: flags.stateSecret,
      strict: flags.strict,
      timeout: parseTimeoutFlag(flags),
      signal,
      abandon: io.abandon,
      locks: createClusterLocks(flags, cluster),
      report: log.note,
    });
    const files = [`SettingsTargets in ${namespace ?? 'all namespaces'}`];
    const disks = new DiskAnswers();
    const { controller } = watching;
    const began = { controller, begin: () => watching.begin(), run: () => watching.run() };
    await watchOver(began, { flags, env, files, data, disks, log });
    log.say('stopped', { level: 'info', message: 'stopped watching', details: {} });
    return 0;
  } catch (thrown) {
    return reportFailure(thrown, flags, io);
  }
}

const NO_CLUSTER = 'setpoint controller runs in a cluster, and this is not a pod with a token.';
const MOUNT =
  'Run it in a pod that mounts the token of a service account. setpoint watch watches files.';

function resolveNamespace(
  { namespace, allNamespaces }: Flags<'controller'>,
  cluster: Cluster,
): string | null {
  if (allNamespaces !== true) return namespace ?? cluster.namespace;
  if (namespace === undefined) return null;
  throw usageError(
    '--namespace and --all-namespaces exclude each other.',
    'Leave one of them out.',
  );
}

function createClusterLocks({ lock }: Flags<'controller'>, cluster: Cluster): Locks {
  const { place = 'lease', scope } = parseLockFlag(lock);
  if (place !== 'lease')
    throw usageError(
      'The locks of a cluster are leases.',
      'Write --lock lease=SCOPE, or leave it out.',
    );
  const locks = leaseLocks(cluster, SYSTEM_CLOCK, { kind: KIND });
  return scope === undefined ? locks : scopeLocks(locks, scope);
}
