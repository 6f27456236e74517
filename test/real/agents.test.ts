import { describe, it } from 'vitest';
import { describeAgentsLoop } from '../fixture/loop/agents-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

if (release.dialect === 'agent-server')
  describeAgentsLoop(
    'profiles and connections',
    () => startRealServer(release, venv),
    release.without,
  );
else
  describe('profiles and connections', () => {
    it.skip('are a matter of Agent Servers');
  });
