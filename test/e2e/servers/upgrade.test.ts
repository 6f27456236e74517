import { it } from 'vitest';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { tellUpgrade } from '../../fixture/loop/upgrade-story.ts';
import { GIT_PROVIDERS } from '../../fixture/loop/git-loop.ts';

it('a server is upgraded: one file brings back what the later release does not find', async () => {
  const older = await startEmbedded('settings-v0', GIT_PROVIDERS);
  await tellUpgrade(older, () => startEmbedded('app-server', GIT_PROVIDERS, older));
});
