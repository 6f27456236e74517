import { looksLikeMask } from '../model/mask.ts';
import type { Identity } from '../model/identity.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import { isMalformed, mayHoldReference, parseTemplate, type Reference } from './references.ts';

/** A text with its references resolved; `ref` is the text as the file writes it, or null if it holds no reference. */
export type Resolved = { readonly text: string; readonly ref: string | null };

/** A text with a reference that has no value: `missing` is that reference, `literals` the text around all of them. */
export interface Missing {
  readonly problem: string;
  readonly ref: string;
  readonly missing: string | null;
  readonly literals: readonly string[];
}

/** Resolves the references in a text. No message holds a value. */
export function lookUp(text: string, source: ReferenceSource): Resolved | Missing {
  if (!mayHoldReference(text)) return { text, ref: null };
  const parts = parseTemplate(text);
  if (isMalformed(parts))
    return { problem: parts.message, ref: text, missing: text, literals: ['', ''] };
  const literals = [''];
  let result = '';
  let missing: Pick<Missing, 'problem' | 'missing'> | null = null;
  for (const part of parts) {
    if (typeof part === 'string') {
      result += part;
      literals[literals.length - 1] += part;
      continue;
    }
    literals.push('');
    const found = source.withheld === true ? WITHHELD : valueOf(part, source);
    if ('text' in found) result += found.text;
    else
      missing ??= {
        problem: found.problem,
        missing: source.withheld === true ? null : part.text,
      };
  }
  if (missing !== null) return { ...missing, ref: text, literals };
  if (literals.length === 1) return { text: result, ref: null };
  source.resolved?.(result, text);
  return { text: result, ref: text };
}

const WITHHELD = { problem: 'masked, cannot be compared' };

/** The value that stands in the place of a text whose reference is missing, so that everything around it can be compared. */
export function unseen(
  { problem, ref, missing, literals }: Missing,
  identity: Identity | null = null,
): UnseenSecret {
  return new UnseenSecret(ref, identity, { reason: problem, missing, literals });
}

/** A text as it is, or as a secret if it came from a reference. */
export function resolveText(text: string, source: ReferenceSource): string | Secret {
  const found = lookUp(text, source);
  if ('problem' in found) return unseen(found);
  return found.ref === null ? found.text : new Secret(found.text, found.ref);
}

function valueOf(
  reference: Reference,
  source: ReferenceSource,
): { text: string } | { problem: string } {
  if (reference.kind === 'env') {
    const value = source.variable(reference.name);
    const blank = value?.trim() === '';
    const text = value === undefined || blank ? reference.fallback : value;
    if (text === null)
      return { problem: `the variable ${reference.name} is ${blank ? 'empty' : 'not set'}` };
    return maskOr(text, `the variable ${reference.name}`);
  }
  const file = source.file(reference.path);
  if ('problem' in file) return file;
  if (file.text.trim() === '') return { problem: `the file ${reference.path} is empty` };
  return maskOr(file.text, `the file ${reference.path}`);
}

function maskOr(text: string, what: string): { text: string } | { problem: string } {
  if (!looksLikeMask(text)) return { text };
  return { problem: `${what} holds what looks like a mask, not a value` };
}
