import { SetpointError } from '../model/error.ts';
import type { Forms } from '../model/encodings.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { redacted } from '../model/redacted.ts';
import { Redactor } from '../model/redactor.ts';
import { referenceSource } from '../host/reference-source.ts';
import { Networks } from '../service/networks.ts';
import type { Options } from './options.ts';

/** The values of the references of one run, all of them and those of each target: see Redactor. */
export class Resolved {
  readonly #forms = new Map<string, Forms>();
  readonly all = new Redactor(this.#forms);
  readonly #targets = new Map<string, Redactor>();

  of(target: string): Redactor {
    const known = this.#targets.get(target);
    if (known !== undefined) return known;
    const redactor = new Redactor(this.#forms);
    this.#targets.set(target, redactor);
    return redactor;
  }

  /** Adds a value that a target's documents must not show. */
  add(target: string, value: string, ref: string | null): void {
    this.all.add(value, ref);
    this.of(target).add(value, ref);
  }
}

/** What an operation works with: its request, the values of its references, and the networks that its environments share. */
export type Running<R extends Options> = R & {
  readonly resolved: Resolved;
  readonly networks: Networks;
};

/** Resolves references of targets; every value that it gives is masked in their documents. */
export function sourceFor(
  targets: readonly string[],
  { env, resolved }: Pick<Running<Options>, 'env' | 'resolved'>,
): ReferenceSource {
  const source = referenceSource(env);
  const note = (value: string, ref: string | null): void => {
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
    resolved: note,
  };
}

/**
 * Runs an operation so that no value of its references leaves it: its document is masked, each target's part by that target's
 * values and the rest by all of them, and so is an error that it throws.
 */
export async function redacting<R extends Options, D extends object>(
  request: R,
  work: (running: Running<R>) => Promise<D>,
): Promise<D> {
  const resolved = new Resolved();
  const networks = new Networks();
  try {
    return redactedDocument(await work({ ...request, resolved, networks }), resolved);
  } catch (thrown) {
    if (thrown instanceof SetpointError) redactError(thrown, resolved.all);
    throw thrown;
  } finally {
    await networks.close();
  }
}

function redactedDocument<D extends object>(document: D, resolved: Resolved): D {
  const { environments } = document as { readonly environments?: readonly { name: string }[] };
  if (environments === undefined) return redacted(document, resolved.all);
  return {
    ...redacted({ ...document, environments: [] }, resolved.all),
    environments: environments.map((part) => redacted(part, resolved.of(part.name))),
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
