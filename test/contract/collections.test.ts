/**
 * Named collections recorded from servers of releases 0.62.0, 1.6.0 and 1.11.0, and from an Agent Server of 1.57.0, over HTTP against the
 * embedded service; each case has one of its own. A stand-in for git providers confirmed the tokens.
 */
import { describe } from 'vitest';
import { replayDialect } from './replay-dialect.ts';

const NO_JSON = 'begins with a file that is no JSON, and the embedded service has one file for all';
const OTHER_KEY = 'restarts the server with two keys, and the embedded service has one';
const PART_OF_A_FILE =
  'begins with a file that leaves members out, and the embedded service writes none';
const LATER = 'is what release 1.6.0 answers, and the embedded service is of 0.62';

describe('the embedded service keeps collections as settings-v0', () => {
  replayDialect('collections-settings-v0', {
    'git providers: types (1.6.0)': LATER,
    'lacking: GET /api/v1/skills/search (1.6.0)': LATER,
    'the release by openapi.json (1.6.0)': LATER,
  });
});

describe('the embedded service keeps collections as an app server', () => {
  replayDialect('collections-app-server', {
    'secrets: secrets.json is no JSON':
      'stores settings beside secrets that cannot be read, and the embedded service has one file for both',
    'providers: what uses them': 'asks for what only an agent and a git provider have',
    'marketplaces: those of the instance are inherited and cannot be shadowed':
      'starts the server with a variable',
  });
});

describe('the embedded service keeps collections as an Agent Server', () => {
  replayDialect('collections-agent-server', {
    'connections: the file is no JSON': NO_JSON,
    'profiles: a file written by hand, in clear': PART_OF_A_FILE,
    'together: another key to encrypt with': OTHER_KEY,
  });
});
