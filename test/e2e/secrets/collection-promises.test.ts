/** What holds for every collection that a file declares by name: no answer is quoted, and no mask or blank is sent as a secret. */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { COLLECTION_FORMS } from '../../../src/reconciler/model/collection-forms.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { RESOURCES } from '../../../src/reconciler/resources/resources.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach, itEach } from '../../fixture/long.ts';
import { quickClock } from '../../fixture/settings.ts';

const CANARY = 'canary-of-a-refusal';

let folder: ReturnType<typeof folderWith> | undefined;
let front: Fronted;
afterEach(async () => {
  if (folder === undefined) return;
  await front.close();
  folder.remove();
  folder = undefined;
});

type Dialect = 'settings-v0' | 'app-server' | 'agent-server';

/** Of each collection the servers that have it, and an item of it; `at`: its secrets. */
const SAMPLES: Readonly<Record<string, Sample>> = {
  secrets: {
    on: ['settings-v0', 'app-server', 'agent-server'],
    text: 'secrets: { TOKEN: "${env:S1}" }',
    at: ['secrets.TOKEN'],
  },
  git_providers: {
    on: ['settings-v0', 'app-server'],
    text: 'git_providers: { github: { token: "${env:S1}" } }',
    at: ['git_providers.github.token'],
  },
  skills: { on: ['agent-server'], text: 'skills: { deploy: { source: /srv/deploy } }' },
  plugins: { on: ['agent-server'], text: 'plugins: { lint: { source: /srv/lint } }' },
  canvas_extensions: {
    on: ['agent-server'],
    text: 'canvas_extensions: { board: { source: /srv/board } }',
  },
  workspace_parents: { on: ['agent-server'], text: 'workspace_parents: { /srv/team: {} }' },
  workspaces: { on: ['agent-server'], text: 'workspaces: { /srv/shop: {} }' },
  provider_connections: {
    on: ['agent-server'],
    text: 'provider_connections: { team: { api_key: "${env:S1}", base_url: "https://${env:HOST}" } }',
    at: ['provider_connections.team.api_key'],
    host: 'provider_connections.team.base_url',
  },
  llm_profiles: {
    on: ['app-server', 'agent-server'],
    text: 'llm_profiles: { main: { model: openai/gpt-5, api_key: "${env:S1}", aws_secret_access_key: "${env:S2}", base_url: "https://${env:HOST}" } }',
    at: ['llm_profiles.main.api_key', 'llm_profiles.main.aws_secret_access_key'],
    host: 'llm_profiles.main.base_url',
  },
  meta_profiles: {
    on: ['agent-server'],
    text: 'llm_profiles: { one: { model: openai/gpt-5 } }\nmeta_profiles: { router: { classifier: one } }',
  },
  agent_profiles: {
    on: ['agent-server'],
    text: 'llm_profiles: { one: { model: openai/gpt-5 } }\nagent_profiles: { reviewer: { llm_profile: one } }',
  },
  webhooks: {
    on: ['agent-server'],
    text: 'webhooks: { billing: { secret: "${env:S1}" } }',
    at: ['webhooks.billing.secret'],
  },
  automations: {
    on: ['agent-server'],
    text: 'automations: { digest: { prompt: Summarise., cron: "@daily" } }',
  },
  active: {
    on: ['app-server', 'agent-server'],
    text: 'llm_profiles: { main: { model: openai/gpt-5 } }\nactive: { llm_profile: main }',
  },
};

interface Sample {
  readonly on: readonly Dialect[];
  readonly text: string;
  readonly at?: readonly string[];
  readonly host?: string;
}

const CASES = Object.entries(SAMPLES).flatMap(([block, sample]) =>
  sample.on.map((dialect) => ({ ...sample, block, dialect })),
);
/** Each collection once. */
const isShort = (one: (typeof CASES)[number]): boolean =>
  one.dialect === CASES.find(({ block }) => block === one.block)?.dialect;
const SECRET_CASES = CASES.filter(({ at }) => at !== undefined);

const ENV = { S1: 'canary-s1', S2: 'canary-s2', HOST: 'llm.example.com' };
const allow = ['empty-store', 'run-code'];

async function begin({ dialect }: { readonly dialect: Dialect }): Promise<void> {
  folder = folderWith({});
  front = await startFronted({ dialect, apiKey: 'k', data: join(folder.path, 'store.json') });
  await apply(asked(''));
}

function asked(blocks: string, env: Readonly<Record<string, string>> = ENV) {
  const text = `version: 1\nserver: { url: "${front.url}" }\nsettings: { language: en }\n${blocks}\n`;
  return { text, file: join(folder?.path ?? '', 'settings.yaml'), env, clock: quickClock(), allow };
}

function writes(): number {
  return front.seen.filter(({ method }) => method !== 'GET').length;
}

/** What servers answer to a body that they do not take: it goes back with it. */
const QUOTING = {
  status: 422,
  body: {
    detail: [
      { type: CANARY, loc: ['body', CANARY], msg: CANARY, input: CANARY, ctx: { x: CANARY } },
    ],
  },
};

it('is tested of every collection', () => {
  const named = new Set<string>(COLLECTION_FORMS.map(({ block }) => block));
  const blocks = RESOURCES.map(({ block }) => block).filter((block) => named.has(block));
  expect(Object.keys(SAMPLES).toSorted()).toEqual(blocks.toSorted());
});

describeEach(CASES, isShort)('$block on $dialect', (one) => {
  it('quotes nothing of a 422', async () => {
    await begin(one);
    const last = one.block === 'active' ? '/activate' : '';
    front.instead = ({ method, path }) =>
      method !== 'GET' && path.endsWith(last) ? QUOTING : null;
    const document = await apply(asked(one.text));
    const [environment] = document.environments;
    expect(environment?.error?.message).toContain('status 422');
    expect(JSON.stringify(document)).not.toContain('canary');
  });

  it('names the member of a 422 by its path in the file, and quotes no sentence', async () => {
    await begin(one);
    front.instead = ({ method, body }) => {
      // An empty event compares the secret of a webhook, and writes nothing.
      if (method === 'GET' || body === '') return null;
      const at = pathsIn(JSON.parse(body)).find((place) => place.at(-1) === named?.sent);
      if (at === undefined) return null;
      const reason = { type: 'refused', loc: ['body', ...at], msg: CANARY };
      return { status: 422, body: { detail: [{ ...reason, input: CANARY }] } };
    };
    const named = NAMED[one.block];
    const document = await apply(asked(one.text));
    const [environment] = document.environments;
    expect(JSON.stringify(document)).not.toContain('canary');
    if (named !== undefined)
      expect(environment?.error?.message).toContain(`${named.shown} (refused) (status`);
  });
});

/** A member of each sample: its name in the request, and its path in the file. Refusals of the others have a meaning of their own. */
const NAMED: Readonly<Record<string, { readonly sent: string; readonly shown: string }>> = {
  secrets: { sent: 'value', shown: 'secrets.TOKEN' },
  provider_connections: { sent: 'base_url', shown: 'provider_connections.team.base_url' },
  llm_profiles: { sent: 'model', shown: 'llm_profiles.main.model' },
  meta_profiles: { sent: 'classifier_model', shown: 'meta_profiles.router.classifier' },
  agent_profiles: { sent: 'llm_profile_ref', shown: 'agent_profiles.reviewer.llm_profile' },
};

function pathsIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    [key],
    ...pathsIn(inner).map((path) => [key, ...path]),
  ]);
}

describeEach(CASES, isShort)('$block on $dialect', (one) => {
  it('is approved by a saved plan', async () => {
    await begin(one);
    const save = ['plan', '--out', 'plan.json'];
    await written(one.text, save);
    const { stderr } = await written(one.text, ['apply', 'plan.json']);
    expect(stderr).not.toMatch(/saved plan/);
  });
});

/** Runs a command on a file with these blocks, and asserts that no secret is shown. */
async function written(blocks: string, args: readonly string[]) {
  const { text, file, env } = asked(blocks);
  writeFileSync(file, text);
  const allowed = args[0] === 'apply' ? allow.flatMap((rule) => ['--allow', rule]) : [];
  const ended = await setpoint([...args, ...allowed], { cwd: dirname(file), env });
  expect(ended.stdout + ended.stderr).not.toContain('canary');
  return ended;
}

/** A token is stored only if a provider confirms it. */
const STORED_CASES = SECRET_CASES.filter(({ block }) => block !== 'git_providers');

describeEach(STORED_CASES, isShort)('a secret of $block on $dialect', (one) => {
  const { at = [], text } = one;

  it('is new after its item was removed', async () => {
    await begin(one);
    const env = { ...ENV, SETPOINT_STATE_KEY: 'state' };
    const [item = ''] = at;
    const [block = '', name = ''] = item.split('.');
    const errors = [];
    for (const blocks of [text, `${block}: { ${name}: null }`, text])
      errors.push((await apply(asked(blocks, env))).environments[0]?.error ?? null);
    expect(errors).toEqual([null, null, null]);
  });
});

const NO_SECRETS = ['', '   ', '**********', '(sensitive)', '<redacted>'];

describe.each(SECRET_CASES)('a secret of $block on $dialect', (one) => {
  const { at = [], text } = one;
  const turn = SECRET_CASES.indexOf(one) % NO_SECRETS.length;

  itEach(NO_SECRETS, (_, index) => index === turn)('is never %j', async (value) => {
    await begin(one);
    const sent = writes();
    const env = { ...ENV, S1: value, S2: value };
    const error: unknown = await apply(asked(text, env)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'reference-missing' });
    for (const path of at) expect(String(error)).toContain(path);
    expect(writes()).toBe(sent);
    const [planned] = (await plan(asked(text, env))).environments;
    expect(planned?.unknown.map(({ path }) => path.join('.'))).toEqual(
      expect.arrayContaining([...at]),
    );
  });
});

describe.each(CASES.filter(({ host }) => host !== undefined))(
  'a secret of $block on $dialect',
  (one) => {
    it('is sent to no address of which a part is missing', async () => {
      const { text, host } = one;
      await begin(one);
      const sent = writes();
      const { HOST: _, ...env } = ENV;
      const error: unknown = await apply(asked(text, env)).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'reference-missing' });
      expect(String(error)).toContain(host);
      expect(writes()).toBe(sent);
    });
  },
);

describe.each(CASES.filter(({ host }) => host !== undefined))(
  'the address of $block on $dialect',
  (one) => {
    it('is judged by SETPOINT_ALLOWED_ORIGINS, with a key of its own and with a stored one', async () => {
      await begin(one);
      const kept = one.text.replaceAll(/(api_key|aws_secret_access_key): "\$\{env:S\d\}", /g, '');
      for (const text of [one.text, kept]) {
        const refused = { ...ENV, SETPOINT_ALLOWED_ORIGINS: 'https://other.example.com' };
        const [environment] = (await plan(asked(text, refused))).environments;
        expect(environment?.error).toMatchObject({ code: 'not-allowed' });
        expect(environment?.error?.message).toContain(one.host);
        expect(JSON.stringify(environment)).not.toContain('canary');
      }
      const allowed = { ...ENV, SETPOINT_ALLOWED_ORIGINS: 'https://llm.example.com' };
      expect((await plan(asked(one.text, allowed))).environments).toMatchObject([{ error: null }]);
    });

    it('may be in the clear, or anything, if no key is sent there', async () => {
      await begin(one);
      const open = one.text.replace('https://', 'http://');
      expect((await plan(asked(open))).environments).toMatchObject([
        { error: { code: 'not-allowed' } },
      ]);
      const keyless = open.replaceAll(/"\$\{env:S\d\}"/g, 'null');
      const [environment] = (await plan(asked(keyless))).environments;
      expect(environment?.error?.code).not.toBe('not-allowed');
    });
  },
);
