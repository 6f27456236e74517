import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isLoopbackHost } from '../../../src/reconciler/model/address.ts';
import { selectProxy } from '../../../src/reconciler/service/network.ts';
import {
  tlsWords,
  classifyFault,
  foreignCode,
  isTlsCode,
  withoutText,
} from '../../../src/reconciler/service/fault-error.ts';
import { retryAfter, formatWait } from '../../../src/reconciler/service/service-error.ts';

describe('isLoopback', () => {
  it.each([
    'http://localhost',
    'http://LOCALHOST',
    'http://127.0.0.1',
    'http://127.9.9.9',
    'http://2130706433',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
  ])('%s is', (url) => expect(isLoopbackHost(new URL(url).hostname)).toBe(true));

  it.each([
    'http://localhost.example.com',
    'http://localhost.',
    'http://a.localhost',
    'http://127.0.0.1.example.com',
    'http://128.0.0.1',
    'http://0.0.0.0',
    'http://[::2]',
    'http://notlocalhost',
  ])('%s is not', (url) => expect(isLoopbackHost(new URL(url).hostname)).toBe(false));
});

describe('retryAfter', () => {
  const now = Date.parse('2025-06-01T00:00:00Z');

  it.each([
    ['5', undefined, 5_000],
    [' 1.5 ', undefined, 1_500],
    ['', undefined, null],
    [undefined, undefined, null],
    ['-5', undefined, null],
    ['NaN', undefined, null],
    ['Infinity', undefined, null],
    ['1e3', undefined, null],
    ['484289h', undefined, null],
    ['2030', undefined, 2_030_000],
    ['Sun, 01 Jun 2025 00:00:30 GMT', undefined, 30_000],
    ['Sun, 01 Jun 2025 00:00:30 GMT', 'garbage', 30_000],
    ['Sun, 01 Jun 2025 00:00:30 GMT', 'Sun, 01 Jun 2025 00:00:20 GMT', 10_000],
    ['Sun, 01 Jun 2025 00:00:30 GMT', 'Sun, 01 Jun 2025 00:00:40 GMT', 0],
    ['Sun, 99 Jun 2025 00:00:30 GMT', undefined, null],
    ['2025-06-01T00:00:30Z', undefined, null],
    ['9'.repeat(400), undefined, 999_999_999_000],
  ])('%s with the date %s is %s', (value, date, wait) => {
    expect(retryAfter(value, date, now)).toBe(wait);
  });
});

describe('selectProxy', () => {
  it.each([
    [null, null],
    [' ', null],
    ['proxy.example:3128', 'http://proxy.example:3128'],
    ['http://u:p@proxy.example', 'http://u:p@proxy.example'],
  ])('of %s is %s', (text, address) =>
    expect(selectProxy(new URL('https://agents.example.com'), { url: text, bypass: null })).toBe(
      address,
    ),
  );
});

describe('a foreign error', () => {
  const foreign = Object.assign(new TypeError('canary'), {
    code: 'ECONNRESET',
    data: 'canary',
    cause: new Error('canary'),
  });

  it('M3, M4: leaves its class and its code', () => {
    const error = withoutText(foreign);
    expect(error.message).toBe('TypeError ECONNRESET');
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('canary');
    expect(withoutText('canary').message).toBe('string');
  });

  it('has the code of the first error inside that has one', () => {
    expect(foreignCode(new Error('x', { cause: foreign }))).toBe('ECONNRESET');
    expect(foreignCode(new AggregateError([foreign]))).toBe('ECONNRESET');
    expect(foreignCode(Object.assign(new Error('x'), { code: 'can ary' }))).toBeNull();
    expect(foreignCode(null)).toBeNull();
  });

  it.each([
    ['ENETUNREACH', 'no-route'],
    ['EHOSTUNREACH', 'no-route'],
    ['EAI_AGAIN', 'lookup-failed'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_ABORTED', 'proxy'],
    ['EPROTO', 'tls'],
    ['CERT_REVOKED', 'tls'],
    ['EWHATEVER', 'cut'],
  ])('%s before there is a connection is %s', (code, kind) => {
    const error = Object.assign(new Error('canary'), { code });
    expect(classifyFault(error, 'connect', 5_000)).toMatchObject({ kind, phase: 'connect' });
  });
});

it('TLS problems are named', () => {
  expect(tlsWords('CERT_HAS_EXPIRED')).toContain('has expired');
  expect(tlsWords('ERR_SSL_TLSV1_ALERT_UNKNOWN_CA')).toContain('no trusted TLS connection');
  expect(isTlsCode('ECONNRESET')).toBe(false);
});

it.each([
  [0, '0 s'],
  [0.4, '1 ms'],
  [1, '1 ms'],
  [49, '49 ms'],
  [50, '0.1 s'],
  [30_000, '30 s'],
])('a wait of %d ms is %s', (wait, words) => {
  expect(formatWait(wait)).toBe(words);
});
