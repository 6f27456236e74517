import { bareUrl, Identity } from '../model/identity.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { isList, isRecord, recordOf, type Value } from '../model/value.ts';
import type { NamedStub } from './named-puts.ts';

/** What stands for a secret on both sides, where an edited file is compared with the look it was made from. */
function standIn(name: string): string {
  return `setpoint-stands-for-${name}`;
}

/** The source of references in which the variables of stubs have their stand-ins. */
export function filledSource(
  source: ReferenceSource,
  stubs: readonly NamedStub[],
): ReferenceSource {
  const names = new Set(stubs.map(({ name }) => name));
  return {
    ...source,
    variable: (name) => (names.has(name) ? standIn(name) : source.variable(name)),
  };
}

/** The look in which the secrets behind stubs are their stand-ins, so that nothing has to be opened to compare them. */
export function filledLook(observed: ObservedState, stubs: readonly NamedStub[]): ObservedState {
  const root: StandIns = { secret: null, below: new Map() };
  for (const { at, written, name } of stubs) {
    const text = written
      .replaceAll(`\${env:${name}}`, () => standIn(name))
      .replaceAll('$${', () => '${');
    put(root, at, new Secret(text, null, new Identity(bareUrl(text))));
  }
  const values = replaced(observed.values, root);
  return isRecord(values) ? { ...observed, values } : observed;
}

/** The stand-ins by the places where they stand, so that a record is gone through once. */
interface StandIns {
  secret: Secret | null;
  readonly below: Map<string, StandIns>;
}

function put(root: StandIns, at: readonly string[], secret: Secret): void {
  let node = root;
  for (const key of at) {
    const next = node.below.get(key) ?? { secret: null, below: new Map<string, StandIns>() };
    node.below.set(key, next);
    node = next;
  }
  node.secret = secret;
}

function replaced(value: Value, standIns: StandIns | undefined): Value {
  if (standIns === undefined) return value;
  if (standIns.secret !== null) return standIns.secret;
  const { below } = standIns;
  if (isList(value)) {
    // Entries are counted as a plan counts them: whatever is no map is none.
    const entries = value.some(isRecord) ? value.filter(isRecord) : value;
    return entries.map((item, index) => replaced(item, below.get(String(index))));
  }
  if (!isRecord(value)) return value;
  return recordOf(
    Object.entries(value).map(([name, member]) => [name, replaced(member, below.get(name))]),
  );
}
