import { describe, it } from 'vitest';
import { describeAgentsLoop } from '../fixture/loop/agents-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const NAME = 'profiles and connections';
const { release, venv } = theRelease();
const { without = {} } = release;

if (release.dialect === 'agent-server' && without[NAME] === undefined)
  describeAgentsLoop(NAME, () => startRealServer(release, venv), without);
else
  describe(NAME, () => {
    it.skip(without[NAME] ?? 'are a matter of Agent Servers');
  });
