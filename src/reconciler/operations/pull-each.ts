import { asSetpointError, errorReport } from '../model/error.ts';
import { formatPath, type Path } from '../model/path.ts';
import { FORMAT_VERSION, type EnvironmentPlan } from '../model/plan.ts';
import type { EnvironmentPull, PullDocument } from '../model/documents.gen.ts';
import type { FileEdit } from '../model/pulled.ts';
import { TOOL } from '../model/version.ts';
import type { FileChange } from '../host/write-files.ts';
import { pullEdits, mapFileTexts } from '../pull/edits.ts';
import { pullReport } from '../pull/pull-report.ts';
import { secretsToHide } from '../pull/pull-target.ts';
import { REASONS } from '../pull/writable.ts';
import { inParallel } from '../reconcile/in-order.ts';
import { findInterruption } from '../reconcile/interruption.ts';
import type { Options } from './options.ts';
import { parallelReads } from './parallel.ts';
import { prepareTargets, secretsOfOthers, formatOrigin, type PreparedTarget } from './prepare.ts';
import { notPulled, observeForPull, redactEdit, type Observation } from './pull.ts';
import { redacting, createMaskingSource, type Running } from './redacting.ts';
import { selectLoaded } from './select.ts';

export interface PullEachRequest extends Options {
  /** The plans of all environments. */
  readonly plans: readonly EnvironmentPlan[];
  /** Which of the environments to pull, by name, each with the paths that its file keeps whatever the service has. */
  readonly pulled: ReadonlyMap<string, readonly Path[]>;
  /** Receives the files that an environment's pull would edit, as they are and as they would be. */
  readonly onFiles: (environment: string, files: readonly PulledFileChange[]) => void;
}

/** The pulls, and the plans for readers of a pull request: the values of all environments are masked in each. */
export interface PullEachDocument extends PullDocument {
  readonly plans: readonly EnvironmentPlan[];
}

/** The changes of a pull to a file; `shown` is the same for people, masked. */
export interface PulledFileChange extends FileChange {
  readonly shown: FileEdit;
}

/**
 * The writes that a pull of each environment alone would make. Nothing is written, and an environment that cannot be pulled does not
 * prevent the others. The values of the references of all environments stay out of the texts, whichever are pulled.
 */
export function pullEach(request: PullEachRequest): Promise<PullEachDocument> {
  return redacting(request, runPullEach);
}

async function runPullEach(request: Running<PullEachRequest>): Promise<PullEachDocument> {
  const { files, targets, declared } = selectLoaded(request);
  const prepared = await prepareTargets({ targets, declared }, request);
  const hidden = [
    ...prepared.flatMap(secretsToHide),
    ...secretsOfOthers(declared, targets, request),
  ];
  const chosen = prepared.filter(({ target }) => request.pulled.has(target.name));
  const observations = await inParallel(chosen, parallelReads(request, chosen.length), (target) =>
    observeForPull(target, request),
  );
  const stopped = findInterruption(request.signal);
  if (stopped !== null) throw stopped;
  const before = mapFileTexts(files);
  const pullOne = (observation: Observation): EnvironmentPull => {
    const { prepared: own, service } = observation;
    if (service === null) return notPulled(observation);
    const { target } = own;
    const kept = request.pulled.get(target.name) ?? [];
    const options = { adopt: [], hidden, ownLayer: false };
    const source = createMaskingSource([target.name], request);
    const read = { serverGiven: request.server !== undefined, several: files.length > 1 };
    try {
      const edits = pullEdits(files, read, [{ target, ...service, options, kept }], source);
      request.onFiles(
        target.name,
        [...edits.texts].map(([path, text]) => {
          const change = { path, before: before.get(path) ?? '', text };
          return { ...change, shown: redactEdit(change, request.resolved) };
        }),
      );
      const report = pullReport(target.name, formatOrigin(own), edits, source, false);
      return withReasons(report, kept);
    } catch (thrown) {
      return createFailedPull(own, thrown);
    }
  };
  return {
    format_version: FORMAT_VERSION,
    kind: 'pull',
    tool: TOOL,
    files: [...before.keys()].map((file) => ({ file, status: 'unchanged' })),
    plans: request.plans,
    environments: observations.map(pullOne),
  };
}

/** Adds the reason to paths that are preserved and therefore skipped. */
function withReasons(report: EnvironmentPull, kept: readonly Path[]): EnvironmentPull {
  const names = new Set(kept.map(formatPath));
  const left = report.left.map((one) =>
    names.has(formatPath(one.path)) ? { ...one, reason: REASONS.pending } : one,
  );
  return { ...report, left };
}

function createFailedPull(prepared: PreparedTarget, thrown: unknown): EnvironmentPull {
  const error = errorReport(asSetpointError(thrown));
  return notPulled({ prepared, service: null, error });
}
