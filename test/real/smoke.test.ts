/** `setpoint smoke` on a real server whose sandboxes are processes: what it has started goes again, and nothing else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SmokeDocument } from '../../src/reconciler/model/documents.gen.ts';
import { setpoint } from '../fixture/command.ts';
import { writeBehind } from '../fixture/loop/dialects.ts';
import { asked, startWorld, type World } from '../fixture/loop/world.ts';
import type { JsonRecord } from '../fixture/store-server.ts';
import { startRealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

const { release, venv } = theRelease();
const SANDBOXES = '/api/v1/sandboxes';

describe('a conversation that smoke starts', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(await startRealServer(release, venv, { isAwake: true }));
    const { server, dialect } = world;
    await writeBehind(server, dialect, { language: 'en', llm_model: 'openai/gpt-5' });
    world.file('settings.yaml', {});
  });
  afterAll(() => world?.close());

  if (release.dialect === 'agent-server')
    it('is none on an Agent Server, which is said before anything is sent', async () => {
      const { stderr } = await world.run(['smoke', '--yes'], 3);
      expect(stderr).toContain('setpoint doctor --check');
      expect(world.tap.writes).toEqual([]);
    });
  else
    it('is removed with the sandbox that was started for it, and another one stays', async () => {
      await asked(world, 'POST', SANDBOXES, {});
      const before = await ids(world, SANDBOXES);
      const { folder: cwd, env } = world;
      const args = ['smoke', '--yes', '--wait', '9m', '-o', 'json'];
      const { stdout, stderr } = await setpoint(args, { cwd, env });
      const [environment] = (JSON.parse(stdout) as SmokeDocument).environments;
      expect(environment, stderr).toMatchObject({ removed: true, remains: null });
      expect(await ids(world, '/api/v1/app-conversations')).toEqual([]);
      expect(await ids(world, SANDBOXES)).toEqual(before);
      for (const id of before) await asked(world, 'DELETE', `${SANDBOXES}/${id}?sandbox_id=${id}`);
    });
});

async function ids(world: World, list: string): Promise<readonly string[]> {
  const { items } = await asked(world, 'GET', `${list}/search`);
  return (items as readonly JsonRecord[]).map(({ id }) => id as string);
}
