import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { isKill } from '../../fixture/loop/kill.ts';
import { describeWorkspacesLoop } from '../../fixture/loop/workspaces-loop.ts';

const NAME = 'workspaces of the embedded service';
const start = () => startEmbedded('agent-server');

describeWorkspacesLoop(NAME, start, isKill);

describe('with kills', LONG, () => {
  describeWorkspacesLoop(NAME, start);
});
