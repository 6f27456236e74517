import { gitProducts, type GitProvider, resolveGitHost } from './collections/git-check.ts';
import type { ServerMcp } from './settings/mcp-config.ts';

/** The dialects of the settings that the service speaks, each as one release does; a test compares them with those of settings.yaml. */
export const emulatorDialects = ['settings-v0', 'app-server', 'agent-server'] as const;

/** The APIs that the embedded service speaks. */
export type EmulatorDialect = (typeof emulatorDialects)[number];

export function isEmulatorDialect(value: unknown): value is EmulatorDialect {
  return emulatorDialects.some((dialect) => dialect === value);
}

/** A stand-in for a model of a provider. */
export interface ServedModel {
  /** The name of the model, as an llm has it. */
  readonly model: string;
  /** The text that each accepted key contains; an empty text is in all. */
  readonly accepts: string;
}

/** A stand-in for an mcp server: its program or address, and the text that one of its secrets contains. */
export interface ServedMcp {
  /** The command with its arguments, a blank between, or the address. */
  readonly at: string;
  readonly accepts: string;
}

/** Options of the embedded service. */
export interface EmulatorOptions {
  /** The API of its settings, which decides the kind of server it imitates. Default: settings-v0. */
  readonly dialect?: EmulatorDialect;
  /** TCP port, 0 to 65535. Default: 0, a free one. */
  readonly port?: number;
  /** Name or address to listen on. Default: 127.0.0.1. Anything off loopback needs an `apiKey`. */
  readonly host?: string;
  /** Path of the file that keeps the store, created when there is something to keep. Default: none, the store lives in memory. */
  readonly data?: string;
  /**
   * The required X-Session-API-Key header. Default: none, the header is ignored, and a Host header must name loopback; an empty key counts
   * as none.
   */
  readonly apiKey?: string;
  /** mcp entries that the server owns and puts first in every load. Default: none. */
  readonly serverMcp?: ServerMcp;
  /** The time that a sandbox is STARTING, in milliseconds; a step of a conversation's start takes a fifth. Default: 500. */
  readonly startMs?: number;
  /**
   * The state that a started sandbox reaches; stored with it, so that a resume goes the same way. Default: `running`.
   *
   * - `running`: STARTING, then RUNNING.
   * - `flapping`: STARTING, then ERROR for `startMs`, then RUNNING.
   * - `starting`: STARTING for good, though it is up: it can be paused, and conversations run in it.
   * - `error`: STARTING, then ERROR for good.
   * - `missing`: STARTING, then MISSING for good; it is listed, and cannot be paused or resumed.
   */
  readonly becomes?: SandboxOutcome;
  /** The most items on a page, 1 to 100, whatever limit a request gives. Default: 100. */
  readonly pageSize?: number;
  /** The time that an agent works on a conversation's initial message, in milliseconds. Default: 2000. */
  readonly runMs?: number;
  /**
   * Ids of the sandbox specs; the first is the default one. Default: `ghcr.io/example/agent-server:1.0-python` and
   * `ghcr.io/example/agent-server:1.0-node`.
   */
  readonly specs?: readonly string[];
  /**
   * Git providers that confirm tokens. As on a real server a token is stored if its product accepts it as its own; here it does if the
   * token contains a text. Default: none; every new token is refused, as without a network.
   */
  readonly gitProviders?: readonly GitProvider[];
  /**
   * Models that answer when a client asks whether an LLM profile works. As with the git providers, a key is accepted if it contains a text.
   * Default: none; no model works.
   */
  readonly models?: readonly ServedModel[];
  /** Mcp servers that answer when a client asks whether one works: the command or the address of each. Default: none. */
  readonly mcpServers?: readonly ServedMcp[];
  /** The clock, in milliseconds since 1970; for tests that move time by hand. Default: Date.now. */
  readonly now?: () => number;
}

/** The values of the option `becomes`. */
export const servedStates = ['running', 'flapping', 'starting', 'error', 'missing'] as const;

/**
 * The state that a started sandbox reaches, as `EmulatorOptions.becomes` explains it.
 * Source: behaviour 3.2: containers that boot report ERROR until they answer; processes report STARTING while they idle.
 */
export type SandboxOutcome = (typeof servedStates)[number];

export function isServedState(value: unknown): value is SandboxOutcome {
  return servedStates.some((outcome) => outcome === value);
}

/** The options of behaviour, defaults filled in; `EmulatorOptions` explains them. */
export interface Knobs {
  readonly startMs: number;
  readonly becomes: SandboxOutcome;
  readonly pageSize: number;
  readonly runMs: number;
  /** Never empty: the default, then the others. */
  readonly specs: readonly [string, ...string[]];
  readonly gitProviders: readonly GitProvider[];
  readonly models: readonly ServedModel[];
  readonly mcpServers: readonly ServedMcp[];
}

const defaultSpecs = [
  'ghcr.io/example/agent-server:1.0-python',
  'ghcr.io/example/agent-server:1.0-node',
];
const most = 999_999_999;

/** Throws an Error that names the option if one has a value that it does not take. */
export function readKnobs(options: EmulatorOptions): Knobs {
  const { becomes = 'running', gitProviders = [] } = options;
  if (!isServedState(becomes))
    throw createOptionError('becomes', `one of ${servedStates.join(', ')}`);
  const [spec, ...others] = options.specs ?? defaultSpecs;
  if (spec === undefined || [spec, ...others].includes(''))
    throw createOptionError('specs', 'ids, at least one');
  if (gitProviders.some((one) => resolveGitHost(one) === undefined))
    throw createOptionError(
      'gitProviders',
      `a list of ${gitProducts.join(', ')}, each where it is`,
    );
  return {
    startMs: integerWithin('startMs', options.startMs ?? 500, 0),
    becomes,
    pageSize: integerWithin('pageSize', options.pageSize ?? 100, 1, 100),
    runMs: integerWithin('runMs', options.runMs ?? 2000, 0),
    specs: [spec, ...others],
    gitProviders,
    models: options.models ?? [],
    mcpServers: options.mcpServers ?? [],
  };
}

function integerWithin(option: string, value: number, least: number, greatest = most): number {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value;
  throw createOptionError(option, `a whole number from ${least} to ${greatest}`);
}

function createOptionError(option: string, expected: string): Error {
  return new Error(`The embedded service's ${option} is not ${expected}.`);
}
