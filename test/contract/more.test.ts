/**
 * What servers keep and do beside the settings, recorded from releases 1.49.1, 1.57.0 and 1.58.2 of an Agent Server and 1.11.0 of an app
 * server, over HTTP against the embedded service; each case has one of its own.
 */
import { describe } from 'vitest';
import { recordedDialect } from './recorded-dialect.ts';
import { replayDialect } from './replay-dialect.ts';

describe('the embedded service keeps what an app server keeps', () => {
  replayDialect('more-app-server', {});
});

/** Cases of 1.49.1 alone that the embedded service, which is of a later release, answers in the same way. */
const SAME_IN_1_49_1 = new Set([
  'agent profiles: a tool as text (1.49.1)',
  'agent profiles: a tool with an empty name (1.49.1)',
]);
const EARLIER = recordedDialect('more-agent-server')
  .cases.map(({ name }) => name)
  .filter((name) => name.endsWith('(1.49.1)') && !SAME_IN_1_49_1.has(name));

describe('the embedded service keeps what an Agent Server keeps', () => {
  replayDialect('more-agent-server', {
    ...Object.fromEntries(
      EARLIER.map((name) => [
        name,
        'is asked of release 1.49.1 by npm run test:real: the embedded service is of a later one',
      ]),
    ),
    'profiles: validate': 'has the words of a library for models that asks their makers',
  });
});
