import { describe, it } from 'vitest';
import { describeWorkspacesLoop } from '../fixture/loop/workspaces-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

if (release.dialect === 'agent-server')
  describeWorkspacesLoop('workspaces', () => startRealServer(release, venv));
else
  describe('workspaces', () => {
    it.skip('are a matter of Agent Servers');
  });
