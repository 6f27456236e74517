import type { Json } from '../model/value.ts';
import { crdText } from './crd.gen.ts';

/** A structural schema, as the API server has it: the part of it that is read here. */
export interface Structural {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Structural>>;
  readonly additionalProperties?: Structural;
  readonly items?: Structural;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

export interface KubeObject {
  readonly [member: string]: Json;
}

export const API_VERSION = 'setpoint.dev/v1alpha1';
export const KIND = 'SettingsTarget';

/** Has Flux leave `${…}` of an object alone, where it would put in variables of its own. */
export const NOT_SUBSTITUTED = { 'kustomize.toolkit.fluxcd.io/substitute': 'disabled' } as const;

interface Definition extends KubeObject {
  readonly spec: Json & { readonly versions: readonly VersionOfDefinition[] };
}

interface VersionOfDefinition {
  readonly [member: string]: Json;
  readonly schema: Json & {
    readonly openAPIV3Schema: Json & {
      readonly properties: { readonly spec: Json; readonly status: Json };
    };
  };
}

type Definitions = readonly [target: Definition, policy: Definition, approval: Definition];

let parsed: Definitions | undefined;

/** The definitions of SettingsTarget, SettingsPolicy and SettingsApproval, parsed when they are first needed. */
export function definitions(): Definitions {
  parsed ??= JSON.parse(crdText()) as Definitions;
  return parsed;
}

/** Returns the schema for the spec of a SettingsTarget. */
export function specSchema(): Structural {
  const [settingsTarget] = definitions();
  const [only] = settingsTarget.spec.versions;
  return (only?.schema.openAPIV3Schema.properties.spec ?? {}) as Structural;
}

/** Returns the schema for the status of a SettingsTarget. */
export function statusSchema(): Structural {
  const [settingsTarget] = definitions();
  const [only] = settingsTarget.spec.versions;
  return (only?.schema.openAPIV3Schema.properties.status ?? {}) as Structural;
}

/** Reports whether a value has the types of a schema, members included. */
export function hasTypes(schema: Structural, value: unknown): boolean {
  const { type, properties = {}, additionalProperties, items, required = [] } = schema;
  if (type === 'array')
    return (
      Array.isArray(value) && value.every((one) => items === undefined || hasTypes(items, one))
    );
  if (type !== 'object')
    return type === undefined || typeof value === (type === 'integer' ? 'number' : type);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return (
    required.every((name) => Object.hasOwn(value, name)) &&
    members.every(([name, member]) => {
      const own = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      return own === undefined || hasTypes(own, member);
    })
  );
}

/** The schema of a member; null if the API server would drop it. `open`: it takes any value. */
export function memberSchema(schema: Structural, key: string): Structural | 'open' | null {
  const { properties, additionalProperties } = schema;
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key] ?? null;
  if (additionalProperties !== undefined) return additionalProperties;
  return takesAny(schema) ? 'open' : null;
}

export function takesAny(schema: Structural): boolean {
  return schema['x-kubernetes-preserve-unknown-fields'] === true;
}

/** The member that identifies the entries of a list; null for a list without one. */
export function listKey(schema: Structural | 'open'): string | null {
  return schema === 'open' ? null : (schema['x-kubernetes-list-map-keys']?.[0] ?? null);
}

/** Reports whether the API server accepts a single value at a place. */
export function canAcceptScalar(
  schema: Structural | 'open',
  value: string | number | boolean,
): boolean {
  if (schema === 'open' || schema.type === undefined) return true;
  if (schema.type === 'boolean') return typeof value === 'boolean';
  if (schema.type === 'string') return typeof value === 'string' && isAcceptedText(schema, value);
  return typeof value === 'number' && fitsNumber(schema, value);
}

function isAcceptedText(
  { enum: words, pattern, minLength = 0, maxLength }: Structural,
  text: string,
) {
  const { length } = Array.from(text);
  return (
    (words?.includes(text) ?? true) &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text)) &&
    length >= minLength &&
    length <= (maxLength ?? length)
  );
}

function fitsNumber(schema: Structural, value: number): boolean {
  const { type, minimum = value, maximum = value, exclusiveMinimum, exclusiveMaximum } = schema;
  return (
    (type === 'number' || Number.isInteger(value)) &&
    value >= minimum &&
    value <= maximum &&
    !(exclusiveMinimum === true && value === minimum) &&
    !(exclusiveMaximum === true && value === maximum)
  );
}
