import type { DialectName } from '../model/dialect.ts';
import type { ObservedDocument, SmokeStep } from '../model/documents.gen.ts';
import type { SetpointError } from '../model/error.ts';
import type { Resource } from '../model/observed.ts';
import type { FileEdit } from '../model/pulled.ts';
import type { EnvironmentPlan, PlanDocument } from '../model/plan.ts';
import type { Clock, SecretResolver, Variables } from '../model/ports.ts';
import type { Costs } from '../model/proof.ts';
import type { Shard } from '../model/shard.ts';
import type { Dispatcher } from '../model/dispatcher.ts';
import type { SandboxProgress } from '../model/progress.ts';

/** The options of every operation. Nothing is read from the process: the caller passes its variables. */
export interface Options {
  /**
   * Whether the files are some of several, so that one without a name goes by its file name. Default: if there is more than one.
   *
   * @internal
   */
  readonly several?: boolean | undefined;
  /** The settings file, or several: each is an environment of its own. */
  readonly file?: string | readonly string[] | undefined;
  /** The settings themselves, instead of a file. */
  readonly text?: string | undefined;
  /**
   * The folder under which setpoint stores what it remembers in `.setpoint`: fingerprints, if `env` has SETPOINT_STATE_KEY, and the
   * store of `embedded:`. Null: nothing is stored. Default: the folder of the settings file; null with `text`.
   */
  readonly state?: string | null | undefined;
  /** The variables that references name, and SETPOINT_ALLOWED_ORIGINS and the like. */
  readonly env: Variables;
  /**
   * Returns the value of a reference `${secret:NAME/PATH}`, or null if there is none. It takes the place of SETPOINT_SECRET_COMMANDS, and is
   * called once for each secret of a run, four at a time. Where SETPOINT_ALLOWED_SECRETS is set, it is called for no other.
   */
  readonly resolveSecret?: SecretResolver | undefined;
  /** The names of the environments, in this order. Default: all. */
  readonly targets?: readonly string[] | undefined;
  /**
   * Reports whether the file of variables that --dotenv would read has one of these.
   *
   * @internal
   */
  readonly dotenvHas?: (names: readonly string[]) => boolean;
  /**
   * What named the environments, for errors, if that is not plain: an input.
   *
   * @internal
   */
  readonly targetsFrom?: string | undefined;
  /**
   * Conditions on the labels of the environments, as kubectl takes them: `ring=0`, `region in (eu,us),!legacy`. All of them
   * hold, also with `targets`.
   */
  readonly selector?: string | readonly string[] | undefined;
  /**
   * The same as targetsFrom, for `selector`.
   *
   * @internal
   */
  readonly selectorFrom?: string | undefined;
  /** Only the environments of one shard of those chosen. A shard may have none. */
  readonly shard?: Shard | undefined;
  /** Receives how many environments the run has, and how many were chosen, before anything is sent. */
  readonly onSelected?: ((own: number, chosen: number) => void) | undefined;
  /** An address instead of the file's. */
  readonly server?: string | undefined;
  /** Milliseconds for one request; all requests for the settings of an environment may take four times as long. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** The maximum number of attempts of a failing read of the settings. Default: four. */
  readonly tries?: number | undefined;
  /** A JSON Schema, or the path of one, that what each environment declares must fit, references as they are written. */
  readonly policy?: string | object | undefined;
  /** The path or the text of the file as it was last applied: with it, every change shows whether the file changed, the service, or both. */
  readonly base?: string | SettingsText | undefined;
  /** Bytes a settings file may have. Default: 1 MiB; at most 16 MiB. */
  readonly maxFileSize?: number | undefined;
  /**
   * The number of environments to work on in parallel, from 1 to 999. Default: 1 for apply; 8 for commands that only read, 32 from 100
   * environments on.
   */
  readonly parallel?: number | undefined;
  /** undici's dispatcher, instead of the network. */
  readonly dispatcher?: Dispatcher | undefined;
  /** The time, and how to wait; the system's if absent. */
  readonly clock?: Clock | undefined;
  /** Milliseconds to wait for sandboxes; 0 does not wait. Default: 300,000. */
  readonly wait?: number | undefined;
  /**
   * Milliseconds to wait, for each environment, for a service that is starting: it refuses connections, or a proxy in front of it
   * answers 502. Default: it is an error.
   */
  readonly waitReady?: number | undefined;
  /**
   * Receives the problem of a service that is waited for, by the environment's name, and null once it answers: with `waitReady`, and after five
   * seconds of refusals, such as for too many requests.
   */
  readonly onStarting?: ((target: string, problem: string | null) => void) | undefined;
  /** Receives how many environments of a plan or an apply have ended, at the beginning and at the end of each. */
  readonly onEnvironment?: ((ended: EnvironmentsEnded) => void) | undefined;
  /**
   * Where the files are if they are of a commit, and not in the working directory.
   *
   * @internal
   */
  readonly checkout?: Checkout | undefined;
  /** Stops the operation: before a write at once, during a write once it is verified. Reason 'SIGTERM' makes it exit 143. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Files that are not of the working directory, such as those of a commit in a folder: bases must lie in `root`, and what is known of secrets is kept in `state` instead of beside the files.
 *
 * @internal
 */
export interface Checkout {
  /** The possible authors. */
  readonly from: 'branch' | 'cluster' | 'agent';
  readonly root: string;
  /** Default: beside the files. */
  readonly state?: string;
}

/** The text of a settings file. */
export interface SettingsText {
  /** The text, in YAML. */
  readonly text: string;
}

/** The progress of a run over several environments. */
export interface EnvironmentsEnded {
  /** The number of environments ended. */
  readonly done: number;
  /** The number of environments there are. */
  readonly total: number;
  /** The failures among those that are done, without those that were never started. */
  readonly failed: number;
}

/** The option to let a service try the models, keys, mcp servers and agent profiles of a file. */
export interface Checking {
  /** True to try them. That sends POST requests, and refuses to run for a pull request. Default: false. */
  readonly check?: boolean | undefined;
  /** Receives, before it does, its cost in addition to requests, by the environment's name. */
  readonly onChecks?: ((target: string, costs: Costs) => void) | undefined;
}

/** The options of `plan`. */
export interface PlanRequest extends Options, Checking {
  /** Secrets to write again although nothing shows that they differ: paths, or 'all'. */
  readonly rotate?: 'all' | readonly string[] | undefined;
  /**
   * The paths that this run leaves unchanged although the file declares them: settings, mcp entries and items. Their references need no
   * value. Only settings that a service preserves when a write omits them.
   */
  readonly without?: readonly string[] | undefined;
  /**
   * The paths that this run is limited to: settings, mcp entries, items, or a block with all of its items. The rest of the file is not
   * compared or written, and its references need no value. Default: all.
   */
  readonly only?: readonly string[] | undefined;
  /** The document that `get` returned, or the path of one, instead of the services: nothing is sent, and no variable is looked up. */
  readonly snapshot?: string | ObservedDocument | undefined;
  /** Guards to lift for this run. */
  readonly allow?: readonly string[] | undefined;
  /** True if the document gets digests, without which a saved plan approves nothing. Default: true. */
  readonly digests?: boolean | undefined;
  /** True if changes that only follow from others are omitted, for a report that makes none of them. */
  readonly differences?: boolean | undefined;
  /** True if what could not be compared counts: an environment that otherwise matches is then `unknown`. */
  readonly strict?: boolean | undefined;
  /** Receives the state of the sandboxes that are waited for, by the environment's name. */
  readonly onProgress?: ((target: string, waiting: readonly SandboxProgress[]) => void) | undefined;
  /**
   * The number of environments that may end with an error, a number or a share such as '10%', before no more are started; those have the
   * error `skipped`. Default: no limit; for apply 0.
   */
  readonly maxFailures?: number | string | undefined;
  /** The greatest age of the snapshot, in milliseconds. Without it, one that is older than a day is a warning. */
  readonly maxAge?: number | undefined;
}

/** What `drift` takes. */
export type DriftRequest = Omit<
  PlanRequest,
  'snapshot' | 'rotate' | 'allow' | 'without' | 'differences'
>;

/** The options of a command that writes. */
export interface WritingRequest extends Options {
  /** Select every environment if there are several and none is named. */
  readonly all?: boolean | undefined;
}

/** The options of `apply`. */
export interface ApplyRequest extends Omit<PlanRequest, 'snapshot' | 'digests'>, WritingRequest {
  /** A saved plan, beyond which nothing is done. Absent: whatever the plan is. */
  readonly approved?: PlanDocument | undefined;
  /** Write only to services on which nothing is stored yet. */
  readonly ifEmpty?: boolean | undefined;
  /** Receives each plan that has changes, before guards and questions. */
  readonly onPlan?: ((plan: EnvironmentPlan) => Promise<void>) | undefined;
  /** Approves each write, by the environment's name; asked one at a time. Absent: every plan is approved. */
  readonly confirm?: ((target: string) => Promise<boolean>) | undefined;
  /** Asked right before each request that writes: with an error, which the outcome then has, nothing more is sent. */
  readonly beforeWrite?: (() => Promise<SetpointError | null>) | undefined;
  /** Abandons what is in flight; its state in the outcome is then unknown. */
  readonly abandon?: AbortSignal | undefined;
}

/** What `pull` takes. */
export interface PullRequest extends Options {
  /** Unmanaged values to adopt: paths as the plan lists them, or all. Secrets become references. */
  readonly adopt?: 'all' | readonly string[] | undefined;
  /** Write nothing. */
  readonly check?: boolean | undefined;
  /** Edit files that have uncommitted changes, too. */
  readonly force?: boolean | undefined;
  /** Called with each file's edit before it is written. */
  readonly onEdit?: ((edit: FileEdit) => Promise<void>) | undefined;
}

/** What `init` takes. */
export interface InitRequest extends Omit<Options, 'targets' | 'text'> {
  /** The environment to add to an existing file. Without it, a new file is written. */
  readonly environment?: string | undefined;
  /**
   * Files, or folders such as `~/.openhands`, of what people had before setpoint. With them the file is made of what they hold, and no
   * service is read: `server` is only written into it.
   */
  readonly from?: readonly string[] | undefined;
  /** The kind of service that a file of `from` is for. Default: what services of every kind take. */
  readonly dialect?: DialectName | undefined;
  /** The address of the automation service, written into the file as `server.automation_url`. Default: that of `server`. */
  readonly automationUrl?: string | undefined;
}

/** What `explain` takes. */
export interface ExplainRequest extends Options {
  /** A field, or a part of one: `llm_model`, `mcp_config.sse_servers[https://x/sse].api_key`; also `server.url` and the like. */
  readonly path: string;
  /** Read no service, and leave out what an apply would do. */
  readonly offline?: boolean | undefined;
}

/** What `get` takes. */
export interface GetRequest extends Options {
  /** What to read. Default: the settings. */
  readonly resources?: readonly Resource[] | undefined;
  /** Whether the document gets digests, without which no plan can be made against it. Default: true. */
  readonly digests?: boolean | undefined;
}

/** `check` has each service try what the file declares and it has stored. That sends POST requests, and needs a file. */
export interface DoctorRequest extends Options, Checking {}

/** What `smoke` takes. */
export interface SmokeRequest extends WritingRequest {
  /** The first message of the conversation. Default: a greeting. */
  readonly message?: string | undefined;
  /** Approves each start of a conversation. Absent: every one is approved. */
  readonly confirm?: ((target: string, origin: string | null) => Promise<boolean>) | undefined;
  /** Receives every step as it is observed. */
  readonly onStep?: ((target: string, step: SmokeStep) => void) | undefined;
  /** Ends the run at once when it fires; a conversation that was started may remain. */
  readonly abandon?: AbortSignal | undefined;
}

export const DEFAULT_TIMEOUT = 30_000;
export const DEFAULT_WAIT = 300_000;
export const DEFAULT_FILE = 'settings.yaml';
export const DEFAULT_FILE_SIZE = 1024 * 1024;
export const LARGEST_FILE_SIZE = 16 * 1024 * 1024;
