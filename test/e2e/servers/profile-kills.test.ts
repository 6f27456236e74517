/** A run over profiles is killed at each of its writes: nobody else loses anything, and the next run ends it. */
import { describe, expect, it } from 'vitest';
import { CALM } from '../../fixture/collections/disturb.ts';
import { type Blocks, ENV, type File } from '../../fixture/collections/files.ts';
import { expectNothingElse, expectOthersKept } from '../../fixture/collections/judge.ts';
import { expectSettled, ran } from '../../fixture/collections/run.ts';
import type { Dialect } from '../../fixture/collections/truth.ts';
import { startWorld, type World } from '../../fixture/collections/world.ts';
import { LONG } from '../../fixture/long.ts';

const [OLD, NEW] = [ENV['K0'] ?? '', ENV['K1'] ?? ''];
const base_url = 'https://llm.example.com/v1';
const MAIN = { model: 'openai/gpt-5', base_url, api_key: OLD };
const CHEAP = { model: 'openai/gpt-5', temperature: 0.2 };
const AGENT = { llm_profile: 'main', persona: 'one' };
const ROUTER = { classifier: 'main', classes: [{ description: 'all', model: 'main' }] };

/** What a file declares before and after, by what the edit does; an app-server has the LLM profiles of it. */
const EDITS: Readonly<Record<string, readonly [Blocks, Blocks]>> = {
  create: [{}, { llm_profiles: { main: MAIN, cheap: CHEAP }, agent_profiles: { coder: AGENT } }],
  change: [
    { llm_profiles: { main: MAIN }, agent_profiles: { coder: AGENT }, ...active('main', 'coder') },
    {
      llm_profiles: { main: { ...MAIN, temperature: 0.5 } },
      agent_profiles: { coder: { ...AGENT, persona: 'two' } },
      ...active('main', 'coder'),
    },
  ],
  rotate: [
    { llm_profiles: { main: MAIN }, ...active('main') },
    { llm_profiles: { main: { ...MAIN, api_key: NEW } }, ...active('main') },
  ],
  activate: [
    {
      llm_profiles: { main: MAIN, cheap: CHEAP },
      agent_profiles: { coder: AGENT, reviewer: AGENT },
      ...active('main', 'coder'),
    },
    {
      llm_profiles: { main: MAIN, cheap: CHEAP },
      agent_profiles: { coder: AGENT, reviewer: AGENT },
      ...active('cheap', 'reviewer'),
    },
  ],
  remove: [
    {
      llm_profiles: { main: MAIN, cheap: CHEAP },
      agent_profiles: { coder: { llm_profile: 'cheap' }, reviewer: AGENT },
      ...active('main', 'reviewer'),
    },
    {
      llm_profiles: { main: MAIN, cheap: null },
      agent_profiles: { coder: null, reviewer: AGENT },
      ...active('main', 'reviewer'),
    },
  ],
  'change the active router': [
    { llm_profiles: { main: MAIN }, meta_profiles: { router: ROUTER }, ...active('main') },
    {
      llm_profiles: { main: MAIN },
      meta_profiles: { router: { ...ROUTER, classes: [] } },
      ...active('main'),
    },
  ],
};

function active(llm: string, agent?: string): Blocks {
  return {
    active: {
      llm_profile: { profile: llm },
      ...(agent === undefined ? {} : { agent_profile: { profile: agent } }),
    },
  };
}

function fileOf(dialect: Dialect, blocks: Blocks): File {
  if (dialect === 'agent-server') {
    const router =
      blocks.meta_profiles === undefined ? {} : { meta_profile: { profile: 'router' } };
    const pointers = blocks.active === undefined ? {} : { active: { ...blocks.active, ...router } };
    return { blocks: { ...blocks, ...pointers }, others: [] };
  }
  const { llm_profiles = {}, active: pointers } = blocks;
  const llm_profile = pointers?.['llm_profile'];
  return {
    blocks: { llm_profiles, ...(llm_profile === undefined ? {} : { active: { llm_profile } }) },
    others: [],
  };
}

/** A service that has what a file declares, and a profile of somebody else. */
async function prepared(dialect: Dialect, file: File): Promise<World> {
  const world = await startWorld(dialect);
  const theirs = { model: 'openai/theirs', api_key: NEW, num_retries: 3 };
  await world.person({ block: 'llm_profiles', name: 'theirs', members: theirs });
  await ran(world, dialect, file, { ...CALM, rotates: false });
  return world;
}

const CASES = (['app-server', 'agent-server'] as const).flatMap((dialect) =>
  Object.keys(EDITS).flatMap((edit) =>
    dialect === 'app-server' && edit.endsWith('router') ? [] : [[dialect, edit] as const],
  ),
);

describe('killed at each write', () => {
  it.each(CASES)('%s: %s', LONG, async (dialect, edit) => {
    const [before, after] = (EDITS[edit] ?? [{}, {}]).map((blocks) => fileOf(dialect, blocks));
    if (before === undefined || after === undefined) throw new Error('no such edit');
    const whole = await prepared(dialect, before);
    const seen = whole.front.seen.length;
    await ran(whole, dialect, after, { ...CALM, rotates: false });
    const requests = whole.front.seen.slice(seen);
    await whole.close();
    const writes = requests.flatMap(({ method }, at) => (method === 'GET' ? [] : [at + 1]));
    expect(writes.length).toBeGreaterThan(0);
    for (const nth of writes)
      for (const isAfter of [false, true]) {
        const world = await prepared(dialect, before);
        const kill = { nth, isAfter };
        const killed = await ran(world, dialect, after, { ...CALM, kill, rotates: false });
        expect(killed.isKilled).toBe(true);
        expectOthersKept(killed);
        expectNothingElse(killed);
        await expectSettled(world, dialect, after);
        await world.close();
      }
  });
});
