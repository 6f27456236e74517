import type { ReportedDiagnostic } from './diagnostic.ts';
import type { Path } from './path.ts';

/** The command that takes a snapshot; a file behind it. */
export const SNAPSHOT_COMMAND = 'setpoint get settings,sandboxes -o json=';

/**
 * Every way in which setpoint can fail. `exit` is the exit code of the command; `hint` is what to do, unless the code that
 * throws it knows better; `next` is the command that shows more, for the files and environments of the one that failed.
 * scripts/reference/errors.json says what happened; docs/reference/exit-codes.md has all of it.
 */
export const ERRORS = {
  usage: { exit: 3, hint: 'Run setpoint help COMMAND for its flags.' },
  'file-unreadable': {
    exit: 3,
    hint: 'Check the path, and that the file can be read.',
  },
  'file-changed': { exit: 3, hint: 'Run it again.' },
  'settings-invalid': {
    exit: 3,
    hint: 'Fix the problems listed; setpoint validate checks the file offline.',
    next: 'setpoint validate',
  },
  'reference-missing': {
    exit: 3,
    hint: 'Set the variables or files named above and run again.',
    next: 'setpoint doctor',
  },
  'not-allowed': {
    exit: 3,
    hint: 'If this is intended, add it to the variable named, outside the branch.',
  },
  'key-shared': {
    exit: 3,
    hint: 'Give each origin its own variable, file or secret.',
  },
  'unfit-for-service': {
    exit: 3,
    hint: 'Change the fields named, or list them under unmanaged for this environment.',
  },
  'confirmation-needed': {
    exit: 3,
    hint: 'Run setpoint plan to see the changes, then apply with --yes.',
    next: 'setpoint plan',
  },
  declined: { exit: 1, hint: 'Run the command again and answer yes.' },
  unauthorized: {
    exit: 4,
    hint: 'Check that the variable of server.api_key contains a key of this service, and that server.auth matches the service.',
    next: 'setpoint doctor',
  },
  'policy-violated': {
    exit: 5,
    hint: 'Fix the problems listed, or have the policy changed; no flag lifts it.',
  },
  'guard-refused': {
    exit: 5,
    hint: 'Check the plan; --allow RULE lifts a rule for one run.',
    next: 'setpoint plan',
  },
  'not-covered': {
    exit: 6,
    hint: 'Plan again, have that plan approved, and apply it.',
    next: 'setpoint plan',
  },
  'other-origin': {
    exit: 6,
    hint: 'Use the plan or snapshot that was made for this environment.',
  },
  'not-in-snapshot': {
    exit: 6,
    hint: `Take a new snapshot: ${SNAPSHOT_COMMAND}snapshot.json.`,
    next: `${SNAPSHOT_COMMAND}snapshot.json`,
  },
  'snapshot-too-old': {
    exit: 6,
    hint: `Take a new snapshot: ${SNAPSHOT_COMMAND}snapshot.json.`,
    next: `${SNAPSHOT_COMMAND}snapshot.json`,
  },
  unreachable: {
    exit: 1,
    hint: 'Check server.url, and that the service is up and reachable from here.',
    next: 'setpoint doctor',
  },
  tls: {
    exit: 1,
    hint: 'Check the certificate of the service. To trust your own certificate authority, set server.ca_file.',
    next: 'setpoint doctor',
  },
  'timed-out': { exit: 9, hint: 'Try again, or wait longer with --timeout.' },
  'not-this-service': {
    exit: 1,
    hint: 'Check server.url and its path prefix.',
    next: 'setpoint doctor',
  },
  'dialect-not-spoken': {
    exit: 1,
    hint: 'This version of setpoint supports /api/settings, and /api/v1/settings as releases from 1.9 on have it.',
    next: 'setpoint doctor',
  },
  'bad-response': {
    exit: 1,
    hint: 'Try again; if it persists, check proxies in between.',
    next: 'setpoint doctor',
  },
  'rate-limited': { exit: 1, hint: 'Try again later.' },
  'server-error': { exit: 1, hint: "Check the service's logs." },
  'settings-refused': { exit: 1, hint: 'Fix the fields named. nothing was written.' },
  'spec-refused': {
    exit: 3,
    hint: 'Name a spec that the service has: setpoint get specs.',
    next: 'setpoint get specs',
  },
  'applied-in-part': {
    exit: 7,
    hint: 'Run setpoint plan to see what is left.',
    next: 'setpoint plan',
  },
  'check-failed': {
    exit: 1,
    hint: 'Fix the key, address or program of the item named.',
  },
  'not-converged': {
    exit: 8,
    hint: 'Run setpoint plan to see what is left.',
    next: 'setpoint plan',
  },
  contended: {
    exit: 1,
    hint: 'Another client is writing these settings. Run again when it is done.',
  },
  'cluster-failed': {
    exit: 1,
    hint: 'Check the API server, and what the service account of this process may do.',
  },
  'lock-failed': {
    exit: 1,
    hint: 'Check the place of the locks; nothing is written without one.',
  },
  'lock-lost': {
    exit: 1,
    hint: 'Check which other controller watches this environment. Nothing is written until this controller has the lock again.',
  },
  interrupted: { exit: 130, hint: 'Run the command again.' },
  terminated: { exit: 143, hint: 'Run the command again.' },
  'state-unknown': {
    exit: 1,
    hint: 'Run setpoint plan to see what the service has.',
    next: 'setpoint plan',
  },
  'branch-rewritten': {
    exit: 1,
    hint: 'Restore the branch; if it was rewritten on purpose, start again with --ref BRANCH:COMMIT, a commit of the new history that you trust.',
  },
  'not-listening': {
    exit: 1,
    hint: 'Choose another address with --listen or --probes; port 0 takes a free one.',
  },
  'output-failed': { exit: 1, hint: 'Check that the path can be written.' },
  'report-incomplete': {
    exit: 1,
    hint: 'Run what is missing again, and report all documents together.',
  },
  skipped: { exit: 0, hint: 'Fix what failed and run again, or allow more with --max-failures.' },
  internal: {
    exit: 1,
    hint: 'This is a defect of setpoint; please report it with the command you ran.',
  },
} as const satisfies Record<string, { exit: number; hint: string; next?: string }>;

/** The codes of errors; new ones may be added. */
export type ErrorCode = keyof typeof ERRORS;

/**
 * The only error class. `message` is setpoint's own sentence and safe to print; `cause` may be a foreign error, whose text may
 * contain secrets, and is never printed.
 */
export class SetpointError extends Error {
  /** Its name, which the built package would shorten; traces of Node print it. */
  static override readonly name: string = 'SetpointError';
  /** The code of the error, for programs. */
  readonly code: ErrorCode;
  /** A sentence about what to do. */
  readonly hint: string;
  /** The exit code with which the command ends. */
  readonly exitCode: number;

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint ?? ERRORS[code].hint;
    this.exitCode = ERRORS[code].exit;
  }
}

/** Returns the command to run next after an error of a code; nothing if none helps. */
export function nextCommand(code: ErrorCode): { readonly next?: string } {
  const entry = ERRORS[code];
  return 'next' in entry ? { next: entry.next } : {};
}

/** An error as documents carry it. */
export function errorReport({ code, message, hint }: SetpointError): ErrorReport {
  return { code, message, hint };
}

/** The lines of a message: references without a value have one each. In all other messages a break is foreign, and no break. */
export function splitErrorMessage({
  code,
  message,
}: Pick<ErrorReport, 'code' | 'message'>): string[] {
  return code === 'reference-missing' ? message.split('\n') : [message];
}

/** Anything thrown, as a SetpointError. Another error is a defect of setpoint: its text is not shown. */
export function asSetpointError(thrown: unknown): SetpointError {
  if (thrown instanceof SetpointError) return thrown;
  const name = thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  return new SetpointError('internal', `Something went wrong inside setpoint (${name}).`, {
    cause: thrown,
  });
}

/** The JSON output of a command that could not begin: usage, files, references. */
export interface FailureDocument {
  readonly error: ErrorReport & {
    /** The command that shows more, for the same files and environments. */
    readonly next?: string;
    readonly diagnostics?: readonly ReportedDiagnostic[];
  };
}

/** The order of exit codes: the first of several environments wins. */
const ORDER = [130, 143, 7, 8, 1, 9, 4, 6, 5, 3, 2, 0];

export function worstExitCode(codes: readonly number[]): number {
  return ORDER.find((code) => codes.includes(code)) ?? 0;
}

/** A number for each code, the higher the worse, by the order of exit codes. */
export function errorGravity(error: Pick<ErrorReport, 'code'> | null): number {
  if (error === null) return 0;
  const { code } = error;
  const codes = Object.keys(ERRORS);
  return (ORDER.length - ORDER.indexOf(findExitCode(code))) * codes.length - codes.indexOf(code);
}

/** The exit code of a document's error; 0 for null. */
export function computeErrorExitCode(error: ErrorReport | null): number {
  return error === null ? 0 : findExitCode(error.code);
}

function findExitCode(code: string): number {
  return Object.entries(ERRORS).find(([known]) => known === code)?.[1].exit ?? 1;
}

/** The error of a command line, an input or a variable that cannot be used. */
export function usageError(message: string, hint?: string): SetpointError {
  return new SetpointError('usage', message, hint === undefined ? {} : { hint });
}

/** The code of an error of the system, such as ENOENT; empty for any other. */
export function systemCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
}

/** Something worth knowing that stops nothing. */
export interface Warning {
  /** The code, for programs. */
  readonly code: WarningCode;
  /** A sentence about what happened. */
  readonly message: string;
  /** The path in the settings file. */
  readonly path: Path;
}

/** The codes of warnings. Those of `writing` are shown of an apply that has changed something; its plan has shown the others. */
const WARNINGS = {
  'active-profile': 'planning',
  'already-made': 'planning',
  'answered-with-error': 'writing',
  'cached-answer': 'writing',
  guard: 'planning',
  'key-not-used': 'planning',
  'later-release': 'planning',
  'list-writes': 'planning',
  'lose-unreadable': 'planning',
  'may-be-renamed': 'planning',
  'not-cleared': 'planning',
  'not-kept': 'planning',
  'not-listed': 'planning',
  'not-remembered': 'planning',
  only: 'planning',
  organization: 'planning',
  'starts-run': 'planning',
  'sandbox-busy': 'writing',
  'sandbox-displaced': 'writing',
  'sandbox-failed': 'planning',
  'sandbox-gone': 'planning',
  'sandbox-later': 'planning',
  'sandbox-starting': 'writing',
  'server-owned': 'writing',
  'shown-to-providers': 'planning',
  'snapshot-old': 'planning',
  'unknown-name': 'planning',
} as const;
/** The codes of warnings; new ones may be added. */
export type WarningCode = keyof typeof WARNINGS;

/** Reports whether a warning is about the effect of a write, which does not matter where nothing writes. */
export function isAboutWrite({ code }: Pick<Warning, 'code'>): boolean {
  return code === 'guard' || code === 'lose-unreadable' || isOfWriting({ code });
}

export function isOfWriting({ code }: Pick<Warning, 'code'>): boolean {
  return WARNINGS[code] === 'writing';
}

/** The code of an error in a document. One of a later version may have a code that is not known here. */
export type ReportedCode = ErrorCode | (string & Record<never, never>);

/** An error in a document. */
export interface ErrorReport {
  /** What happened, for programs. */
  readonly code: ReportedCode;
  /** What happened, in a sentence. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}
