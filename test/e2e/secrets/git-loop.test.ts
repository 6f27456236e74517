import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeGitLoop, GIT_PROVIDERS } from '../../fixture/loop/git-loop.ts';

describe('with kills', LONG, () => {
  for (const dialect of ['settings-v0', 'app-server'] as const)
    describeGitLoop(`${dialect}, git providers of the embedded service`, () =>
      startEmbedded(dialect, GIT_PROVIDERS),
    );
});
