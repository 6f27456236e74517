import type { FieldName } from '../model/field.ts';
import type { ReferenceSource } from '../model/ports.ts';
import { Secret, type Scalar } from '../model/secret.ts';
import { lookUp, unseen } from './lookup.ts';
import { validate } from './schema-validator.gen.ts';

/**
 * The value of a number or boolean field that is written as a reference, read strictly: `true`, `false`, or a JSON number,
 * and within the limits of the field.
 */
export function readStrictly(name: FieldName, text: string, source: ReferenceSource): Secret {
  return strictly(text, source, (value) => fits({ [name]: value }));
}

/** The same for the timeout of an mcp entry. */
export function readTimeout(text: string, source: ReferenceSource): Secret {
  const entry = (timeout: Scalar) => ({
    mcp_config: { shttp_servers: [{ url: 'https://x', timeout }] },
  });
  return strictly(text, source, (value) => fits(entry(value)));
}

function strictly(
  text: string,
  source: ReferenceSource,
  accepts: (value: Scalar) => boolean,
): Secret {
  const found = lookUp(text, source);
  if ('problem' in found) return unseen({ ...found, literals: ['', ''] });
  const value = scalarOf(found.text);
  if (value !== null && accepts(value)) return new Secret(value, text);
  const problem = 'its value does not fit the field';
  return unseen({ problem, ref: text, missing: text, literals: ['', ''] });
}

function scalarOf(text: string): Scalar | null {
  if (text === 'true' || text === 'false') return text === 'true';
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number))
    ? number
    : null;
}

function fits(settings: Record<string, unknown>): boolean {
  return validate({ version: 1, settings });
}
