import { rmSync } from 'node:fs';
import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import {
  describeAutomationsLoop,
  type AutomationServer,
} from '../../fixture/loop/automations-loop.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';

const NAME = 'automations of the embedded service';

async function start(): Promise<AutomationServer> {
  const [server, agent] = [
    await startEmbedded('agent-server'),
    await startEmbedded('agent-server'),
  ];
  return {
    ...server,
    agentUrl: agent.url,
    without: {
      'a git sync of the service is refused, and nothing is sent':
        'the embedded service has no git sync',
    },
    empty: () => rmSync(server.data, { force: true }),
    async close() {
      await server.close();
      await agent.close();
    },
  };
}

describeAutomationsLoop(NAME, start, 'without kills');
describe('with kills', LONG, () => {
  describeAutomationsLoop(NAME, start);
});
