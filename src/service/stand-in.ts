/**
 * A foreign error without its text, which may quote a header, a body or a url: what is left is its class and its code. This
 * is what goes into `cause`, since inspecting an error shows its cause.
 */
export function standIn(thrown: unknown): Error {
  const name = thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  const code = foreignCode(thrown);
  return new Error(code === null ? name : `${name} ${code}`);
}

/** The code of a foreign error, or of the first error inside it that has one. */
export function foreignCode(thrown: unknown): string | null {
  for (const error of lineage(thrown)) {
    if ('code' in error && typeof error.code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(error.code)) {
      return error.code;
    }
  }
  return null;
}

function* lineage(thrown: unknown): Generator<Error> {
  let error = thrown;
  for (let depth = 0; depth < 4 && error instanceof Error; depth += 1) {
    yield error;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
}
