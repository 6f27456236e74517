import { formatPath, type Path } from '../model/path.ts';
import type { Observer } from '../model/ports.ts';
import { lockedSecrets, type SchemaLock } from '../model/schema-lock.ts';
import type { ObservedState, SecretState } from '../model/state.ts';
import { isEmpty, placed, recordOf, valueAt } from '../model/value.ts';
import { sealed } from './conceal.ts';

/** An observer of a service with the members that a lock has. */
export function knowing(lock: SchemaLock | undefined, observer: Observer): Observer {
  if (lock === undefined) return observer;
  return { observe: async (signal) => withLock(await observer.observe(signal), lock) };
}

/** A state in which the secrets of a lock are secrets: wrapped, and known by whether they are stored. */
export function withLock(state: ObservedState, lock: SchemaLock): ObservedState {
  const paths = lockedSecrets(lock, state.dialect.name);
  if (paths.length === 0) return state;
  const names = new Set(paths.map(formatPath));
  const secrets = new Map(state.secrets);
  for (const path of paths) secrets.set(formatPath(path), storedAt(path, state));
  return {
    ...state,
    secrets,
    values: recordOf(Object.entries(state.values).filter(([name]) => !names.has(name))),
    ...(state.pointed === undefined ? {} : { pointed: withoutNames(state.pointed, names) }),
    answer: paths.reduce((answer, path) => {
      const value = valueAt(answer, path);
      return value === undefined ? answer : placed(answer, path, sealed(value));
    }, state.answer),
  };
}

/** What the lock knows to be secret is not told of a profile: of a secret only those of the schema are compared. */
function withoutNames(
  pointed: NonNullable<ObservedState['pointed']>,
  names: ReadonlySet<string>,
): ObservedState['pointed'] & object {
  const open = (values: ObservedState['values']) =>
    recordOf(Object.entries(values).filter(([name]) => !names.has(name)));
  return new Map(
    [...pointed].map(([pointer, one]) => {
      const { brings } = one;
      return [
        pointer,
        brings === null ? one : { ...one, brings: { ...brings, values: open(brings.values) } },
      ];
    }),
  );
}

/** A dialect that shows of each secret whether it is stored answers null for one that is not. */
function storedAt(path: Path, { answer, dialect }: ObservedState): SecretState {
  const value = valueAt(answer, path);
  if (value !== undefined && !isEmpty(value)) return 'stored';
  return value !== undefined && dialect.name === 'agent-server' ? 'not-stored' : 'not-reported';
}
