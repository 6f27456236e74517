/** Members that a release lacks: refused before the write, by name and with the releases that have them. */
import { readFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import type { SchemaNode } from '../../../src/reconciler/model/json-schema.ts';
import { nativeNodes } from '../../../src/reconciler/model/native-schema.ts';
import type { Path } from '../../../src/reconciler/model/path.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

interface Schema {
  readonly $defs: Readonly<Record<string, SchemaNode>>;
}
const SCHEMA = JSON.parse(readFileSync('schemas/settings.schema.json', 'utf8')) as Schema;

const PARTS: readonly Path[] = [
  ['agent_settings'],
  ['agent_settings', 'llm'],
  ['agent_settings', 'agent_context'],
  ['agent_settings', 'condenser'],
  ['agent_settings', 'verification'],
  ['conversation_settings'],
];
const SETTINGS = { 'agent-server': '/api/settings', 'app-server': '/api/v1/settings' } as const;
/** The members that tell parts apart, and those that hold parts themselves. */
const NOT_ALONE = new Set([
  'agent_kind',
  'condenser_kind',
  'llm',
  'agent_context',
  'condenser',
  'verification',
]);

/** Settings of every release, which have names of their own in a file. */
const SPECIFIED = new Set([
  'agent_settings.agent',
  'agent_settings.mcp_config',
  'agent_settings.llm.model',
  'agent_settings.llm.api_key',
  'agent_settings.llm.base_url',
  'agent_settings.condenser.enabled',
  'agent_settings.condenser.max_size',
  'conversation_settings.max_iterations',
  'conversation_settings.confirmation_mode',
  'conversation_settings.security_analyzer',
]);

function membersOf(dialect: DialectName): readonly (readonly [Path, SchemaNode])[] {
  return PARTS.flatMap((part) => {
    const [node] = nativeNodes(dialect, part, () => undefined);
    return Object.entries(node?.properties ?? {}).flatMap(([name, member]) =>
      NOT_ALONE.has(name) ||
      SPECIFIED.has([...part, name].join('.')) ||
      // An app-server shows no secret, also none that it has.
      (dialect === 'app-server' && (member.format === 'password' || name === 'secrets')) ||
      member.readOnly === true ||
      member.const !== undefined
        ? []
        : [[[...part, name], member] as const],
    );
  });
}
function omitPath(body: unknown, [name = '', ...rest]: Path): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const entries = Object.entries(body).flatMap(([key, value]) => {
    if (key !== name) return [[key, value] as const];
    return rest.length === 0 ? [] : [[key, omitPath(value, rest)] as const];
  });
  return Object.fromEntries(entries);
}

function sampleOf(node: SchemaNode): unknown {
  const { enum: words, anyOf = [], type, minimum } = node as Record<string, never>;
  if (words !== undefined) return words[0];
  const inner = (anyOf as SchemaNode[]).find((one) => one.type !== 'null');
  if (inner !== undefined) return sampleOf(inner);
  const [own] = [type].flat().filter((one) => one !== 'null');
  if (own === 'boolean') return true;
  if (own === 'integer' || own === 'number') return minimum ?? 1;
  if (own === 'array') return [];
  if (own === 'object') return {};
  return 'text';
}

itEach(['agent-server', 'app-server'] as const, (dialect) => dialect === 'agent-server')(
  'a member of the settings that the answer of %s lacks is refused, and one that it has is not',
  async (dialect) => {
    const front = await startFronted({ dialect });
    onTestFinished(() => front.close());
    const plain = { env: { KEY: 'k' }, clock: quickClock() };
    const server = `version: 1\nserver: { url: "${front.url}" }\n`;
    const text = `${server}settings: { language: de }\n`;
    await apply({ ...plain, text, allow: ['empty-store'] });
    const judge = async (path: Path, sample: unknown): Promise<string> => {
      for (const value of [sample, '${env:KEY}', 'https://a.example.com', 0.5, '1g']) {
        const nested = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
        const file = `${server}settings: ${JSON.stringify(nested)}\n`;
        const planned = await plan({ ...plain, text: file }).catch(() => null);
        if (planned !== null) return planned.environments[0]?.error?.message ?? '';
      }
      return 'no value of the test is one of this member';
    };
    const wrong: string[] = [];
    for (const [path, node] of membersOf(dialect)) {
      const name = path.join('.');
      front.changed = (_, reply) => reply;
      const whole = await judge(path, sampleOf(node));
      if (whole.includes('release of this server')) wrong.push(`has ${name}: ${whole}`);
      front.changed = ({ path: asked }, reply) =>
        asked === SETTINGS[dialect] ? { ...reply, body: omitPath(reply.body, path) } : reply;
      const lacking = await judge(path, sampleOf(node));
      const expected = `${name} is not in the release of this server: it is in `;
      if (!lacking.includes(expected)) wrong.push(`lacks ${name}: ${lacking}`);
      if (!lacking.includes(dialect)) wrong.push(`names no release of ${name}: ${lacking}`);
    }
    expect(wrong).toEqual([]);
  },
);

interface Collection {
  readonly path: string;
  /** What else is declared, in each item and beside the block. */
  readonly item: Readonly<Record<string, unknown>>;
  readonly more?: object;
  /** The service's names of members that it calls otherwise. */
  readonly theirs?: Readonly<Record<string, string>>;
  /** Values of members whose kind does not show which there are. */
  readonly values?: Readonly<Record<string, unknown>>;
}

const ACP = { agent_kind: 'acp', acp_server: 'claude-code' };
const MODELS = { llm_profiles: { main: { model: 'openai/gpt-5' } } };
const COLLECTIONS: Readonly<Record<string, Collection>> = {
  provider_connections: {
    path: '/api/llm/provider-connections',
    item: { provider: 'anthropic', api_key: '${env:KEY}' },
    theirs: { api_key: 'api_key_set' },
    values: { base_url: 'https://a.example.com' },
  },
  meta_profiles: {
    path: '/api/meta-profiles',
    item: { classifier: 'main' },
    more: MODELS,
    theirs: { classifier: 'classifier_model' },
    values: {
      classes: [{ description: 'all', model: 'main' }],
      prompt_template: 'Choose: {{ instance_text }}',
    },
  },
  agent_profiles: {
    path: '/api/agent-profiles',
    item: { llm_profile: 'main' },
    more: MODELS,
    theirs: {
      llm_profile: 'llm_profile_ref',
      mcp_servers: 'mcp_server_refs',
      secrets: 'secret_refs',
      meta_profile: 'meta_profile_ref',
    },
    values: {
      meta_profile: 'router',
      mcp_servers: [],
      secrets: [],
      condenser: {},
      verification: {},
    },
  },
};

function itemMembers(block: string): readonly (readonly [string, SchemaNode])[] {
  const { $defs } = SCHEMA;
  const node = $defs[block.replace(/s$/, '')];
  return Object.entries(node?.properties ?? {});
}

/** The same without a member, wherever an answer has it. */
function omitMember(body: unknown, name: string): unknown {
  // The front passes a list on as text.
  if (typeof body === 'string' && body.startsWith('['))
    return JSON.stringify(omitMember(JSON.parse(body), name));
  if (Array.isArray(body)) return body.map((one: unknown) => omitMember(one, name));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) =>
      key === name ? [] : [[key, omitMember(value, name)] as const],
    ),
  );
}

itEach(
  Object.keys(COLLECTIONS).flatMap((block) =>
    itemMembers(block).map(([name, node]) => ({ block, name, node })),
  ),
  ({ name }) => ['base_url', 'prompt_template', 'persona'].includes(name),
)(
  'an item of $block that declares $name is refused where another one shows that the release lacks it',
  async ({ block, name, node }) => {
    const {
      path,
      item,
      more = {},
      theirs = {},
      values = {},
    } = COLLECTIONS[block] ?? { path: '', item: {} };
    const front = await startFronted({ dialect: 'agent-server' });
    onTestFinished(() => front.close());
    const plain = { env: { KEY: 'k' }, clock: quickClock(), allow: ['empty-store'] };
    const file = (items: object) =>
      JSON.stringify({
        version: 1,
        server: { url: front.url },
        settings: { language: 'de' },
        ...more,
        [block]: items,
      });
    const own: Readonly<Record<string, unknown>> = name.startsWith('acp_') ? ACP : item;
    const applied = await apply({ ...plain, text: file({ there: own }) });
    expect(applied.environments[0]).toMatchObject({ error: null });
    const value = values[name] ?? own[name] ?? sampleOf(node);
    front.changed = (seen, reply) =>
      seen.path.startsWith(path)
        ? { ...reply, body: omitMember(reply.body, theirs[name] ?? name) }
        : reply;
    const sent = front.writes().length;
    const { environments } = await plan({
      ...plain,
      text: file({ there: { ...own, [name]: value } }),
    });
    expect(environments[0]?.error?.message).toContain(name);
    expect(environments[0]?.error).toMatchObject({ code: 'unfit-for-service' });
    expect(front.writes()).toHaveLength(sent);
  },
);

it.each(['persona', 'enable_classify_and_switch_llm_tool', 'tool_concurrency_limit'])(
  'a new agent profile that declares %s is refused where the settings show that the release lacks it',
  async (name) => {
    const front = await startFronted({ dialect: 'agent-server' });
    onTestFinished(() => front.close());
    const plain = { env: {}, clock: quickClock(), allow: ['empty-store'] };
    const blocks = { version: 1, server: { url: front.url }, settings: { language: 'de' } };
    await apply({ ...plain, text: JSON.stringify({ ...blocks, ...MODELS }) });
    const node = Object.fromEntries(itemMembers('agent_profiles'))[name] ?? {};
    const agent_profiles = { fresh: { llm_profile: 'main', [name]: sampleOf(node) } };
    const text = JSON.stringify({ ...blocks, ...MODELS, agent_profiles });
    const whole = await plan({ ...plain, text });
    expect(whole.environments[0]).toMatchObject({ error: null, status: 'differs' });
    front.changed = (seen, reply) =>
      seen.path === SETTINGS['agent-server']
        ? { ...reply, body: omitPath(reply.body, ['agent_settings', name]) }
        : reply;
    const [environment] = (await plan({ ...plain, text })).environments;
    expect(environment?.error).toMatchObject({ code: 'unfit-for-service' });
    expect(environment?.error?.message).toMatch(
      new RegExp(`declares ${name}.* agent-server 1\\.57`),
    );
  },
);
