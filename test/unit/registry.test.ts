import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BLOCKS } from '../../src/reconciler/desired/blocks.ts';
import { NAMED_SETTINGS } from '../../src/reconciler/desired/named-settings.ts';
import { DATA } from '../../src/reconciler/kubernetes/spec.ts';
import { COLLECTION_FORMS } from '../../src/reconciler/model/collection-forms.ts';
import { OBSERVABLE } from '../../src/reconciler/model/observed.ts';
import { RESOURCES } from '../../src/reconciler/resources/resources.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Node {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly additionalProperties?: unknown;
  readonly enum?: readonly string[];
}
interface Schema {
  readonly properties: Readonly<Record<string, object>>;
  readonly $defs: Readonly<Record<string, Node>>;
}

const schema = JSON.parse(read('schemas/settings.schema.json')) as Schema;
const blocks = Object.keys(schema.$defs['environment']?.properties ?? {});
const forms: readonly string[] = COLLECTION_FORMS.map(({ block }) => block);
/** Blocks that setpoint itself reads, and no service. */
const OF_SETPOINT = ['labels', 'server', 'guards', 'watch', 'kubernetes', 'unmanaged'];

/** A collection that the schema has and nothing else. */
const NEW = {
  ...schema,
  properties: { ...schema.properties, callbacks: { $ref: '#/$defs/callbacks' } },
  $defs: {
    ...schema.$defs,
    environment: {
      ...schema.$defs['environment'],
      properties: {
        ...schema.$defs['environment']?.properties,
        callbacks: { $ref: '#/$defs/callbacks' },
      },
    },
    callbacks: {
      title: 'Callbacks',
      description: 'Addresses that are called, by name.',
      type: 'object',
      additionalProperties: { $ref: '#/$defs/callback' },
    },
    callback: {
      title: 'Callback',
      description: 'One callback.',
      type: ['object', 'null'],
      additionalProperties: false,
      properties: {
        url: { description: 'Where it leads.', type: 'string' },
        secret: { $ref: '#/$defs/secret' },
      },
    },
  },
};

describe('every block of the schema is known everywhere', () => {
  it('each has a descriptor', () => {
    expect(BLOCKS.map(({ name }) => name).toSorted()).toEqual(blocks.toSorted());
  });

  it('each that names items is a collection, or is named inside the settings', () => {
    const named = blocks.filter(
      (name) => typeof schema.$defs[name]?.additionalProperties === 'object',
    );
    const settings: readonly string[] = NAMED_SETTINGS;
    const known = [...forms, ...settings, 'labels', 'sandboxes'];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('each collection has a resource, is shown by get, and can be told to name all that there may be', () => {
    const resources = RESOURCES.flatMap(({ named }) => named?.form.block ?? []);
    expect(resources.toSorted()).toEqual(forms.toSorted());
    expect(forms.filter((block) => !OBSERVABLE.some((one) => one === block))).toEqual([]);
    const others = Object.keys(schema.$defs['collections']?.properties ?? {});
    expect(forms.filter((block) => block !== 'active' && !others.includes(block))).toEqual([]);
    const { $defs } = JSON.parse(read('schemas/explain.schema.json')) as Schema;
    expect($defs['explanation']?.properties?.['part']?.enum).toEqual([
      'settings',
      ...forms,
      'sandboxes',
      'file',
    ]);
  });

  it('no member of an item has a name that documents have for the item itself', () => {
    const taken = forms.filter((block) => {
      const item = (schema.$defs[block]?.additionalProperties as { $ref?: string } | undefined)
        ?.$ref;
      const { properties = {} } = schema.$defs[item?.replace('#/$defs/', '') ?? ''] ?? {};
      return 'name' in properties || 'not_managed' in properties;
    });
    expect(taken).toEqual([]);
  });

  it('each that a service reads is rendered as a part of a SettingsTarget', async () => {
    const data = blocks.filter((name) => !OF_SETPOINT.includes(name));
    expect(DATA.toSorted()).toEqual(data.toSorted());
    expect(definedIn(await definitions(schema))).toEqual(expect.arrayContaining(data));
  });

  it('each has one section of the reference', async () => {
    const sections = sectionsOf(await referencePage(schema));
    expect(sections).toEqual([...new Set(sections)]);
    expect(sections.filter((one) => blocks.includes(one)).toSorted()).toEqual(blocks.toSorted());
  });

  it('a new one is in the reference and the definition without another line', async () => {
    const page = await referencePage(NEW);
    expect(page).toContain('## callbacks\n\nAddresses that are called, by name. One callback.\n');
    expect(page).toContain('| `url` | text | – | Where it leads. |');
    expect(page).toContain('[`callbacks`](#callbacks)');
    expect(definedIn(await definitions(NEW))).toContain('callbacks');
  });

  it('the collections are spelled out in one table of the sources, and in one of the embedded service', () => {
    const files = ['src', 'scripts'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).flatMap((path) =>
        /(?<!\.gen)\.(ts|mjs)$/.test(path) ? [`${folder}/${path}`] : [],
      ),
    );
    const lists = files.filter((path) => {
      const text = read(path);
      return (
        forms.filter((one) => new RegExp(`['"]${one}['"]|^\\s+${one}:`, 'm').test(text)).length >= 6
      );
    });
    expect(lists.toSorted()).toEqual([
      'src/emulator/agent-server/held.ts',
      'src/reconciler/model/collection-forms.ts',
    ]);
  });
});

async function script(path: string): Promise<Record<string, (schema: object) => unknown>> {
  return (await import(/* @vite-ignore */ join(root, 'scripts', path))) as Record<
    string,
    (schema: object) => unknown
  >;
}

async function referencePage(of: object): Promise<string> {
  return (await script('reference/settings.mjs'))['settingsPage']?.(of) as string;
}

async function definitions(of: object): Promise<unknown> {
  return (await script('kubernetes-crd.mjs'))['definitionsOf']?.(of);
}

function sectionsOf(page: string): string[] {
  return [...page.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name);
}

interface Definition {
  readonly spec: {
    readonly versions: readonly {
      readonly schema: {
        readonly openAPIV3Schema: { readonly properties: { readonly spec: Node } };
      };
    }[];
  };
}

/** The members of the spec of a SettingsTarget. */
function definedIn(made: unknown): string[] {
  const [target] = made as readonly Definition[];
  const version = target?.spec.versions[0];
  return Object.keys(version?.schema.openAPIV3Schema.properties.spec.properties ?? {});
}
