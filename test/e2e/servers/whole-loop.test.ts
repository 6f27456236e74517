import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeLoop } from '../../fixture/loop/whole-loop.ts';

for (const dialect of ['settings-v0', 'app-server', 'agent-server'] as const)
  describeLoop(`${dialect}, the embedded service`, () => startEmbedded(dialect));
