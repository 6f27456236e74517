import { afterAll, describe, it } from 'vitest';
import { describeGitLoop } from '../fixture/loop/git-loop.ts';
import { startGitHosts, type GitHosts } from './git-hosts.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();
let hosts: GitHosts | null = null;
afterAll(() => hosts?.close());

if (release.dialect === 'agent-server')
  describe('git providers', () => {
    it.skip('are custom secrets on these servers');
  });
else
  describeGitLoop('git providers', async () => {
    hosts = await startGitHosts();
    return startRealServer(release, venv, { variables: hosts.variables });
  });
