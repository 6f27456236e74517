import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import { counted } from '../../reconciler/model/wording.ts';
import { filesOf, InvalidSettings } from '../../reconciler/operations/load.ts';
import {
  loadSession,
  type LoadedSession,
  type SessionRequest,
} from '../../reconciler/operations/session.ts';

/** A settings file that cannot be used, and why. */
export interface BrokenFile {
  readonly file: string;
  readonly problem: SetpointError;
}

/** What a file may be wrong in by itself. */
const OF_A_FILE: ReadonlySet<string> = new Set([
  'settings-invalid',
  'file-unreadable',
  'policy-violated',
]);

/**
 * Loads settings files so that one of several that is broken stops only its own environments. Throws a SetpointError if none of them can be used, or if what
 * is wrong is not in one file alone. Problems name files without what begins with `root`.
 */
export async function loadApart(
  request: SessionRequest,
  root = '',
): Promise<LoadedSession & { readonly broken: readonly BrokenFile[] }> {
  try {
    return { ...(await loadSession(request)), broken: [] };
  } catch (thrown) {
    const whole = asSetpointError(thrown);
    const files = OF_A_FILE.has(whole.code) ? filesOf(request) : [];
    const broken = await brokenOf(files, request);
    const others = files.filter((file) => broken.every((one) => one.file !== file));
    if (broken.length === 0 || others.length === 0) throw fromRoot(whole, root);
    const loaded = await loadSession({ ...request, file: others, several: true }).catch(() => null);
    if (loaded === null) throw fromRoot(whole, root);
    return {
      ...loaded,
      broken: broken.map((one) => ({ ...one, problem: fromRoot(one.problem, root) })),
    };
  }
}

/** Those of several files that cannot be used by themselves, whichever of their environments are chosen. */
async function brokenOf(
  files: readonly string[],
  request: SessionRequest,
): Promise<readonly BrokenFile[]> {
  const broken: BrokenFile[] = [];
  if (files.length < 2) return broken;
  const all = { targets: undefined, selector: undefined, shard: undefined, onSelected: undefined };
  for (const file of files) {
    const alone = { ...request, ...all, file: [file], several: true };
    const problem = await loadSession(alone).then(() => null, asSetpointError);
    if (problem !== null) broken.push({ file, problem });
  }
  return broken;
}

/** A problem with the paths of files as they are below a folder. */
function fromRoot(problem: SetpointError, root: string): SetpointError {
  if (root === '') return problem;
  if (problem instanceof InvalidSettings)
    return new InvalidSettings(
      problem.diagnostics.map((one) => ({ ...one, file: one.file.replace(root, '') })),
    );
  const { code, message, hint, cause } = problem;
  return new SetpointError(code, message.replaceAll(root, ''), { hint, cause });
}

/** A problem of settings files in a few sentences, with the first place and what to do. */
export function textOfProblem(problem: SetpointError): string {
  const [first, ...others] =
    problem instanceof InvalidSettings
      ? problem.diagnostics.filter(({ severity }) => severity === 'error')
      : [];
  const more = others.length === 0 ? '' : ` (and ${counted(others.length, 'more problem')})`;
  const { message, hint } = first ?? problem;
  const place = first === undefined ? '' : `${first.file}:${first.line}:${first.column}: `;
  return [`${place}${message}${more}`, hint].filter(Boolean).join(' ');
}
