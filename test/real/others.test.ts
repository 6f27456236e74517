import { afterAll, describe, it } from 'vitest';
import { describeOthersLoop } from '../fixture/loop/others-loop.ts';
import { startGitHosts, type GitHosts } from './git-hosts.ts';
import { theRelease } from './releases.ts';
import { startRealServer } from './real-server.ts';

const { release, venv } = theRelease();
let hosts: GitHosts | null = null;
afterAll(() => hosts?.close());

const left = release.without?.['others'];
if (left !== undefined)
  describe('others', () => {
    it.skip(left);
  });
else
  describeOthersLoop('others', async () => {
    if (release.dialect === 'agent-server') return startRealServer(release, venv);
    hosts = await startGitHosts();
    return startRealServer(release, venv, { variables: hosts.variables });
  });
