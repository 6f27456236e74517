/** The exchanges recorded from an Agent Server of release 1.57.0, over HTTP against the embedded service; each case has one of its own. */
import { describe } from 'vitest';
import { replayDialect } from './replay-dialect.ts';

describe('the embedded service answers as an Agent Server', () => {
  replayDialect('agent-server', {
    'two keys': 'restarts the server with two keys, and the embedded service has one',
    'settings.json of a newer schema': "begins with a file of the server's own",
    'settings.json of an older schema with the mcpServers wrapper':
      "begins with a file of the server's own",
    'agent_context.load_user_skills: skills found on the server are written into skills':
      "changes the server's own files while it runs",
  });
});
