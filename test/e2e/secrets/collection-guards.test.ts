/**
 * Each guard of each collection, on each server that has it, in each spelling: what a collection must be guarded against follows from what
 * setpoint knows of it, so that a new collection is judged here or fails.
 */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NAMED_SETTINGS } from '../../../src/reconciler/desired/named-settings.ts';
import { COLLECTION_FORMS } from '../../../src/reconciler/model/collection-forms.ts';
import {
  isSecretItemMember,
  type CollectionForm,
} from '../../../src/reconciler/model/collection.ts';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { findPathFacts, placesWithin } from '../../../src/reconciler/model/path-facts.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { folderWith } from '../../fixture/command.ts';
import {
  GIT_HOSTS,
  ITEM_ENV,
  MODELS,
  SAMPLES,
  type SampleItem,
} from '../../fixture/every-collection.ts';
import { itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

type Rule = 'clear-secret' | 'move-endpoint' | 'run-code' | 'disable-safety' | 'remove-others';

/** An edit of a file: what stands in it before and after, and the rules that have to find something. */
interface Edit {
  readonly what: string;
  readonly before: (folder: string) => string;
  readonly after: (folder: string) => string;
  readonly found: readonly Rule[];
}

interface Case extends Edit {
  readonly block: string;
  readonly spelling: string;
  readonly dialects: readonly DialectName[];
}

const NONE = 'settings: { language: en }';
const FORMS: ReadonlyMap<string, CollectionForm> = new Map(
  COLLECTION_FORMS.map((form) => [form.block, form]),
);

/** What the file of an item says of where its secrets go, if it says so in another way than its collection alone. */
const HOSTS: Readonly<Record<string, readonly [from: string, to: string]>> = {
  git_providers: ['git.example.com', 'git2.example.com'],
};
const ADDRESSES = ['https://one.example.com/v1', 'https://two.example.com/v1'] as const;

/** The addresses that an item has, by their types. */
function addressesIn(block: string) {
  return placesWithin([block, 'x']).flatMap((path) => {
    const { address } = findPathFacts(path);
    return address?.by === 'url' ? [{ path, former: address.former }] : [];
  });
}

/** The members of an item that are code, where the item is not code as a whole. */
function membersThatRun(block: string): readonly (string | undefined)[] {
  return placesWithin([block, 'x']).flatMap((path) =>
    path.length === 3 && findPathFacts(path).runs !== null ? [path[2]] : [],
  );
}

/** The member that is the address of an item. */
function addressIn(block: string) {
  const found = addressesIn(block).find(({ path }) => path.length === 3);
  return found === undefined ? undefined : { name: found.path.at(-1), former: found.former };
}

const AGENT = 'llm_profiles: { main: { model: openai/gpt-5 } }';

/** The edits of an item of a collection that the file declares in a block of its own. */
function editsOf(sample: SampleItem): readonly Edit[] {
  const { block, name, declared, removed, altered } = sample;
  // An item that names an LLM profile is declared with it.
  const needs = declared('/').endsWith(MODELS) ? MODELS : NONE;
  const form = FORMS.get(block);
  if (form === undefined) throw new Error(`No collection has the block ${block}.`);
  const address = addressIn(block);
  const isKept = declared('/').includes('${env:THE_KEY}');
  const runs: readonly Rule[] = findPathFacts([block, name]).runs === null ? [] : ['run-code'];
  const begins: readonly Rule[] = membersThatRun(block).some((member) =>
    declared('/').includes(`${member}: `),
  )
    ? ['run-code']
    : runs;
  const clears: readonly Rule[] = isKept ? ['clear-secret'] : [];
  const [from, to] = HOSTS[block] ?? ADDRESSES;
  const addressed = (folder: string): string =>
    HOSTS[block] === undefined
      ? declared(folder).replace(`${name}: { `, `${name}: { ${address?.name}: "${from}", `)
      : declared(folder);
  const moved = (text: string): string => text.replace(from, to);
  const keyless = (text: string): string =>
    text.replace(/(api_key|token): "\$\{env:THE_KEY\}",? ?/, '').replace(', }', ' }');
  return [
    { what: 'is new', before: () => needs, after: declared, found: begins },
    { what: 'is removed', before: declared, after: () => `${needs}\n${removed}`, found: clears },
    {
      what: 'is removed as one that the file does not name',
      before: declared,
      after: () => `${needs}\ncollections: { ${block}: { others: remove } }`,
      found: [...clears, 'remove-others'],
    },
    ...(altered === undefined || address?.name === 'host'
      ? []
      : [
          {
            what: 'is changed in what is no secret',
            before: declared,
            after: (folder: string) => declared(folder).replace(...altered),
            found: runs,
          },
        ]),
    ...(address === undefined
      ? []
      : [
          {
            what: 'is moved and keeps the stored key',
            before: addressed,
            // A service that shows a stored key to the new address does so although the same write brings another one.
            after: (folder: string) =>
              address.former ? moved(addressed(folder)) : keyless(moved(addressed(folder))),
            found: ['move-endpoint' as const],
          },
        ]),
  ];
}

const OWN_BLOCKS: readonly Case[] = SAMPLES.filter(({ block }) => FORMS.has(block)).flatMap(
  (sample) =>
    editsOf(sample).map((edit) => ({
      ...edit,
      block: sample.block,
      spelling: 'block',
      dialects: sample.dialects,
    })),
);

const SPELLED = { secrets: 'custom_secrets', git_providers: 'provider_tokens' } as const;

/** The same in the words of the specification, in the settings. */
const IN_THE_STORE = OWN_BLOCKS.flatMap((one): readonly Case[] => {
  const { block } = one;
  if (block !== 'secrets' && block !== 'git_providers') return [];
  const spelled = (text: string): string => {
    const own = new RegExp(`^${block}: (.*)$`, 'm');
    const items = own.exec(text)?.[1];
    if (items === undefined) return text;
    const settings = `settings: { language: en, secrets_store: { ${SPELLED[block]}: ${items} } }`;
    return [settings, text.replace(own, '').replace(NONE, '').trim()].join('\n');
  };
  return [
    {
      ...one,
      spelling: 'secrets_store',
      before: (folder) => spelled(one.before(folder)),
      after: (folder) => spelled(one.after(folder)),
    },
  ];
});

const SHORT: Case = {
  block: 'secrets',
  spelling: 'short',
  dialects: ['settings-v0', 'app-server', 'agent-server'],
  what: 'is removed',
  before: () => 'secrets: { THEIRS: "${env:THE_KEY}" }',
  after: () => 'secrets: { THEIRS: null }',
  found: ['clear-secret'],
};

/* What is named in the settings: by a block, by the lists of the specification, and by the map or list of the server. */

const LATER: readonly DialectName[] = ['app-server', 'agent-server'];
const ALL: readonly DialectName[] = ['settings-v0', ...LATER];
const KEY = '"${env:THE_KEY}"';

interface Spelling {
  readonly spelling: string;
  readonly dialects: readonly DialectName[];
  readonly of: (items: Readonly<Record<string, string>>) => string;
}

function servers(list: 'shttp_servers' | 'stdio_servers'): readonly Spelling[] {
  const named = (items: Readonly<Record<string, string>>, map: (members: string) => string) =>
    Object.entries(items)
      .map(([name, members]) => `${name}: { ${map(members)} }`)
      .join(', ');
  const native = (members: string): string =>
    members.replace(/api_key: ("[^"]*")/, 'auth: { strategy: bearer, value: $1 }');
  return [
    {
      spelling: 'block',
      dialects: list === 'stdio_servers' ? ALL : LATER,
      of: (items) =>
        `mcp_servers: { ${Object.keys(items).length === 0 ? 'theirs: null' : named(items, native)} }`,
    },
    {
      spelling: 'lists',
      dialects: ALL,
      of: (items) =>
        `settings: { mcp_config: { ${list}: [${Object.entries(items)
          .map(([name, members]) => `{ name: ${name}, ${members} }`)
          .join(', ')}] } }`,
    },
    {
      spelling: 'native map',
      dialects: LATER,
      of: (items) => `settings: { agent_settings: { mcp_config: { ${named(items, native)} } } }`,
    },
  ];
}

function programEdits({ spelling, dialects, of }: Spelling): readonly Case[] {
  const program = `command: npx, args: [-y, one], env: { TOKEN: ${KEY} }`;
  const one = of({ theirs: program });
  const about = { block: 'mcp_servers', spelling: `${spelling}, a program`, dialects };
  return [
    { ...about, what: 'is new', before: () => NONE, after: () => one, found: ['run-code'] },
    {
      ...about,
      what: 'is changed',
      before: () => one,
      after: () => one.replace('-y, one', '-y, two'),
      found: ['run-code'],
    },
    {
      ...about,
      what: 'is removed',
      before: () => one,
      after: () => of({}),
      found: ['clear-secret'],
    },
  ];
}

function addressEdits({ spelling, dialects, of }: Spelling): readonly Case[] {
  const members = (url: string, key: string) => `url: "${url}"${key}`;
  const [from, to] = ['https://one.example.com/mcp', 'https://two.example.com/mcp'];
  const key = `, api_key: ${KEY}`;
  const one = of({ theirs: members(from, key) });
  const about = { block: 'mcp_servers', spelling: `${spelling}, an address`, dialects };
  // The lists of a server of settings-v0 know a server by its address alone: one at another address is another server.
  const isNamed = dialects.filter((dialect) => dialect !== 'settings-v0');
  return [
    { ...about, what: 'is new', before: () => NONE, after: () => one, found: [] },
    {
      ...about,
      what: 'is removed',
      before: () => one,
      after: () => of({}),
      found: ['clear-secret'],
    },
    {
      ...about,
      dialects: isNamed,
      what: 'is moved without its key',
      before: () => one,
      after: () => of({ theirs: members(to, '') }),
      found: ['clear-secret', 'move-endpoint'],
    },
  ];
}

const CONTEXT = (members: string): string =>
  `settings: { agent_settings: { agent_context: { ${members} } } }`;

function marketplaceEdits(
  spelling: string,
  dialects: readonly DialectName[],
  of: (source: string | null) => string,
): readonly Case[] {
  const about = { block: 'marketplaces', spelling, dialects };
  const one = () => of('github:example/one');
  return [
    { ...about, what: 'is new', before: () => NONE, after: one, found: ['run-code'] },
    {
      ...about,
      what: 'is changed',
      before: one,
      after: () => of('github:example/two'),
      found: ['run-code'],
    },
    { ...about, what: 'is removed', before: one, after: () => of(null), found: [] },
  ];
}

const listed = (source: string | null): string =>
  source === null ? '[]' : `[{ name: theirs, source: "${source}" }]`;

const IN_THE_SETTINGS: readonly Case[] = [
  ...servers('stdio_servers').flatMap(programEdits),
  ...servers('shttp_servers').flatMap(addressEdits),
  ...marketplaceEdits('block', LATER, (source) =>
    source === null ? 'marketplaces: {}' : `marketplaces: { theirs: { source: "${source}" } }`,
  ),
  ...marketplaceEdits(
    'flat',
    ['app-server'],
    (source) => `settings: { registered_marketplaces: ${listed(source)} }`,
  ),
  ...marketplaceEdits('native', ['agent-server'], (source) =>
    CONTEXT(`registered_marketplaces: ${listed(source)}`),
  ),
  ...(
    [
      ['block', LATER, (list: string) => `disabled_skills: ${list}`],
      ['flat', ['app-server'], (list: string) => `settings: { disabled_skills: ${list} }`],
      ['native', ['agent-server'], (list: string) => CONTEXT(`disabled_skills: ${list}`)],
    ] as const
  ).flatMap(([spelling, dialects, of]): Case[] => {
    const about = { block: 'disabled_skills', spelling, dialects };
    const one = () => of('[theirs]');
    const two = () => of('[theirs, more]');
    return [
      { ...about, what: 'is more', before: one, after: two, found: [] },
      { ...about, what: 'is less', before: two, after: one, found: ['run-code'] },
      { ...about, what: 'is empty', before: one, after: () => of('[]'), found: ['run-code'] },
    ];
  }),
];

/** Which profile is active has no secret and no address of its own. */
const ACTIVE = [
  'active: { llm_profile: NAME }',
  'settings: { language: en, active_profile: NAME }',
].map((text, index): Case => {
  const profiles =
    'llm_profiles: { one: { model: openai/gpt-5, base_url: "https://one.example.com" }, two: { model: openai/gpt-5-mini, base_url: "https://one.example.com" } }';
  const of = (name: string) => `${profiles}\n${text.replace('NAME', name)}`;
  return {
    block: 'active',
    spelling: index === 0 ? 'block' : 'settings',
    dialects: LATER,
    what: 'is another one',
    before: () => of('one'),
    after: () => of('two'),
    found: [],
  };
});

const agentOf = (members: string) => `${AGENT}\nagent_profiles: { theirs: { ${members} } }`;
const OWN = 'agent_kind: acp, acp_server: custom, acp_command: one';

/** What an agent profile has a server run. */
const AGENTS: readonly Case[] = (
  [
    ['is new with a program', AGENT, agentOf(OWN), ['run-code']],
    ['gets another program', agentOf(OWN), agentOf(OWN.replace('one', 'two')), ['run-code']],
    [
      'has its critic moved, which is sent the key of its LLM profile',
      agentOf('llm_profile: main, verification: { critic_enabled: true }'),
      agentOf(
        'llm_profile: main, verification: { critic_enabled: true, critic_server_url: "https://two.example.com" }',
      ),
      ['move-endpoint'],
    ],
    [
      'has its sessions loosened',
      agentOf('agent_kind: acp, acp_server: codex, acp_session_mode: read-only'),
      agentOf('agent_kind: acp, acp_server: codex, acp_session_mode: full-access'),
      ['disable-safety'],
    ],
    [
      'turns no skill off',
      agentOf('llm_profile: main, disabled_skills: [a]'),
      agentOf('llm_profile: main'),
      ['run-code'],
    ],
    [
      'turns a skill off',
      agentOf('llm_profile: main'),
      agentOf('llm_profile: main, disabled_skills: [a]'),
      [],
    ],
  ] as const
).map(([what, before, after, found]) => ({
  block: 'agent_profiles',
  spelling: 'what it runs',
  dialects: ['agent-server'],
  what,
  before: () => before,
  after: () => after,
  found,
}));

const CASES: readonly Case[] = [
  ...AGENTS,
  ...OWN_BLOCKS,
  ...IN_THE_STORE,
  SHORT,
  ...IN_THE_SETTINGS,
  ...ACTIVE,
];

const COMBINED = CASES.flatMap(({ dialects, ...one }) =>
  dialects.map((dialect) => ({ ...one, dialect })),
);

/** The dialects of whose servers setpoint can ask for a collection, by its block. */
const ASKED: ReadonlyMap<string, readonly DialectName[]> = new Map(
  RESOURCES.flatMap(({ block, named }) =>
    named === undefined ? [] : [[block, named.dialects] as const],
  ),
);

describe('the table', () => {
  it('has every collection on every server that has it', () => {
    const inTable = new Set(COMBINED.map(({ block, dialect }) => `${block} on ${dialect}`));
    const missing = COLLECTION_FORMS.flatMap(({ block }) =>
      (ASKED.get(block) ?? ['no resource']).flatMap((dialect) =>
        inTable.has(`${block} on ${dialect}`) ? [] : [`${block} on ${dialect}`],
      ),
    );
    expect(missing).toEqual([]);
    for (const block of NAMED_SETTINGS) expect(COMBINED.map((one) => one.block)).toContain(block);
  });

  it('has a removal of every secret, a move of every address, and a beginning of all that runs', () => {
    for (const form of COLLECTION_FORMS) {
      const found = COMBINED.filter(({ block }) => block === form.block).flatMap(
        (one) => one.found,
      );
      const holdsSecret = ['value', 'token', 'api_key', 'secret'].some((member) =>
        isSecretItemMember(form, [member]),
      );
      expect({
        block: form.block,
        clears: found.includes('clear-secret'),
        moves: found.includes('move-endpoint'),
        runs: found.includes('run-code'),
      }).toEqual({
        block: form.block,
        clears: holdsSecret,
        moves: addressesIn(form.block).length > 0,
        runs:
          findPathFacts([form.block, 'x']).runs !== null ||
          membersThatRun(form.block).length > 0 ||
          AGENTS.some(({ block }) => block === form.block),
      });
    }
  });
});

describe('each guard of what is declared by name', () => {
  const HERE = (one: (typeof COMBINED)[number], index: number): boolean =>
    one.block !== COMBINED[index - 1]?.block;

  itEach(COMBINED, HERE)(
    '$block ($spelling) that $what, on $dialect: $found',
    async ({ before, after, found, dialect }) => {
      const folder = folderWith({});
      const front = await startFronted({
        dialect,
        apiKey: 'k',
        data: join(folder.path, 'store.json'),
        gitProviders: [
          ...(GIT_HOSTS ?? []),
          { product: 'github', host: 'git2.example.com', accepts: 'good-github' },
        ],
      });
      onTestFinished(async () => {
        await front.close();
        folder.remove();
      });
      const asked = (blocks: string, guards: string, allow: readonly Rule[]) => ({
        text: `version: 1\nserver: { url: "${front.url}" }\n${guards}\n${
          blocks.includes('settings:') ? '' : `${NONE}\n`
        }${blocks}\n`,
        file: join(folder.path, 'settings.yaml'),
        env: ITEM_ENV,
        clock: quickClock(),
        allow: [...allow, 'empty-store' as const],
      });
      const all: readonly Rule[] = [
        'clear-secret',
        'move-endpoint',
        'run-code',
        'disable-safety',
        'remove-others',
      ];
      const off = 'guards: { protected: false }';
      const on =
        'guards: { clear_secret: true, move_endpoint: true, run_code: true, disable_safety: true }';
      const first = (await apply(asked(before(folder.path), off, all))).environments[0];
      expect(first?.error ?? null).toBeNull();

      const [planned] = (await plan(asked(after(folder.path), on, []))).environments;
      expect(planned?.error ?? null).toBeNull();
      expect(planned?.changes).not.toEqual([]);
      const rules = [...new Set(planned?.refusals.map(({ rule }) => rule))];
      expect(rules.toSorted()).toEqual(found.toSorted());

      const sent = front.writes().length;
      if (found.length > 0) {
        const [refused] = (await apply(asked(after(folder.path), on, []))).environments;
        expect(refused?.error?.code).toBe('guard-refused');
        for (const rule of found) expect(refused?.error?.message).toContain(`(rule ${rule})`);
        expect(front.writes()).toHaveLength(sent);
      }
      const [allowed] = (await apply(asked(after(folder.path), on, found))).environments;
      expect(allowed?.error ?? null).toBeNull();
      expect(front.writes().length).toBeGreaterThan(sent);
      expect(JSON.stringify([planned, allowed])).not.toContain('canary-key');
    },
  );
});
