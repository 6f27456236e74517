import type { Variables } from '../model/ports.ts';
import { THIS_NODE } from '../host/this-process.ts';
import {
  createFailedCheck,
  createPassedCheck,
  createWarnedCheck,
  type Check,
  type MachineCheck,
} from '../model/doctor.ts';
import type { DoctorDocument } from '../model/documents.gen.ts';
import { SetpointError, usageError } from '../model/error.ts';
import { isGlobMatch } from '../model/matcher.ts';
import { isInNodeRange, NODE_RANGE, TOOL } from '../model/version.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { checkEnvironment } from './check-environment.ts';
import { refusePullRequest } from './plan-target.ts';
import { checkFiles } from './validate.ts';
import { fileOrServer, hasNoFile } from './load.ts';
import type { Options, DoctorRequest } from './options.ts';
import { parallelReads } from './parallel.ts';
import { prepareTargets, type PreparedTarget } from './prepare.ts';
import { redacting, type Running } from './redacting.ts';
import { selectRun, type RunTargets } from './select.ts';

/**
 * Checks this machine, the settings files, and whether the service of every environment can be reached and believed; sends
 * only GET, except with `check`, which has the server try what is stored. Without a settings file `server` names the service. A failed check does not prevent the others. Throws a SetpointError if names or flags are wrong.
 */
export function doctor(options: DoctorRequest): Promise<DoctorDocument> {
  return redacting(options, runDoctor);
}

async function runDoctor(options: Running<DoctorRequest>): Promise<DoctorDocument> {
  if (options.check === true) refusePullRequest(options.env, '--check');
  const machine = machineChecks(options.env);
  const needsNoFile = hasNoFile(options) && options.server !== undefined;
  if (needsNoFile && options.check === true) throw needsFile();
  const file = needsNoFile ? NO_FILE : checkFiles(options);
  const prepared =
    file.status === 'failed'
      ? []
      : await prepareAll(selectRun(needsNoFile ? fileOrServer(options) : options), options);
  return {
    format_version: FORMAT_VERSION,
    kind: 'health',
    tool: TOOL,
    checks: [...machine, file],
    environments: await inParallel(prepared, parallelReads(options, prepared.length), (target) =>
      checkEnvironment(target, options),
    ),
  };
}

const NO_FILE = createPassedCheck('file', 'none, and none is needed: --server names the service');

function needsFile(): SetpointError {
  return usageError(
    '--check tries the values of a settings file, but no settings file was found.',
    'Name one with -f, or leave --check out.',
  );
}

/** Prepares all targets. If two origins share a key, prepares each target separately, with that error as its server. */
async function prepareAll(
  run: RunTargets,
  options: Running<Options>,
): Promise<readonly PreparedTarget[]> {
  try {
    return await prepareTargets(run, options);
  } catch (thrown) {
    if (!(thrown instanceof SetpointError) || thrown.code !== 'key-shared') throw thrown;
    const separate = await Promise.all(
      run.targets.map((target) =>
        prepareTargets({ targets: [target], declared: [target] }, options),
      ),
    );
    return separate
      .flat()
      .map((target) =>
        target.server instanceof SetpointError ? target : { ...target, server: thrown },
      );
  }
}

function machineChecks(env: Variables, node = THIS_NODE): Check<MachineCheck>[] {
  return [nodeCheck(node), certificatesCheck(env), debuggingCheck(env)];
}

function nodeCheck(node: string): Check<MachineCheck> {
  if (isInNodeRange(node)) return createPassedCheck('node', `Node ${node}`);
  return createFailedCheck('node', {
    code: 'usage',
    message: `setpoint does not run on Node ${node}; it needs ${NODE_RANGE}.`,
    hint: 'Install one of those versions.',
  });
}

function certificatesCheck(env: Variables): Check<MachineCheck> {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0')
    return createPassedCheck('certificates', 'certificates are checked');
  return createWarnedCheck(
    'certificates',
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set: setpoint still checks certificates, and sends nothing over https to other machines.',
    'Unset it. To trust your own certificate authority, set server.ca_file.',
  );
}

/** Sections of NODE_DEBUG that print what goes over the wire. */
const WIRE = ['http', 'http2', 'https', 'net', 'tls', 'stream', 'undici', 'fetch'];

/** Options of Node that show what this process holds to other code or a file: its variables, and headers with the key. */
const REVEALING = [
  'require',
  'import',
  'loader',
  'experimental-loader',
  'inspect',
  'inspect-brk',
  'inspect-wait',
  'tls-keylog',
  'trace-tls',
  'trace-env',
  'report-on-signal',
  'report-on-fatalerror',
  'report-uncaught-exception',
  'heapsnapshot-signal',
  'heapsnapshot-near-heap-limit',
  'heap-prof',
];

function debuggingCheck(env: Variables): Check<MachineCheck> {
  const sections = matchWireSections(env['NODE_DEBUG'] ?? '').join(', ');
  const options = matchOptions(env['NODE_OPTIONS'] ?? '').map((option) => `--${option}`);
  const found = [
    ...(sections === '' ? [] : [`NODE_DEBUG (${sections})`]),
    ...(options.length === 0 ? [] : [`NODE_OPTIONS (${options.join(', ')})`]),
  ];
  if (found.length === 0)
    return createPassedCheck('debugging', 'no NODE_DEBUG or similar that would print requests');
  return createWarnedCheck(
    'debugging',
    `${found.join(' and ')} may show headers with the key, or values of variables.`,
    'Unset NODE_DEBUG and NODE_OPTIONS when secrets are set.',
  );
}

function matchWireSections(text: string): string[] {
  const globs = text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((glob) => glob !== '');
  return WIRE.filter((section) => isGlobMatch(section, globs));
}

function matchOptions(text: string): string[] {
  const words = text.split(/\s+/).map((word) => word.replaceAll('_', '-').replace(/=.*$/s, ''));
  return REVEALING.filter(
    (option) => words.includes(`--${option}`) || (option === 'require' && words.includes('-r')),
  );
}
