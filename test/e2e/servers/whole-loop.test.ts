import { describeEach } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeLoop } from '../../fixture/loop/whole-loop.ts';

const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

describeEach(DIALECTS, (dialect) => dialect === 'agent-server')('%s', (dialect) =>
  describeLoop('the embedded service', () => startEmbedded(dialect)),
);
