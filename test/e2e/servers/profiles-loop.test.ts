import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeProfilesLoop } from '../../fixture/loop/profiles-loop.ts';

describe('with kills', LONG, () => {
  for (const dialect of ['app-server', 'agent-server'] as const)
    describeProfilesLoop(`LLM profiles of the embedded ${dialect}`, () => startEmbedded(dialect));
});
