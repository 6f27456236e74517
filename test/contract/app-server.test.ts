/** The settings recorded from an app server of release 1.11.0, over HTTP against the embedded service; each case has one of its own. */
import { describe } from 'vitest';
import { replayDialect } from './replay-dialect.ts';

describe('the embedded service answers as an app server', () => {
  replayDialect('app-server', {
    'a record that cannot be read': 'begins with a file that is no JSON',
  });
});
