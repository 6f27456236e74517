import { describeEach } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeNamedLoop } from '../../fixture/loop/named-loop.ts';

const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

describeEach(DIALECTS, (dialect) => dialect === 'app-server')('%s', (dialect) =>
  describeNamedLoop('named settings of the embedded service', () => startEmbedded(dialect)),
);
