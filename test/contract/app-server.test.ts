/**
 * Exchanges recorded from release 1.11.0, against the store that the tests of this dialect talk to: what they show of setpoint is worth as
 * much as that store behaves like a real one.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAppServer } from '../fixture/app-server.ts';
import { recordedAppServer, recordWith } from './recorded-app-server.ts';
import { send } from './send.ts';

const { base, cases } = recordedAppServer();

describe('the fixture answers as release 1.11.0 has', () => {
  for (const { name, steps } of cases) {
    it(name, async () => {
      const server = await startAppServer();
      onTestFinished(() => server.close());
      for (const { request, response } of steps) {
        const received = await send(server.url, {
          method: request.method,
          path: request.path,
          headers: {
            ...(request.auth === false
              ? {}
              : { 'X-Session-API-Key': request.auth === true ? 'contract-key' : 'wrong' }),
            'Content-Type': 'application/json',
          },
          ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
        });
        const { status, contentType, body, differs, mcp } = response;
        expect({ status: received.status, contentType: received.mediaType }).toEqual({
          status,
          contentType,
        });
        if (body === undefined && differs === undefined && mcp === undefined) continue;
        const seen: unknown =
          contentType === 'application/json' ? JSON.parse(received.text) : received.text;
        if (mcp !== undefined) expect(seen).toMatchObject({ agent_settings: { mcp_config: mcp } });
        else expect(seen).toEqual(differs === undefined ? body : recordWith(base, differs));
      }
    });
  }
});
