import { startEmbedded } from '../fixture/loop/embedded.ts';
import { describeLoop } from '../fixture/loop/whole-loop.ts';

describeLoop('settings-v0, the embedded service', startEmbedded);
