import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'vitest';
import { tellUpgrade } from '../fixture/loop/upgrade-story.ts';
import { startGitHosts } from './git-hosts.ts';
import { startRealServer } from './real-server.ts';
import { RELEASES, theRelease } from './releases.ts';

const { release, venv } = theRelease();
const FROM = RELEASES.find((one) => one.release === '0.62.0');
const olderVenv = join(dirname(venv), `openhands-ai-0.62.0`);

describe('an upgrade', () => {
  if (release.release !== '1.11.0' || FROM === undefined)
    return it.skip('is tried from 0.62.0 to 1.11.0');
  if (!existsSync(`${olderVenv}.complete`))
    return it.skip('needs the environment of 0.62.0, which npm run test:real 0.62.0 makes');
  it('from 0.62.0: one file brings back what the later server does not find', async () => {
    const hosts = await startGitHosts();
    const { variables } = hosts;
    try {
      const older = await startRealServer(FROM, olderVenv, { variables });
      await tellUpgrade(older, () => startRealServer(release, venv, { variables, after: older }));
    } finally {
      await hosts.close();
    }
  });
});
