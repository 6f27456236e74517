/** The loop of automations and webhooks on a whole automation service, next to a whole Agent Server. */
import { describeAutomationsLoop } from '../fixture/loop/automations-loop.ts';
import { startRealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

const { release, venv } = theRelease();
const beside = theRelease('_BESIDE');

describeAutomationsLoop('automations and webhooks', async () => {
  const agent = await startRealServer(beside.release, beside.venv);
  const server = await startRealServer(release, venv);
  const close = async () => {
    await server.close();
    await agent.close();
  };
  return { ...server, agentUrl: agent.url, close };
});
