import type { ReferenceSource } from '../model/ports.ts';
import { Secret } from '../model/secret.ts';
import { lookUp } from './lookup.ts';
import { Unresolved } from './unresolved.ts';

/** A text as it is, or as a tainted value where references stand in it. */
export function resolveText(text: string, source: ReferenceSource): string | Secret | Unresolved {
  const looked = lookUp(text, source);
  if ('problem' in looked) return new Unresolved(looked.problem, looked.ref);
  return looked.ref === null ? looked.text : new Secret(looked.text, looked.ref);
}
