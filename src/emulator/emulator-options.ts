import type { SandboxOutcome } from './sandboxes/sandbox-outcome.ts';
import type { ServerMcp } from './settings/server-mcp.ts';

export interface EmulatorOptions {
  /** TCP port, 0 to 65535. Default: 0, a free one. */
  readonly port?: number;
  /** Name or address to listen on. Default: 127.0.0.1. Anything off loopback needs an `apiKey`. */
  readonly host?: string;
  /** Path of the file that keeps the store, created when there is something to keep. Default: none, the store lives in memory. */
  readonly data?: string;
  /** What the X-Session-API-Key header must be. Default: none, the header is ignored; an empty key counts as none. */
  readonly apiKey?: string;
  /** mcp entries that the server owns and puts first in every load. Default: none. */
  readonly serverMcp?: ServerMcp;
  /** Names, without port, that a Host header may hold besides those of loopback. Default: none. */
  readonly allowHosts?: readonly string[];
  /** How long a sandbox is STARTING, in milliseconds; a step of a conversation's start takes a fifth. Default: 500. */
  readonly startMs?: number;
  /**
   * The state that a started sandbox reaches; kept with it, so that a resume goes the same way. Default: `running`.
   *
   * - `running`: STARTING, then RUNNING.
   * - `flapping`: STARTING, then ERROR for `startMs`, then RUNNING.
   * - `starting`: STARTING for good, though it is up: it can be paused, and conversations run in it.
   * - `error`: STARTING, then ERROR for good.
   * - `missing`: STARTING, then MISSING for good; it is listed, and cannot be paused or resumed.
   */
  readonly becomes?: SandboxOutcome;
  /**
   * How many sandboxes may run. Every start and every resume first pauses the oldest RUNNING ones until one fewer runs,
   * without a word, the target of the resume not spared. With 1 every start and resume is answered with 500.
   * Default: none, any number.
   */
  readonly maxRunning?: number;
  /**
   * How many times the list of sandboxes is answered with an empty page before it is answered, as in an outage of what
   * runs the sandboxes. Counted from the start of this service, not kept in the store. Default: 0.
   */
  readonly emptyLists?: number;
  /** The most items on a page, 1 to 100, whatever limit was asked for. Default: 100. */
  readonly pageSize?: number;
  /** Whether GET /api/v1/app-conversations wants ids (else 422), as the recorded server does. Default: false, it lists. */
  readonly requireIds?: boolean;
  /** How long the run of a conversation's initial message takes, in milliseconds. Default: 2000. */
  readonly runMs?: number;
  /**
   * Ids of the sandbox specs; the first is the default one. Default: `ghcr.io/example/agent-server:1.0-python` and
   * `ghcr.io/example/agent-server:1.0-node`.
   */
  readonly specs?: readonly string[];
  /** The clock, in milliseconds since 1970; for tests that move time by hand. Default: Date.now. */
  readonly now?: () => number;
}
