import { describeEach } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeGitLoop, GIT_PROVIDERS } from '../../fixture/loop/git-loop.ts';

const DIALECTS = ['settings-v0', 'app-server'] as const;

describeEach(DIALECTS, (dialect) => dialect === 'app-server')('%s', (dialect) =>
  describeGitLoop('git providers of the embedded service', () =>
    startEmbedded(dialect, GIT_PROVIDERS),
  ),
);
