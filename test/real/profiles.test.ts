import { describe, it } from 'vitest';
import { describeProfilesLoop } from '../fixture/loop/profiles-loop.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();

if (release.dialect === 'settings-v0')
  describe('LLM profiles', () => {
    it.skip('are not a matter of these servers');
  });
else describeProfilesLoop('LLM profiles', () => startRealServer(release, venv));
