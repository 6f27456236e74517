import type { Value } from '../model/value.ts';
import { marked, markerOf, variableName, type Stub } from './stub.ts';

/** The reference that stands for a field of the service whose value is a secret: called as the field is. */
export function fieldStub(name: string, secret: Value): Stub {
  const marker = markerOf(name);
  return {
    marker,
    path: [name],
    at: [name],
    secret,
    written: marked(marker),
    names: [variableName(name)],
  };
}
