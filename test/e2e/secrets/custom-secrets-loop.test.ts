import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeSecretsLoop } from '../../fixture/loop/secrets-loop.ts';

for (const dialect of ['settings-v0', 'app-server', 'agent-server'] as const)
  describeSecretsLoop(`${dialect}, the embedded service`, () => startEmbedded(dialect));
