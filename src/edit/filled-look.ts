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
  const record = stubs.reduce<Value>((value, { at, written, name }) => {
    const text = written
      .replaceAll(`\${env:${name}}`, () => standIn(name))
      .replaceAll('$${', () => '${');
    return replaced(value, at, new Secret(text, null, new Identity(bareUrl(text))));
  }, observed.record);
  return isRecord(record) ? { ...observed, record } : observed;
}

function replaced(value: Value, [key, ...rest]: readonly string[], secret: Secret): Value {
  if (key === undefined) return secret;
  if (isList(value)) {
    // Entries are counted as a plan counts them: whatever is no map is none.
    const entries = value.some(isRecord) ? value.filter(isRecord) : value;
    return entries.map((item, index) =>
      String(index) === key ? replaced(item, rest, secret) : item,
    );
  }
  if (!isRecord(value)) return value;
  return recordOf(
    Object.entries(value).map(([name, member]) => [
      name,
      name === key ? replaced(member, rest, secret) : member,
    ]),
  );
}
