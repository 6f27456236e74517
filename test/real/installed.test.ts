import { describe, it } from 'vitest';
import { describeInstalledLoop } from '../fixture/loop/installed-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

if (release.dialect === 'agent-server')
  describeInstalledLoop('skills and plugins', () => startRealServer(release, venv));
else
  describe('skills and plugins', () => {
    it.skip('are a matter of Agent Servers');
  });
