import type { Secret } from '../model/secret.ts';

const SHORTEST = 8;

/** Whether a text is, or holds, what a reference stands for. */
export function isHidden(value: unknown, hidden: readonly Secret[]): boolean {
  if (typeof value !== 'string' || value === '') return false;
  return hidden.some((secret) => secret.compareWith((text) => within(text, value)) === 'within');
}

function within(text: string, value: string): 'within' | 'apart' {
  return text === value || (text.length >= SHORTEST && value.includes(text)) ? 'within' : 'apart';
}
