import { describe } from 'vitest';
import { LONG } from '../../fixture/long.ts';
import { startEmbedded } from '../../fixture/loop/embedded.ts';
import { describeNamedLoop } from '../../fixture/loop/named-loop.ts';

describe('with kills', LONG, () => {
  for (const dialect of ['settings-v0', 'app-server', 'agent-server'] as const)
    describeNamedLoop(`${dialect}, named settings of the embedded service`, () =>
      startEmbedded(dialect),
    );
});
