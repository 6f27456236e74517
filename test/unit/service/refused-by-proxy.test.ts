/** A refusal is explained by who gave it: a proxy in front of the service, or the service. */
import { describe, expect, it } from 'vitest';
import { createStatusError } from '../../../src/reconciler/service/status-error.ts';
import type { Connection } from '../../../src/reconciler/service/connect.ts';
import type { Reply } from '../../../src/reconciler/service/exchange.ts';

function errorOf(status: number, headers: Record<string, string>, method = 'PATCH') {
  const connection = { sendsKey: true, base: new URL('https://x') } as unknown as Connection;
  return createStatusError(connection, `${method} https://x/api/settings`, {
    status,
    headers,
    body: null,
  } as unknown as Reply);
}

describe('a refusal', () => {
  it.each([401, 403, 405, 407, 413])('%i as an HTML page is of a proxy', (status) => {
    const { message, hint } = errorOf(status, { 'content-type': 'text/html; charset=utf-8' });
    expect(message).toContain(
      'proxy in front of the service refused the request with an HTML page',
    );
    expect(hint).toMatch(/proxy/);
    expect(hint).not.toContain('SETPOINT_API_KEY');
  });

  it('that asks for a login of browsers is of a proxy', () => {
    expect(errorOf(401, { 'www-authenticate': 'Basic realm="x"' }).message).toContain(
      'a login of its own (Basic)',
    );
  });

  it.each([401, 403])('%i in JSON is of the service', (status) => {
    const { message } = errorOf(status, {
      'content-type': 'application/json',
      'www-authenticate': 'Bearer',
    });
    expect(message).toContain('service refused the key');
  });
});
