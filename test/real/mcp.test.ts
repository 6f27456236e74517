/** `setpoint mcp` in front of a whole Agent Server: an agent plans, a person approves, and the server has what was approved. */
import { describe, expect, it } from 'vitest';
import { CANARY, startWorld } from '../fixture/loop/world.ts';
import { approvePlan, callTool, startMcpClient } from '../fixture/mcp-client.ts';
import { startRealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

const { release, venv } = theRelease();

describe('an agent of a whole server', () => {
  if (release.dialect !== 'agent-server') return it.skip('is tried with Agent Servers');

  it('writes only what a person approved, and reads all else', async () => {
    const world = await startWorld(await startRealServer(release, venv));
    const env = {
      ...world.env,
      SETPOINT_ALLOWED_ORIGINS: world.tap.url,
      SETPOINT_ALLOWED_VARIABLES: 'SETPOINT_API_KEY,LLM_API_KEY',
      SETPOINT_APPROVAL_KEY: 'a-key-of-the-people-0123456789',
    };
    world.file('settings.yaml', { llm_model: 'openai/gpt-5', llm_api_key: '${env:LLM_API_KEY}' });
    const client = await startMcpClient(world.folder, ['--allow-apply'], env);
    try {
      for (const [name, args, exit] of [
        ['validate', {}, 0],
        ['doctor', {}, 0],
        ['get', { what: 'settings,secrets' }, 0],
        ['explain', { path: 'llm_model' }, 0],
        ['propose_change', { path: 'llm_model', value: 'openai/gpt-5-mini' }, 0],
        ['plan', { save_as: 'model.plan.json' }, 0],
        ['apply', { approval: '0123456789abcdef' }, 6],
      ] as const) {
        const called = await callTool(client, name, args);
        expect([name, called.exit], called.text).toEqual([name, exit]);
        expect(called.whole).not.toContain(CANARY);
      }
      expect(world.tap.writes).toEqual([]);
      const { name } = await approvePlan(world.folder, 'model.plan.json', env);
      expect((await callTool(client, 'apply', { approval: name })).exit).toBe(0);
      await world.expectStored('llm_model', 'openai/gpt-5-mini');
      world.tap.forget();
      expect((await callTool(client, 'apply', { approval: name })).exit).toBe(6);
      expect(world.tap.writes).toEqual([]);
      expect((await callTool(client, 'drift')).exit).toBe(0);
    } finally {
      await client.close();
      await world.close();
    }
  });
});
