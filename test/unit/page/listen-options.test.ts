import { describe, expect, it } from 'vitest';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import {
  listenOptions,
  probeOptions,
  type ListenFlags,
} from '../../../src/controller/page/listen-options.ts';

const TOKEN = 'x'.repeat(32);
const WITH_TOKEN = { SETPOINT_WATCH_TOKEN: TOKEN };

const options = (flags: ListenFlags, env: Readonly<Record<string, string>> = {}) =>
  listenOptions(flags, env, (path) => `text of ${path}`);
const withFile = (text: string, env: Readonly<Record<string, string>> = {}) =>
  listenOptions({ listen: '8080' }, { SETPOINT_WATCH_TOKEN_FILE: 'its/file', ...env }, () => text);

function refusal(flags: ListenFlags, env: Readonly<Record<string, string>> = {}): string {
  try {
    options(flags, env);
  } catch (thrown) {
    if (thrown instanceof SetpointError && thrown.code === 'usage')
      return `${thrown.message} ${thrown.hint}`;
    throw thrown;
  }
  return '';
}

describe('where the page is served', () => {
  it.each([
    ['127.0.0.1:8080', '127.0.0.1', 8080],
    ['localhost:0', 'localhost', 0],
    ['[::1]:8080', '::1', 8080],
    ['8080', '127.0.0.1', 8080],
  ])('--listen %s', (listen, host, port) => {
    expect(options({ listen })).toMatchObject({ host, port, token: null, tls: null });
  });

  it('nowhere without --listen', () => {
    expect(options({})).toBeNull();
    expect(options({}, WITH_TOKEN)).toBeNull();
  });

  it.each(['', 'x', '127.0.0.1', '127.0.0.1:99999', '::1:80', 'http://127.0.0.1:8080', 'a b:80'])(
    'not on "%s"',
    (listen) => {
      expect(refusal({ listen })).toContain('--listen takes an address and a port.');
    },
  );
});

describe('off loopback', () => {
  it('takes a token', () => {
    expect(refusal({ listen: '0.0.0.0:8080' })).toMatch(/needs a token.*SETPOINT_WATCH_TOKEN/);
    const flags = { listen: '127.0.0.1:8080=https://setpoint.example.com' };
    expect(refusal(flags)).toMatch(/behind a proxy needs a token/);
  });

  it('takes TLS, or a proxy that has it', () => {
    const listen = '0.0.0.0:8080';
    expect(refusal({ listen }, WITH_TOKEN)).toMatch(/needs TLS.*--tls.*ADDRESS=URL/);
    expect(options({ listen, tls: 'c,k' }, WITH_TOKEN)).toMatchObject({
      tls: { cert: 'text of c' },
    });
    expect(options({ listen: `${listen}=https://s.example.com/` }, WITH_TOKEN)).toMatchObject({
      publicOrigin: 'https://s.example.com',
      tls: null,
    });
  });

  it.each([
    '0.0.0.0',
    '[::]',
    '192.0.2.1',
    'setpoint.example.com',
    '127.0.0.1.example.com',
    '[::ffff:8.8.8.8]',
  ])('%s is off loopback', (host) => {
    expect(refusal({ listen: `${host}:8080` })).toContain('needs a token');
  });
});

describe('what does not go together is refused, with what to do', () => {
  it.each<[ListenFlags, RegExp]>([
    [{ allowActions: true }, /--allow-actions needs --listen.*127\.0\.0\.1:8080/],
    [{ tls: 'c,k' }, /--tls needs --listen/],
    [{ listen: '8080', allowActions: true }, /--allow-actions needs a token.*SETPOINT_WATCH_TOKEN/],
    [{ listen: '8080', tls: 'c' }, /takes two files/],
    [{ listen: '8080', tls: ',k' }, /takes two files/],
    [{ listen: '8080=http://x' }, /the https address/],
    [{ listen: '8080=https://x/path' }, /without a path/],
    [{ listen: '8080=https://user@x' }, /the https address/],
    [{ listen: '8080=x' }, /the https address/],
  ])('%j', (flags, words) => {
    expect(refusal(flags)).toMatch(words);
  });

  it.each(['short', 'x'.repeat(19), `${'x'.repeat(20)} y`, `${'x'.repeat(20)}\n`, 'ü'.repeat(20)])(
    'the token %j',
    (token) => {
      const said = refusal({ listen: '8080' }, { SETPOINT_WATCH_TOKEN: token });
      expect(said).toContain('SETPOINT_WATCH_TOKEN');
      expect(said).not.toContain(token.slice(0, 15).padEnd(15, '?'));
    },
  );
});

it('neither the token nor the key has a form as text', () => {
  const made = options({ listen: '8080', tls: 'c,k' }, WITH_TOKEN);
  expect(JSON.stringify(made)).not.toContain(TOKEN);
  expect(JSON.stringify(made)).not.toContain('text of k');
});

describe('a token in a file', () => {
  it.each(['', '\n', '\r\n'])('may end with %j', (end) => {
    expect(withFile(TOKEN + end)?.token?.sameAs(TOKEN)).toBe(true);
  });

  it.each(['', 'short', `${TOKEN} y`, `${TOKEN}\n\n`, `\n${TOKEN}`])('is not %j', (text) => {
    expect(() => withFile(text)).toThrow('its/file is too short, or has blanks');
  });

  it('is not given twice', () => {
    expect(() => withFile(TOKEN, WITH_TOKEN)).toThrow('are both set');
  });
});

it.each([
  [{}, null],
  [{ probes: '8081' }, { host: '127.0.0.1', port: 8081, withMetrics: false }],
  [{ probes: '0.0.0.0:8081/metrics' }, { host: '0.0.0.0', port: 8081, withMetrics: true }],
])('probes of %j are at %j: they need no token and no page', (flags, options) => {
  expect(probeOptions(flags)).toEqual(options);
});

it('refuses an address of probes that is none', () => {
  expect(() => probeOptions({ probes: 'here' })).toThrow('--probes takes an address and a port.');
});
