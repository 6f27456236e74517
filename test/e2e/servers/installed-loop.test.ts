import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeInstalledLoop } from '../../fixture/loop/installed-loop.ts';

describeInstalledLoop('skills and plugins of the embedded service', () =>
  startEmbedded('agent-server'),
);
