import { holdsMaskText } from '../model/field.ts';
import { Secret } from '../model/secret.ts';
import { secretsIn, type Value } from '../model/value.ts';

/** Whether a value is a secret that came back as a mask and not as what is stored. */
export function isMasked(value: Value | undefined): boolean {
  return (
    value instanceof Secret &&
    value.compareWith((text) => (holdsMaskText(text) ? 'mask' : 'value')) === 'mask'
  );
}

/** Whether a value is a mask, or holds one. */
export function holdsMask(value: Value | undefined): boolean {
  return secretsIn(value).some(isMasked);
}
