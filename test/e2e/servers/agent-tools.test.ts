/** The tools of an agent profile: a server stores each once, under its name, and refuses some by a member. */
import { expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { startFronted } from '../../fixture/before-service.ts';
import { quickClock } from '../../fixture/settings.ts';

async function starts() {
  const front = await startFronted({ dialect: 'agent-server', apiKey: 'k' });
  onTestFinished(() => front.close());
  return (tools: string) => ({
    text: `version: 1
server: { url: "${front.url}" }
llm_profiles: { main: { model: openai/gpt-5 } }
agent_profiles: { a: { llm_profile: main, tools: ${tools} } }
`,
    env: {},
    clock: quickClock(),
    allow: ['empty-store' as const],
  });
}

it('a tool that is named by its class is stored under its name, and the plan is empty then', async () => {
  const asked = await starts();
  const classes =
    'FinishTool ThinkTool InvokeSkillTool SwitchLLMTool VisionInspectTool ClassifyAndSwitchLLMTool';
  const list = classes.split(' ').map((name) => `{ name: ${name} }`);
  const file = asked(`[${list.join(', ')}, { name: terminal, params: { a: 1 } }]`);
  expect((await apply(file)).environments[0]).toMatchObject({ status: 'applied', error: null });
  expect((await plan(file)).environments[0]).toMatchObject({ status: 'in-sync', changes: [] });
});

it('a refusal names the list that the server objects to, and quotes no sentence of it', async () => {
  const asked = await starts();
  const { environments } = await apply(asked('[{ name: think, params: { canary: 1 } }]'));
  expect(environments[0]?.error?.message).toMatch(
    /agent_profiles\.a\.tools \(value_error\) \(status 422, to store a\)/,
  );
});

it.each([
  ['agent_kind: acp, acp_args: [LIST]', 'acp_args', true],
  ['llm_profile: main, disabled_skills: [LIST]', 'disabled_skills', false],
])(
  'the order of a list counts if it is that of a command line: %s',
  async (members, name, isOrder) => {
    const tools = await starts();
    const asked = (list: string) => {
      const { text, ...rest } = tools('[]');
      const own = `agent_profiles: { a: { ${members.replace('LIST', list)} } }`;
      return { ...rest, text: text.replace(/^agent_profiles:.*$/m, own), env: { B: 'b' } };
    };
    for (const list of ['b, a', '"${env:B}", a']) {
      expect((await apply(asked(list))).environments[0]?.error ?? null).toBeNull();
      expect((await plan(asked(list))).environments[0]).toMatchObject({ status: 'in-sync' });
    }
    const { changes = [] } = (await plan(asked('a, b'))).environments[0] ?? {};
    expect(changes.map(({ path }) => path.at(-1))).toEqual(isOrder ? [name] : []);
  },
);
