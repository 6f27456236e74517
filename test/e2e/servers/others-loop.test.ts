import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { GIT_PROVIDERS } from '../../fixture/loop/git-loop.ts';
import { describeOthersLoop } from '../../fixture/loop/others-loop.ts';

describe('others', LONG, () => {
  for (const dialect of ['settings-v0', 'app-server', 'agent-server'] as const)
    describeOthersLoop(`${dialect}, what the file of the embedded service does not name`, () =>
      startEmbedded(dialect, GIT_PROVIDERS),
    );
});
