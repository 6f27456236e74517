/** The words for the state that a started sandbox reaches, as the option `becomes` takes them. */
export const sandboxOutcomes = ['running', 'flapping', 'starting', 'error', 'missing'] as const;

/**
 * `running`: STARTING, then RUNNING; `flapping`: STARTING, ERROR for as long again, then RUNNING; `starting`: STARTING
 * for good, though it is up; `error` and `missing`: STARTING, then ERROR or MISSING for good.
 * Source: behaviour 3.2: containers that boot read ERROR until they answer; processes read STARTING while they idle.
 */
export type SandboxOutcome = (typeof sandboxOutcomes)[number];

export function isSandboxOutcome(value: unknown): value is SandboxOutcome {
  return sandboxOutcomes.some((outcome) => outcome === value);
}
