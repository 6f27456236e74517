/** A refusal is explained by who gave it: a proxy in front of the service, or the service. */
import { describe, expect, it } from 'vitest';
import { createStatusError } from '../../../src/reconciler/service/status-error.ts';
import type { Connection } from '../../../src/reconciler/service/connect.ts';
import type { Reply } from '../../../src/reconciler/service/exchange.ts';

function errorOf(status: number, headers: Record<string, string>, method = 'PATCH') {
  const connection = {
    sendsKey: true,
    base: new URL('https://x'),
    clock: Date,
  } as unknown as Connection;
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

  it.each([
    [403, { server: 'cloudflare', 'content-type': 'text/html' }, '(Cloudflare) refused'],
    [403, { server: 'awselb/2.0', 'content-type': 'text/html' }, '(an AWS load balancer) refused'],
    [403, { server: 'istio-envoy', 'content-type': 'text/plain' }, '(Envoy) refused'],
    [
      403,
      { 'x-amzn-errortype': 'ForbiddenException', 'content-type': 'application/json' },
      '(Amazon API Gateway) refused',
    ],
    [401, { 'x-kong-response-latency': '1', 'content-type': 'application/json' }, '(Kong) refused'],
    [401, { 'x-goog-iap-generated-response': 'true' }, "(Google's Identity-Aware Proxy) refused"],
    [400, { server: 'nginx/1.27', 'content-type': 'text/html' }, '(nginx) refused'],
    [502, { server: 'nginx', 'content-type': 'text/html' }, '(nginx) does not reach it'],
    [522, { server: 'cloudflare', 'content-type': 'text/html' }, '(Cloudflare) does not reach it'],
    [429, { server: 'cloudflare', 'content-type': 'text/html' }, '(Cloudflare) limits requests'],
    [
      403,
      { server: 'canary', 'content-type': 'text/html' },
      'proxy in front of the service refused',
    ],
  ])('%i with %o is of a proxy, by its name if it is known', (status, headers, words) => {
    const { message, hint } = errorOf(status, headers);
    expect(message).toContain(words);
    expect(message + hint).not.toMatch(/canary|SETPOINT_API_KEY/);
  });

  it.each([
    'https://team.cloudflareaccess.com/cdn-cgi/access/login/x?token=canary',
    '/oauth2/start?rd=canary',
    'https://accounts.google.com/o/oauth2/v2/auth',
    'https://sso.example.com/realms/canary/protocol/openid-connect/auth',
    '/login?next=canary',
  ])('that redirects to %s asks for a login', (location) => {
    const { message, hint } = errorOf(302, { location });
    expect(message).toContain('asks for a login of browsers');
    expect(hint).toContain('server.headers');
    expect(message + hint).not.toContain('canary');
  });

  it('that redirects elsewhere is a redirect', () => {
    expect(errorOf(307, { location: '/api/settings/' }).message).toContain(
      'answered with a redirect',
    );
  });

  it.each([
    [{ server: 'nginx', 'x-kong-response-latency': '3', 'x-kong-upstream-latency': '2' }],
    [{ server: 'cloudflare', 'cf-ray': 'x' }],
    [{ server: 'uvicorn' }],
  ])('in JSON that a proxy passes on is of the service: %o', (headers) => {
    const all = { ...headers, 'content-type': 'application/json' } as Record<string, string>;
    expect(errorOf(401, all).message).toContain('service refused the key');
  });

  it.each([401, 403])('%i in JSON is of the service', (status) => {
    const { message } = errorOf(status, {
      'content-type': 'application/json',
      'www-authenticate': 'Bearer',
    });
    expect(message).toContain('service refused the key');
  });
});
