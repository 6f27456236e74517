import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { describeAgentsLoop } from '../../fixture/loop/agents-loop.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';

const NAME = 'profiles and connections of the embedded service';
const start = () => startEmbedded('agent-server');

describe('with kills', LONG, () => {
  describeAgentsLoop(NAME, start);
});
