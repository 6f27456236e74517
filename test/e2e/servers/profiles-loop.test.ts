import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { isKill } from '../../fixture/loop/kill.ts';
import { describeProfilesLoop } from '../../fixture/loop/profiles-loop.ts';

describeProfilesLoop(
  'LLM profiles of the embedded agent-server, nothing killed',
  () => startEmbedded('agent-server'),
  isKill,
);

describe('with kills', LONG, () => {
  for (const dialect of ['app-server', 'agent-server'] as const)
    describeProfilesLoop(`LLM profiles of the embedded ${dialect}`, () => startEmbedded(dialect));
});
