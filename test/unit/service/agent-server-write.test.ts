import { describe, expect, it } from 'vitest';
import type { SettingsWrite } from '../../../src/reconciler/model/state.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { observeAgentServer } from '../../../src/reconciler/service/agent-server/read.ts';
import {
  buildPatchBody,
  patchSettings,
  explainPatchRefusal,
} from '../../../src/reconciler/service/agent-server/write.ts';
import { answering, bodyText, ORIGIN } from './answering.ts';

const URL = 'https://mcp.example.com/mcp';
const OTHER = 'https://other.example.com/mcp';
/** What the service answers in place of a secret. */
const MASK = new Secret('**********');

type Fields = Readonly<Record<string, Value>>;

function writeOf(fields: Fields, stored: Fields = {}): SettingsWrite {
  const answer = { agent_settings: { agent_kind: 'openhands' }, ...stored };
  const observed = observeAgentServer(createRecord(Object.entries(answer)));
  return { fields: createRecord(Object.entries(fields)), observed };
}

/** The body of a PATCH, or why there is none. */
function patch(fields: Fields, stored: Fields = {}): unknown {
  return bodyText(buildPatchBody(writeOf(fields, stored)));
}

const WITHOUT_PLACE = ['email', 'search_api_key', 'secrets_store', 'no_such_field'];

describe('a PATCH', () => {
  it.each<[string, Value, unknown]>([
    ['language', 'en', { misc_settings_diff: { app_preferences: { language: 'en' } } }],
    ['agent', 'A', { agent_settings_diff: { agent: 'A' } }],
    ['max_iterations', 9, { conversation_settings_diff: { max_iterations: 9 } }],
    ['llm_model', 'a/b', { agent_settings_diff: { llm: { model: 'a/b' } } }],
    ['llm_api_key', new Secret('k'), { agent_settings_diff: { llm: { api_key: 'k' } } }],
    ['condenser_max_size', 80, { agent_settings_diff: { condenser: { max_size: 80 } } }],
    ['active_profile', 'fast', { active_profile: 'fast' }],
    ['agent_settings.llm.top_p', 0.5, { agent_settings_diff: { llm: { top_p: 0.5 } } }],
    ['misc_settings.own', 'x', { misc_settings_diff: { own: 'x' } }],
    ['misc_settings.agent_settings', 'x', { misc_settings_diff: { agent_settings: 'x' } }],
    [
      'conversation_settings.default_runtime',
      'docker',
      { conversation_settings_diff: { default_runtime: 'docker' } },
    ],
  ])('has %s in its place', (name, value, body) => {
    expect(patch({ [name]: value })).toStrictEqual(body);
  });

  it('has all that is written, flat and native names beside each other, and nothing else', () => {
    const fields = {
      llm_model: 'a/b',
      'agent_settings.llm.top_p': 0.5,
      language: 'en',
      'misc_settings.own': 'x',
    };
    const stored = { agent: 'CodeActAgent', llm_base_url: URL, max_iterations: 9 };
    expect(patch(fields, stored)).toStrictEqual({
      agent_settings_diff: { llm: { top_p: 0.5, model: 'a/b' } },
      misc_settings_diff: { own: 'x', app_preferences: { language: 'en' } },
    });
    expect(patch({}, stored)).toStrictEqual({});
  });

  it.each(WITHOUT_PLACE)('is none if it would have %s, which the server does not have', (name) => {
    expect(patch({ language: 'en', [name]: 'x' })).toBe(`these services have no ${name}`);
    expect(explainPatchRefusal(writeOf({ [name]: null }))).toBe(`these services have no ${name}`);
  });

  it.each<[string, Value]>([
    ['llm_api_key', MASK],
    ['agent_settings.agent_context.secrets.TOKEN', MASK],
    ['mcp_config', { shttp_servers: [{ name: 'one', url: URL, api_key: MASK }] }],
  ])('is none if it would have a mask: %s', (name, value) => {
    expect(patch({ [name]: value })).toBe('it would clear a secret by its mask');
    expect(explainPatchRefusal(writeOf({ [name]: value }))).toBe(
      'it would clear a secret by its mask',
    );
  });

  it('may be sent if nothing speaks against it', () => {
    expect(
      explainPatchRefusal(writeOf({ llm_api_key: new Secret('k'), language: null })),
    ).toBeNull();
  });
});

describe('null', () => {
  it.each<[string, unknown]>([
    ['llm_api_key', { agent_settings_diff: { llm: { api_key: null } } }],
    ['agent', { agent_settings_diff: { agent: null } }],
    ['condenser_max_size', { agent_settings_diff: { condenser: { max_size: null } } }],
    ['mcp_config', { agent_settings_diff: { mcp_config: null } }],
    ['agent_settings.llm.auth_type', { agent_settings_diff: { llm: { auth_type: null } } }],
    ['active_profile', { active_profile: null }],
  ])('resets %s', (name, body) => {
    expect(patch({ [name]: null })).toStrictEqual(body);
  });

  it('removes a member of misc_settings', () => {
    expect(patch({ language: null, 'misc_settings.own': null })).toStrictEqual({
      misc_settings_diff: { own: null, app_preferences: { language: null } },
    });
  });

  it.each<[string, string, Value]>([
    ['max_iterations', 'max_iterations', 500],
    ['confirmation_mode', 'confirmation_mode', false],
    ['conversation_settings.default_runtime', 'default_runtime', 'local'],
    ['conversation_settings.worktree_branch_prefix', 'worktree_branch_prefix', 'openhands/'],
    ['conversation_settings.container_browser', 'container_browser', true],
  ])('is not kept by conversation_settings: %s is sent its default', (name, member, value) => {
    expect(patch({ [name]: null })).toStrictEqual({
      conversation_settings_diff: { [member]: value },
    });
  });

  it.each(['security_analyzer', 'container_memory', 'worktree_base_ref', 'of_a_later_release'])(
    'is sent for %s, which has it or has no default',
    (member) => {
      const name = member === 'security_analyzer' ? member : `conversation_settings.${member}`;
      expect(patch({ [name]: null })).toStrictEqual({
        conversation_settings_diff: { [member]: null },
      });
    },
  );

  it('is sent for an address that is empty, and for nothing else that is', () => {
    expect(patch({ llm_base_url: '', agent: '', language: '' })).toStrictEqual({
      agent_settings_diff: { llm: { base_url: null }, agent: '' },
      misc_settings_diff: { app_preferences: { language: '' } },
    });
    expect(patch({ llm_base_url: URL })).toStrictEqual({
      agent_settings_diff: { llm: { base_url: URL } },
    });
  });
});

describe('the mcp servers of a PATCH', () => {
  const keyed = { name: 'one', url: URL, api_key: MASK };
  const config = (...entries: Value[]): Value => ({ shttp_servers: entries });

  it('have what differs from those that are stored, and no mask', () => {
    const stored = { mcp_config: config(keyed, { name: 'two', url: URL }) };
    const declared = config({ name: 'one', url: URL, timeout: 5 });
    expect(patch({ mcp_config: declared }, stored)).toStrictEqual({
      agent_settings_diff: { mcp_config: { two: null, one: { timeout: 5 } } },
    });
  });

  it('that move lose their stored key in the same write', () => {
    const stored = { mcp_config: config(keyed) };
    expect(patch({ mcp_config: config({ name: 'one', url: OTHER }) }, stored)).toStrictEqual({
      agent_settings_diff: { mcp_config: { one: { auth: null, url: OTHER, transport: 'http' } } },
    });
  });

  it('are all sent if none is stored, beside what else is written', () => {
    const declared = config({ name: 'one', url: URL });
    expect(patch({ agent: 'A', mcp_config: declared, max_iterations: 9 })).toStrictEqual({
      agent_settings_diff: { agent: 'A', mcp_config: { one: { url: URL, transport: 'http' } } },
      conversation_settings_diff: { max_iterations: 9 },
    });
  });

  it('are not sent if two would have one name', () => {
    const twice = config({ name: 'one', url: URL }, { name: 'one', url: OTHER });
    expect(explainPatchRefusal(writeOf({ mcp_config: twice }))).toMatch(
      /^two servers of mcp_config would have the name one,/,
    );
  });
});

describe('a write', () => {
  const PLACE = `PATCH ${ORIGIN}/api/settings`;
  const refusal = async (status: number, fields: Fields, detail = 'canary-answer') => {
    const { writing } = answering(status, { detail, input: 'canary-input' });
    const answer = await patchSettings(writing)(writeOf(fields));
    if (answer.kind !== 'not-applied') throw new Error(answer.kind);
    const { message, code, hint } = answer.error;
    expect(code).toBe(hint.includes('server.url') ? 'not-this-service' : 'settings-refused');
    expect(`${message} ${hint}`).not.toContain('canary');
    return { message, hint };
  };

  it('is one PATCH', async () => {
    const { writing, sent } = answering(200);
    const fields = { llm_api_key: new Secret('canary-key'), language: 'en' };
    await expect(patchSettings(writing)(writeOf(fields))).resolves.toEqual({
      kind: 'stored',
    });
    expect(sent).toEqual([
      {
        method: 'PATCH',
        path: '/api/settings',
        body: '{"agent_settings_diff":{"llm":{"api_key":"canary-key"}},"misc_settings_diff":{"app_preferences":{"language":"en"}}}',
      },
    ]);
  });

  it('that must not be sent is not', async () => {
    const { writing, sent } = answering(200);
    await expect(patchSettings(writing)(writeOf({ llm_api_key: MASK }))).resolves.toMatchObject({
      kind: 'not-applied',
      retry: false,
      reached: false,
      error: {
        code: 'settings-refused',
        message: `${PLACE} was not sent: it would clear a secret by its mask.`,
      },
    });
    expect(sent).toEqual([]);
  });

  it.each([400, 422])('that the server refuses as invalid (%s)', async (status) => {
    const fields = { llm_model: 'canary', active_profile: null, active_meta_profile: '' };
    await expect(refusal(status, fields)).resolves.toEqual({
      message: `${PLACE} was refused as invalid (status ${status}). The server does not report which value it refuses. Nothing was written.`,
      hint: "Check llm_model: servers refuse a model whose context window is below 16,384 tokens, unless max_input_tokens says more. Look for the reason in the server's logs.",
    });
  });

  it('to a server that has no such path', async () => {
    const fields = { llm_model: 'canary', active_profile: null, active_meta_profile: '' };
    await expect(refusal(404, fields)).resolves.toMatchObject({
      message: `The server does not know this path (status 404): ${PLACE}.`,
    });
  });

  const [LLM, META] = ['an LLM profile', 'a meta profile'];
  const BOTH = { active_meta_profile: 'canary', active_profile: 'canary' };
  const ABSENT = 'that the server does not have';

  it.each<[Fields, string, string, string | undefined]>([
    [
      { active_profile: 'canary', active_meta_profile: null },
      'active_profile',
      `names ${LLM} ${ABSENT}`,
      undefined,
    ],
    [
      { active_agent_profile_id: 'canary' },
      'active_agent_profile_id',
      `names an agent profile ${ABSENT}`,
      undefined,
    ],
    [
      BOTH,
      'active_profile or active_meta_profile',
      `names ${LLM} ${ABSENT}, or active_meta_profile names ${META} ${ABSENT}`,
      undefined,
    ],
    [BOTH, 'active_profile', `names ${LLM} ${ABSENT}`, "Profile 'canary' not found"],
    [BOTH, 'active_meta_profile', `names ${META} ${ABSENT}`, "Meta-profile 'canary' not found"],
  ])('that names what the server does not have: %o, %s', async (fields, which, said, detail) => {
    const [first = ''] = which.split(' ');
    await expect(refusal(404, fields, detail)).resolves.toEqual({
      message: `${PLACE} was refused: ${first} ${said} (status 404). Nothing was written.`,
      hint: `Create what ${which} names on the server first, or name something that it has.`,
    });
    await expect(refusal(422, fields)).resolves.toMatchObject({
      message: expect.stringContaining('was refused as invalid (status 422)') as string,
    });
  });

  it('to a server that cannot read what it has stored', async () => {
    await expect(refusal(409, { active_profile: 'canary' })).resolves.toEqual({
      message: `${PLACE} was refused: the server cannot read all that it has stored (status 409). Nothing was written.`,
      hint: "Restore the former OH_SECRET_KEY of the server, or add it to OH_PREVIOUS_SECRET_KEYS. The server's settings.json is encrypted with another key, or is corrupted.",
    });
  });

  it('that a server fails at may have taken effect', async () => {
    const { writing } = answering(500);
    await expect(patchSettings(writing)(writeOf({ language: 'en' }))).resolves.toMatchObject({
      kind: 'ambiguous',
      error: { code: 'server-error' },
    });
  });
});
