import { looksLikeMask } from '../model/field.ts';
import { secretsIn, type Value } from '../model/value.ts';

/** Whether a secret, or one in a value, came back as a mask and not as what is stored. */
export function holdsMask(value: Value | undefined): boolean {
  return secretsIn(value).some(
    (secret) => secret.compareWith((text) => (looksLikeMask(text) ? 'mask' : 'value')) === 'mask',
  );
}
