import { looksLikeMask } from '../model/field.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { MASK } from '../model/secret.ts';
import { isMalformed, mayHoldReference, parseTemplate, type Reference } from './references.ts';

/** A text with its references looked up; `ref` is null where there were none. Or why they could not be. */
export type Looked =
  | { readonly text: string; readonly ref: string | null }
  | { readonly problem: string; readonly ref: string };

/** Looks up the references in a text. No message holds a value. */
export function lookUp(text: string, source: ReferenceSource): Looked {
  if (!mayHoldReference(text)) return { text, ref: null };
  const parts = parseTemplate(text);
  if (isMalformed(parts)) return { problem: parts.message, ref: text };
  if (source.withheld === true && parts.some((part) => typeof part !== 'string'))
    return { text: MASK, ref: text };
  let result = '';
  let referenced = false;
  for (const part of parts) {
    if (typeof part === 'string') {
      result += part;
      continue;
    }
    referenced = true;
    const found = valueOf(part, source);
    if ('problem' in found) return { problem: found.problem, ref: part.text };
    result += found.text;
  }
  return { text: result, ref: referenced ? text : null };
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
