/** What the schemas have, each member at each place that its type hangs at: a new member has facts, or is masked and judged. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SchemaNode } from '../../../src/reconciler/model/json-schema.ts';
import { findPathFacts, memberFacts } from '../../../src/reconciler/model/path-facts.ts';
import { formatPath, type Path } from '../../../src/reconciler/model/path.ts';
import {
  maskSecrets,
  assignPath,
  createRecord,
  type Json,
  type Value,
  type ValueRecord,
} from '../../../src/reconciler/model/value.ts';
import { hostProblem } from '../../../src/reconciler/desired/address-travel.ts';
import { createTravelPolicy } from '../../../src/reconciler/desired/key-travel.ts';
import { COLLECTION_FORMS } from '../../../src/reconciler/model/collection-forms.ts';
import type { CollectionForm } from '../../../src/reconciler/model/collection.ts';
import { fieldNamed, createUnnamedField } from '../../../src/reconciler/model/field.ts';
import type { Change, PartPlan } from '../../../src/reconciler/model/plan.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import { guardRules } from '../../../src/reconciler/plan/guard.ts';
import { SETTINGS as SETTINGS_RESOURCE } from '../../../src/reconciler/plan/settings-part.ts';
import { planCollection } from '../../../src/reconciler/resources/collections/plan.ts';
import { observedOf } from '../../fixture/observed.ts';
import { concealRecord } from '../../../src/reconciler/service/conceal.ts';

type Defs = Readonly<Record<string, SchemaNode>>;
type Schema = SchemaNode & { readonly $defs: Defs };

const read = (file: string): Schema => JSON.parse(readFileSync(file, 'utf8')) as Schema;
const SERVERS = readdirSync('schemas/servers')
  .filter((file) => /-\d+\.\d+\.\d+\.json$/.test(file))
  .map((file) => read(join('schemas/servers', file)));
const FILE = read('schemas/settings.schema.json');

/** A member of a schema: its path, and what its schema says of it. */
interface Leaf {
  readonly path: Path;
  readonly node: SchemaNode;
}

function variants(node: SchemaNode, defs: Defs): readonly SchemaNode[] {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice('#/$defs/'.length);
    return name === 'template' || name === 'reference' ? [] : variants(defs[name] ?? {}, defs);
  }
  return node.anyOf === undefined ? [node] : node.anyOf.flatMap((one) => variants(one, defs));
}

/** Every member inside a node, one item of each list and map. */
function leaves(node: SchemaNode, defs: Defs, path: Path): readonly Leaf[] {
  return variants(node, defs).flatMap((variant) => {
    const { properties = {}, additionalProperties: others, items } = variant;
    const inside = [
      ...Object.entries(properties),
      ...(typeof others === 'object' ? ([['any', others]] as const) : []),
      ...(items === undefined ? [] : ([['0', items]] as const)),
    ];
    return [
      { path, node: variant },
      ...inside.flatMap(([key, inner]) => leaves(inner, defs, [...path, key])),
    ];
  });
}

/** What each place of a file, and of a record of a server, has. */
const NATIVE = SERVERS.flatMap(({ properties = {}, $defs }) =>
  Object.entries(properties).flatMap(([name, node]) => leaves(node, $defs, [name])),
);
const llm = SERVERS.flatMap(({ $defs }) =>
  leaves($defs['LLM'] ?? {}, $defs, ['llm_profiles', 'x']),
);
const BLOCKS = Object.keys(FILE.properties ?? {}).flatMap((block) => {
  const { additionalProperties: item } = FILE.$defs[block] ?? {};
  return typeof item === 'object' && memberFacts('File', block).type !== undefined
    ? leaves(item, FILE.$defs, [block, 'x'])
    : [];
});
const SETTINGS = leaves(FILE.$defs['settings'] ?? {}, FILE.$defs, []);
const ALL: readonly Leaf[] = [...NATIVE, ...llm, ...BLOCKS, ...SETTINGS];

const isText = ({ node: { type } }: Leaf): boolean => [type].flat().includes('string');

describe('every member that the schemas have', () => {
  it('is walked at every place that a model, an agent and an mcp server hang at', () => {
    const places = new Set(ALL.map(({ path }) => formatPath(path)));
    for (const place of [
      'agent_settings.llm.api_key',
      'llm_profiles.x.aws_secret_access_key',
      'agent_profiles.x.tools[0].params',
      'agent_profiles.x.verification.critic_server_url',
      'mcp_servers.x.auth.state.tokens.refresh_token',
      'agent_settings.mcp_config.any.headers.any',
      'provider_connections.x.base_url',
      'llm_api_key',
    ])
      expect(places).toContain(place);
  });

  it('is a secret wherever its schema has a password', () => {
    const open = ALL.filter(
      ({ path, node }) =>
        node.format === 'password' && path.length > 2 && !findPathFacts(listed(path)).secret,
    );
    expect(open.map(({ path }) => formatPath(path))).toEqual([]);
  });

  it('is an address, or known to be none, wherever its name says so', () => {
    const ADDRESS = /(?:^|_)(?:url|uri|endpoint|host)$/;
    const unknown = ALL.filter((leaf) => isText(leaf) && ADDRESS.test(leaf.path.at(-1) ?? ''))
      .map(({ path }) => path)
      .filter((path) => path[0] !== 'secrets_store' && !IS_NONE.has(path.at(-1) ?? ''))
      .filter((path) => path.at(-3) !== 'repos')
      .filter((path) => findPathFacts(listed(path)).address === null);
    expect(unknown.map(formatPath)).toEqual([]);
  });

  it('has the same facts under each spelling of an llm and an mcp server', () => {
    const { LLM = {}, MCPServer = {} } = Object.assign({}, ...SERVERS.map(({ $defs }) => $defs));
    for (const name of Object.keys((LLM as SchemaNode).properties ?? {})) {
      const at = (path: Path) => {
        const { address, ...facts } = findPathFacts([...path, name]);
        // A profile may have the key of its connection instead of its own.
        const sends = new Set(address?.sends.flat().map((one) => one.at(-1)));
        return { ...facts, by: address?.by, sends };
      };
      expect([name, at(['llm_profiles', 'x'])]).toEqual([name, at(['agent_settings', 'llm'])]);
    }
    for (const name of Object.keys((MCPServer as SchemaNode).properties ?? {})) {
      const { secret, served } = findPathFacts(['mcp_servers', 'x', name]);
      for (const path of [
        ['agent_settings', 'mcp_config', 'x'],
        ['mcp_config', 'shttp_servers', 'x'],
      ])
        expect([name, findPathFacts([...path, name])]).toMatchObject([name, { secret, served }]);
    }
  });
});

/** Addresses that people look at, and to which no credential is sent. */
const IS_NONE: ReadonlySet<string> = new Set(['openrouter_site_url', 'client_metadata_url']);

/** The path that plans have: an entry of an mcp list under its identity. */
function listed(path: Path): Path {
  return path.map((key) => (key === 'any' ? 'x' : key));
}

/** A value with a text at a place, and what documents show of it. */
function shown(path: Path, type: string, text: string): string {
  const value = path.reduceRight<Json>(
    (inner, key) => (/^\d+$/.test(key) ? [inner] : { [key]: inner }),
    text,
  );
  return JSON.stringify(maskSecrets(concealRecord(value as ValueRecord, type)));
}

/** Each text of an item, or of the settings, by the type that its record is of. */
const TEXTS = ALL.filter(isText).flatMap(({ path, node }) => {
  const block = memberFacts('File', path[0] ?? '');
  const type = block.type ?? 'Settings';
  const inside = block.type === undefined ? path : path.slice(2);
  return inside.length === 0 || path[0] === 'secrets_store' ? [] : [{ inside, type, node, path }];
});

describe('what a document shows of a service', () => {
  it('is no text with the form of a secret, wherever it stands', () => {
    const leaks = TEXTS.filter(({ inside, type }) =>
      shown(inside, type, 'sk-live-0123456789abcdef').includes('0123456789abcdef'),
    ).filter(({ path }) => !isEntryAddress(path));
    expect(leaks.map(({ path }) => formatPath(path))).toEqual([]);
  });

  it('is nothing at all of a secret, of free JSON, and of a member that no schema has', () => {
    const secrets = TEXTS.filter(({ node }) => node.format === 'password');
    const maps = ALL.filter(
      ({ node }) => node.additionalProperties === true && node.properties === undefined,
    );
    expect(secrets.length).toBeGreaterThan(20);
    expect(maps.length).toBeGreaterThan(4);
    const free = [
      ...maps.map(({ path }) => path),
      ...TEXTS.map(({ path }) => path.slice(0, -1)),
    ].flatMap((path) => {
      const block = memberFacts('File', path[0] ?? '');
      const inside = block.type === undefined ? path : path.slice(2);
      return [
        {
          path: [...path, 'later'],
          inside: [...inside, 'later', 'inner'],
          type: block.type ?? 'Settings',
        },
      ];
    });
    const leaks = [...secrets, ...free].filter(({ inside, type }) =>
      shown(inside, type, 'plain').includes('plain'),
    );
    expect(leaks.map(({ path }) => formatPath(path))).toEqual([]);
  });
});

/** The address of an mcp server is what the server is known by: only what is beside the host and path may be a secret. */
function isEntryAddress(path: Path): boolean {
  const above = ['mcp_config', 'mcp_servers', 'mcp_tools', 'sse_servers', 'shttp_servers'];
  return path.at(-1) === 'url' && above.includes(path.at(-3) ?? '');
}

const SOURCE = { file: 'settings.yaml', line: 1, column: 1 };
const [ONE, TWO] = ['https://one.example.com', 'https://two.example.com'];

/** A record with values at paths. */
function record(...values: readonly (readonly [Path, Value])[]): ValueRecord {
  return values.reduce((whole, [path, value]) => assignPath(whole, path, value), createRecord([]));
}

const distinct = (paths: readonly Path[]): readonly Path[] => [
  ...new Map(paths.map((path) => [formatPath(path), path])).values(),
];

const ADDRESSES = distinct(ALL.map(({ path }) => path)).filter(
  (path) => findPathFacts(path).address?.by === 'url' && path[0] !== 'secrets_store',
);
const FORMS = new Map<string, CollectionForm>(COLLECTION_FORMS.map((form) => [form.block, form]));

describe.each(ADDRESSES.map((path) => [formatPath(path), path] as const))(
  'an address: %s',
  (_, path) => {
    const [block = '', name = '', ...member] = path;
    const form = FORMS.get(block);
    const [credential = []] = findPathFacts(path).address?.sends.flat() ?? [];

    it('must be among the allowed origins, as it is declared with a key', () => {
      const secret = new Secret('k', '${env:K}');
      const field = { field: createUnnamedField(path, false), value: TWO, source: () => SOURCE };
      const isServer = /mcp_(?:servers|config)/.test(formatPath(path));
      const servers = record([['shttp_servers'], [record([['url'], TWO], [['api_key'], secret])]]);
      const items =
        form === undefined ? [] : [{ name, members: record([member, TWO]), source: SOURCE }];
      const desired = {
        fields: isServer
          ? [
              {
                field: fieldNamed('mcp_config') ?? field.field,
                value: servers,
                source: () => SOURCE,
              },
            ]
          : form === undefined
            ? [field]
            : [],
        items: new Map([[block, items]]),
      };
      const policy = (env: Record<string, string>) => hostProblem(desired, createTravelPolicy(env));
      expect(policy({ SETPOINT_ALLOWED_ORIGINS: ONE })).toMatchObject({
        code: 'not-allowed',
      });
      expect(policy({ SETPOINT_ALLOWED_ORIGINS: `${ONE},${TWO}` })).toBeNull();
    });

    it.runIf(form !== undefined)(
      'moves with the stored credential of its item, or of one that it names',
      () => {
        if (form === undefined) return;
        const stored = credential.slice(2);
        const { item } = findPathFacts([block, name, stored[0] ?? '']);
        const held =
          item === null
            ? ([stored, new UnseenSecret()] as const)
            : ([stored.slice(0, 1), 'p'] as const);
        const there = { name, members: record([member, ONE], held) };
        const kept = item === null ? [] : [held];
        const plan = planCollection(
          form,
          [{ name, members: record([member, TWO], ...kept), source: SOURCE }],
          { items: [there], replaces: 'in-place', describes: true },
          { rotation: [], fingerprints: { compare: () => 'none' } },
        );
        expect(plan.moved.map((moved) => moved.path)).toContainEqual(path);
      },
    );
  },
);

const EMPTY_PART: Omit<PartPlan, 'resource' | 'changes'> = {
  unknown: [],
  warnings: [],
  unmanaged: [],
  unmet: [],
  unpreservable: [],
  gone: [],
  work: null,
};

const SAFETY = distinct(ALL.map(({ path }) => path)).filter(
  (path) => findPathFacts(path).safety !== null,
);

it.each(SAFETY.map((path) => [formatPath(path), path] as const))(
  'what protects is judged: %s',
  (_, path) => {
    const { safety } = findPathFacts(path);
    const [lowered = ''] = safety?.unless ?? [];
    const isItem = FORMS.has(path[0] ?? '');
    const change: Change = {
      resource: isItem ? 'agent profile' : 'settings',
      path,
      action: 'change',
      before: 'safe',
      after: lowered,
      sensitive: false,
      ref: null,
      reason: 'differs',
      source: SOURCE,
    };
    const resource = isItem
      ? { ...SETTINGS_RESOURCE, name: 'agent profile', block: path[0] ?? '' }
      : SETTINGS_RESOURCE;
    const part = { ...EMPTY_PART, resource, changes: [change] };
    const guards = { on: new Set(['disable-safety' as const]), maxChanges: null, frozen: null };
    const found = guardRules([part], observedOf({}), guards);
    expect(found.map(({ rule, path: at }) => [rule, at])).toContainEqual(['disable-safety', path]);
  },
);
