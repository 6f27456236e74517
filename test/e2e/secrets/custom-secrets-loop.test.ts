import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { isKill } from '../../fixture/loop/kill.ts';
import { describeSecretsLoop } from '../../fixture/loop/secrets-loop.ts';

describeSecretsLoop(
  'settings-v0, the embedded service, nothing killed',
  () => startEmbedded('settings-v0'),
  (step) => isKill(step) || /controller|several pages/.test(step),
);

describe('with kills', LONG, () => {
  for (const dialect of ['settings-v0', 'app-server', 'agent-server'] as const)
    describeSecretsLoop(`${dialect}, the embedded service`, () => startEmbedded(dialect));
});
