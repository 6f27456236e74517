import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { RULES } from '../../../src/reconciler/model/guard.ts';
import {
  definitions,
  specSchema,
  type Structural,
} from '../../../src/reconciler/kubernetes/crd.ts';
import { snakeCase } from '../../../src/reconciler/kubernetes/names.ts';
import { DATA } from '../../../src/reconciler/kubernetes/spec.ts';
import { faultsOfDefinition } from '../../fixture/structural.ts';

const ROOT = join(import.meta.dirname, '../../..');

describe('the definitions of SettingsTarget, SettingsPolicy and SettingsApproval', () => {
  it('is structural, without defaults and nulls, and small enough for kubectl apply', () => {
    for (const one of definitions()) expect(faultsOfDefinition(one)).toEqual([]);
  });

  it('is the one that the examples have', () => {
    const file = readFileSync(join(ROOT, 'examples/kubernetes/crd.yml'), 'utf8');
    expect(parseAllDocuments(file).map((one) => one.toJS())).toEqual(definitions());
  });

  it('has names that are never changed', () => {
    expect(definitions()[0]).toMatchObject({
      metadata: { name: 'settingstargets.setpoint.dev' },
      spec: {
        group: 'setpoint.dev',
        scope: 'Namespaced',
        names: { kind: 'SettingsTarget', plural: 'settingstargets', shortNames: ['spt'] },
        versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  it('has a policy for the whole cluster, which forbids what guards can refuse', () => {
    const [, policy] = definitions();
    expect(policy).toMatchObject({
      metadata: { name: 'settingspolicies.setpoint.dev' },
      spec: {
        scope: 'Cluster',
        names: { kind: 'SettingsPolicy', plural: 'settingspolicies', shortNames: ['spp'] },
      },
    });
    const { schema } = policy.spec.versions[0] ?? {};
    const root = schema?.openAPIV3Schema as unknown as Structural | undefined;
    const { spec } = root?.properties ?? {};
    const rules = spec?.properties?.['forbidden']?.items?.enum ?? [];
    const named = rules.map((rule) => snakeCase(rule).replaceAll('_', '-'));
    expect(named).toEqual(RULES.filter((rule) => rule !== 'max-changes'));
  });

  it('has the columns of kubectl get', () => {
    const [version] = definitions()[0].spec.versions;
    const columns = version?.['additionalPrinterColumns'] as unknown as readonly Column[];
    expect(columns.filter(({ priority = 0 }) => priority === 0).map(({ name }) => name)).toEqual([
      'Mode',
      'Sync',
      'Changes',
      'Ready',
      'Reason',
      'Release',
      'Last Look',
      'Age',
    ]);
  });

  it('has the blocks that are rendered and read under their own names, and no others', () => {
    const text = readFileSync(join(ROOT, 'schemas/settings.schema.json'), 'utf8');
    const { properties } = JSON.parse(text) as { readonly properties: object };
    const framed = ['server', 'guards', 'watch', 'unmanaged'];
    const blocks = Object.keys(specSchema().properties ?? {}).filter(
      (name) => name in properties && !framed.includes(name),
    );
    expect(blocks.toSorted()).toEqual(DATA.toSorted());
  });

  it('has no place for a secret: each goes by valuesFrom', () => {
    const { settings, llm_profiles, secrets } = specSchema().properties ?? {};
    expect(Object.keys(settings?.properties ?? {})).not.toContain('llm_api_key');
    expect(Object.keys(llm_profiles?.additionalProperties?.properties ?? {})).toEqual([
      'model',
      'connection',
      'base_url',
    ]);
    expect(Object.keys(secrets?.additionalProperties?.properties ?? {})).toEqual(['description']);
  });
});

interface Column {
  readonly name: string;
  readonly priority?: number;
}

describe('the check of the definition', () => {
  /** The definition with other things at a place of its schema. */
  function broken(change: (spec: Record<string, Record<string, unknown>>) => void): object {
    const copy = structuredClone(definitions()[0]) as unknown as {
      spec: { versions: [{ schema: { openAPIV3Schema: { properties: { spec: Broken } } } }] };
    };
    change(copy.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties);
    return copy;
  }

  const language = (spec: Broken['properties']): Record<string, unknown> =>
    at(at(spec['settings'], 'properties'), 'language');

  it.each<[string, (spec: Broken['properties']) => void, RegExp]>([
    ['a default', (spec) => Object.assign(language(spec), { default: 'en' }), /has default/],
    ['null', (spec) => Object.assign(language(spec), { nullable: true }), /has nullable/],
    ['no type', (spec) => delete language(spec)['type'], /language: has no type/],
    ['a $ref', (spec) => Object.assign(language(spec), { $ref: '#/x' }), /has \$ref/],
    ['lookahead', (spec) => Object.assign(language(spec), { pattern: '(?!a)' }), /RE2/],
    ['lookbehind', (spec) => Object.assign(language(spec), { pattern: '(?<=a)b' }), /RE2/],
    ['a union', (spec) => Object.assign(language(spec), { anyOf: [{ type: 'string' }] }), /choice/],
    [
      'a choice that names what is not there',
      (spec) => Object.assign(spec['settings'] ?? {}, { oneOf: [{ required: ['nothing'] }] }),
      /names nothing in a choice alone/,
    ],
    [
      'a key that entries need not have',
      (spec) => delete at(spec['valuesFrom'], 'items')['required'],
      /the key path, which its items need not have/,
    ],
    [
      'a rule without a length to reckon by',
      (spec) => delete at(at(spec['server'], 'properties'), 'url')['maxLength'],
      /no maxLength/,
    ],
    [
      'a rule inside a map of any length',
      (spec) =>
        Object.assign(spec['secrets']?.['additionalProperties'] ?? {}, {
          'x-kubernetes-validations': [{ rule: 'true' }],
        }),
      /of any length/,
    ],
    [
      'a comparison of hosts',
      (spec) =>
        Object.assign(at(at(spec['server'], 'properties'), 'url'), {
          'x-kubernetes-validations': [{ rule: 'url(self).getHost() == url(oldSelf).getHost()' }],
        }),
      /costs too much/,
    ],
    [
      'additionalProperties: false',
      (spec) => Object.assign(spec['secrets'] ?? {}, { additionalProperties: false }),
      /without a schema/,
    ],
    [
      'too much text',
      (spec) => Object.assign(language(spec), { description: 'x'.repeat(8192) }),
      /bytes are too many/,
    ],
  ])('finds %s', (_, change, message) => {
    const faults = faultsOfDefinition(broken(change)).join('\n');
    expect(faults).toMatch(message);
  });
});

/** A part of a schema, to be changed. */
function at(schema: Record<string, unknown> | undefined, key: string): Record<string, unknown> {
  const part = schema?.[key];
  if (typeof part !== 'object' || part === null) throw new Error(`no ${key}`);
  return part as Record<string, unknown>;
}

interface Broken {
  readonly properties: Record<string, Record<string, unknown>>;
}
