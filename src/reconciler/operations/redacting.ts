import { SetpointError } from '../model/error.ts';
import type { Run } from '../model/plan.ts';
import type { ReferenceSource, Tracer } from '../model/ports.ts';
import { redactDocument } from '../model/redacted.ts';
import { Redactor, SharedValues } from '../model/redactor.ts';
import {
  referenceSource,
  requestSource,
  SecretValues,
  type RequestedSecrets,
  type SecretAnswers,
} from '../host/reference-source.ts';
import { allowListeners, freeGrownMemory, runInfo, findTracer } from '../host/this-process.ts';
import { Networks, readProxyVariables, type ProxyVariables } from '../service/network.ts';
import type { Options } from './options.ts';

/**
 * The values of the references of one run, all of them and those of each target. Each target's redactor also masks those of all: see
 * Redactor.
 */
export class RunRedactors {
  /** The values that mask the documents of every target. */
  readonly shared: SharedValues;
  readonly all: Redactor;
  readonly #targets = new Map<string, Redactor>();
  readonly #finished = new Set<string>();

  constructor(shared = new SharedValues()) {
    this.shared = shared;
    this.all = new Redactor(shared);
  }

  of(target: string): Redactor {
    if (this.#finished.has(target)) return this.all;
    const known = this.#targets.get(target);
    if (known !== undefined) return known;
    const redactor = new Redactor(this.shared);
    this.#targets.set(target, redactor);
    return redactor;
  }

  /** Adds a value that a target's documents must not show. */
  add(target: string, value: string, ref: string | null): void {
    this.all.add(value, ref);
    this.of(target).add(value, ref);
  }

  /** Gives up what masks a target's values quickly until it is prepared again; they stay among all. */
  release(target: string): void {
    this.#targets.delete(target);
  }

  /** Ends the work on a target. Its values stay among all, but what masks them quickly is given up. */
  finish(target: string): void {
    this.#targets.delete(target);
    this.#finished.add(target);
  }
}

/** The input of an operation: its request, the values of its references, and the networks that its environments share. */
export type Running<R extends Options> = R & {
  /** Looks references up; what it finds must be noted: see sourceFor. */
  readonly references: ReferenceSource;
  /** The values of secret commands, or those that objects of a cluster request: see askSecrets. */
  readonly secrets: SecretAnswers | RequestedSecrets;
  readonly resolved: RunRedactors;
  readonly networks: Networks;
  readonly tracer: Tracer;
  readonly proxy: ProxyVariables;
  /** Files whose disk does not answer now. */
  readonly silent: ReadonlySet<string>;
};

/** Creates the lookups of a run in its variables once, because the process reads a variable again at each access. */
function createLookups(
  env: Options['env'],
  silent: ReadonlySet<string>,
  secrets: SecretAnswers | RequestedSecrets,
): Pick<Running<Options>, 'references' | 'secrets' | 'proxy' | 'silent'> {
  const references =
    'request' in secrets ? requestSource(secrets) : referenceSource(env, silent, secrets);
  return { references, secrets, proxy: readProxyVariables(env), silent };
}

/** Returns the same run without reading files on a disk that does not answer. */
export function withoutFiles<R extends Options>(
  run: Running<R>,
  silent: ReadonlySet<string>,
): Running<R> {
  return { ...run, ...createLookups(run.env, silent, run.secrets) };
}

/** Returns the same run with other variables. */
export function withVariables<R extends Options>(run: Running<R>, env: Options['env']): Running<R> {
  return { ...run, env, ...createLookups(env, run.silent, run.secrets) };
}

/** Resolves references of targets; every value that it gives is masked in their documents, and a long one in those of all others. */
export function createMaskingSource(
  targets: readonly string[],
  { references: source, resolved }: Pick<Running<Options>, 'references' | 'resolved'>,
): ReferenceSource {
  const { requested } = source;
  const note = (value: string, ref: string | null): void => {
    resolved.shared.add(value);
    for (const target of targets) resolved.add(target, value, ref);
  };
  return {
    variable: (name) => {
      const value = source.variable(name);
      if (value !== undefined) note(value, null);
      return value;
    },
    file: (path) => {
      const found = source.file(path);
      if ('text' in found) note(found.text, null);
      return found;
    },
    secret: (one) => {
      const found = source.secret?.(one) ?? { problem: 'its secret command was not run' };
      if ('text' in found) note(found.text, null);
      return found;
    },
    resolved: note,
    ...(requested === undefined ? {} : { requested }),
  };
}

/** The secrets of a controller, for all its runs. */
export interface SharedSecretSource {
  forRun(): SecretAnswers | RequestedSecrets;
}

/**
 * Runs an operation so that no value of its references leaves it: its document is masked, each target's part by that target's
 * values and the rest by all of them, and so is an error that it throws.
 */
export async function redacting<R extends Options, D extends object>(
  request: R,
  work: (running: Running<R>) => Promise<D>,
): Promise<D> {
  return running(request, async (run) => redactWithLookups(await work(run), run.resolved));
}

/** Receives a document in parts: its first members, then its environments, one at a time, in their order. */
export interface Parts<Head extends object, Environment extends { readonly name: string }> {
  /** `total` is how many environments there will be. */
  readonly begin: (head: Head, total: number) => Promise<void>;
  /** `run` is who started it, masked by the values of this environment and those before it. */
  readonly environment: (part: Environment, run?: Run) => Promise<void>;
}

/**
 * Returns the same for a document whose environments are handed on as soon as each is finished, and are not stored: the values of its
 * references are masked in its part. `run` and the summary come after the environments, because the values of all of them are masked there.
 * The summary shortens sentences, and half of a value could not be found in it: it is made of masked texts.
 */
export async function redactingParts<
  R extends Options,
  Head extends object,
  E extends { readonly name: string },
  Ended extends object,
  Summary,
>(
  request: R,
  parts: Parts<Head, E>,
  tally: { readonly add: (part: E) => void; readonly summary: () => Summary },
  work: (running: Running<R>, parts: Parts<Head, E>) => Promise<Ended>,
): Promise<Ended & { readonly run: Run; readonly summary: Summary }> {
  return running(request, async (started) => {
    const { resolved } = started;
    let run = runInfo(request.env);
    let finished = 0;
    const ended = await work(started, {
      begin: parts.begin,
      environment: async (part) => {
        const redactor = resolved.of(part.name);
        const shown = redactDocument(part, redactor);
        run = redactDocument(run, redactor);
        tally.add(shown);
        await parts.environment(shown, run);
        resolved.finish(part.name);
        finished += 1;
        if (finished % COLLECT_EACH === 0) freeGrownMemory();
      },
    });
    started.tracer.revision(run.commit);
    return { ...ended, run, summary: tally.summary() };
  });
}

/** Environments after which memory is collected if there may be much to collect. */
const COLLECT_EACH = 250;

/** A document as a whole, from an operation that hands it on in parts. */
export async function wholeDocument<
  Head extends object,
  E extends { readonly name: string },
  Tail extends object,
>(
  work: (parts: Parts<Head, E>) => Promise<Tail>,
): Promise<Head & { readonly environments: readonly E[] } & Tail> {
  const heads: Head[] = [];
  const environments: E[] = [];
  const tail = await work({
    begin: async (head) => {
      heads.push(head);
    },
    environment: async (part) => {
      environments.push(part);
    },
  });
  const [head] = heads;
  if (head === undefined) throw new SetpointError('internal', 'A document ended before it began.');
  return { ...head, environments, ...tail };
}

/** The parts that runs share: the networks, with the pace of each origin, and the values that are masked in all of them. */
export interface Sharing {
  readonly networks: Networks;
  readonly values: SharedValues;
}

/** Runs an operation. What it throws is masked; its result is not. */
export async function running<
  R extends Options & { readonly sharedSecrets?: SharedSecretSource | undefined },
  T,
>(request: R, work: (running: Running<R>) => Promise<T>, sharing?: Sharing): Promise<T> {
  const resolved = new RunRedactors(sharing?.values);
  const networks = sharing?.networks ?? new Networks();
  try {
    allowListeners(request.signal);
    const tracer = await findTracer();
    const secrets =
      request.sharedSecrets?.forRun() ?? new SecretValues(request.env, request.resolveSecret);
    const lookups = createLookups(request.env, NONE, secrets);
    return await work({ ...request, ...lookups, resolved, networks, tracer });
  } catch (thrown) {
    if (thrown instanceof SetpointError) redactError(thrown, resolved.all);
    throw thrown;
  } finally {
    if (sharing === undefined) await networks.close();
  }
}

const NONE: ReadonlySet<string> = new Set();

function redactWithLookups<D extends object>(document: D, resolved: RunRedactors): D {
  const { environments } = document as { readonly environments?: readonly { name: string }[] };
  if (environments === undefined) return redactDocument(document, resolved.all);
  return {
    ...redactDocument({ ...document, environments: [] }, resolved.all),
    environments: environments.map((part) => redactDocument(part, resolved.of(part.name))),
  };
}

function redactError(error: SetpointError, redactor: Redactor): void {
  const { message, hint, stack = '' } = error;
  Object.assign(error, {
    message: redactor.text(message),
    hint: redactor.text(hint),
    stack: redactor.text(stack),
  });
}
