import type { ErrorReport } from '../model/plan.ts';
import { exitCodeOf, worstExitCode } from '../model/exit-code.ts';
import type { Reporter } from './reporter.ts';

interface Ended {
  readonly name: string;
  readonly error: ErrorReport | null;
}

/** Says the errors of a document's targets, and tells the exit code: the worst of theirs, of what else is told, and of `written`. */
export async function conclude<T extends Ended>(
  reporter: Pick<Reporter<never>, 'error'>,
  environments: readonly T[],
  written: number,
  codeOf: (environment: T) => number = () => 0,
): Promise<number> {
  for (const { name, error } of environments) {
    if (error !== null) await reporter.error(error, name);
  }
  const codes = environments.map((environment) =>
    environment.error === null ? codeOf(environment) : exitCodeOf(environment.error),
  );
  return worstExitCode([written, ...codes]);
}
