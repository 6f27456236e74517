import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeInstalledLoop } from '../../fixture/loop/installed-loop.ts';

const NAME = 'skills and plugins of the embedded service';
const start = () => startEmbedded('agent-server');

describe('with kills', LONG, () => {
  describeInstalledLoop(NAME, start);
});
