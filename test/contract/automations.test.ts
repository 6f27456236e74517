/** Exchanges recorded from the real automation service of release 1.26.0, over HTTP against the embedded service. */
import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { embeddedServer } from './replay-server.ts';
import { send } from './send.ts';

interface Step {
  readonly wait?: number;
  readonly request?: {
    readonly method: string;
    readonly path: string;
    readonly auth?: boolean | string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly raw?: string;
    readonly base64?: string;
  };
  readonly response?: { readonly status: number; readonly body?: unknown };
}

const KEY = 'contract-key';
const CASES = JSON.parse(
  readFileSync(new URL('automations.json', import.meta.url), 'utf8'),
) as readonly { readonly name: string; readonly steps: readonly Step[] }[];

const NO_PLUGINS = 'plugins are not managed, and the embedded service makes none';
const NO_CHECKS = 'asks for checks of what is not stored, which setpoint never does';
const LEFT_OUT: Readonly<Record<string, string>> = {
  'automations: no key, another key, both headers':
    'sends the key as Authorization alone, and the embedded service takes the other header',
  'plugin: created, changed, what cannot be': NO_PLUGINS,
  'raw: an own archive': 'uploads archives, which are not managed',
  'raw: refused': 'uploads archives, which are not managed',
  'patch: the prompt rebuilds the archive':
    'downloads the archive, and the embedded service has none',
  'git sync: the configuration': 'sets a repository, and the embedded service has no git sync',
  'validate: drafts': NO_CHECKS,
};

describe('the embedded service keeps automations and webhooks', () => {
  let passed = 0;
  for (const { name, steps } of CASES) {
    const test = LEFT_OUT[name] === undefined ? it : it.fails;
    test(name, async () => {
      await replay(steps);
      passed += 1;
    });
  }
  it('leaves out no case that is not there', () => {
    const names = CASES.map((one) => one.name);
    for (const name of Object.keys(LEFT_OUT)) expect(names).toContain(name);
  });
  afterAll(() => {
    const list = Object.entries(LEFT_OUT).map(([name, why]) => `  left out: ${name}: ${why}`);
    const count = `automations.json: ${passed} of ${CASES.length} recorded cases passed`;
    console.log([count, ...list].join('\n'));
  });
});

async function replay(steps: readonly Step[]): Promise<void> {
  const server = await embeddedServer('agent-server', false);
  onTestFinished(() => server.close());
  const known = new Map([['(url)', server.url]]);
  const filled = (text: string): string =>
    [...known].reduce((all, [name, value]) => all.replaceAll(name, value), text);
  for (const { request, response } of steps) {
    if (request === undefined || response === undefined) continue;
    const { method, path, auth = true, headers = {}, body, raw, base64 } = request;
    const bytes = base64 === undefined ? undefined : Buffer.from(base64, 'base64');
    const sent = bytes ?? raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const received = await send(server.url, {
      method,
      path: filled(path),
      headers: {
        ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...keyHeaders(auth),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: typeof sent === 'string' ? filled(sent) : sent }),
    });
    expect(received.status, `${method} ${path}: ${received.text}`).toBe(response.status);
    if (response.body === undefined) continue;
    const isJson = received.mediaType === 'application/json';
    const answer: unknown = isJson ? JSON.parse(received.text) : received.text;
    expect(named(answer, response.body, known), `${method} ${path}`).toEqual(response.body);
  }
}

function keyHeaders(auth: boolean | string): Readonly<Record<string, string>> {
  if (auth === false) return {};
  if (auth === 'bearer') return { Authorization: `Bearer ${KEY}` };
  if (auth === 'wrong bearer') return { Authorization: 'Bearer another', 'X-Session-API-Key': KEY };
  return { 'X-Session-API-Key': auth === 'wrong' ? 'another' : KEY };
}

/** An answer with the placeholders of the recording: of ids what stands for them first, of times and secrets any text. */
function named(seen: unknown, recorded: unknown, known: Map<string, string>): unknown {
  if (typeof recorded === 'string' && typeof seen === 'string') return text(seen, recorded, known);
  if (Array.isArray(seen) && Array.isArray(recorded))
    return seen.map((one, index) => named(one, recorded[index], known));
  if (typeof seen !== 'object' || typeof recorded !== 'object' || !seen || !recorded) return seen;
  return Object.fromEntries(
    Object.entries(seen).map(([name, one]) => [
      name,
      named(one, (recorded as Readonly<Record<string, unknown>>)[name], known),
    ]),
  );
}

function text(seen: string, recorded: string, known: Map<string, string>): string {
  const found = /\((id \d+|org id|user id)\)/.exec(recorded);
  if (found !== null && !known.has(found[0])) {
    const [before = '', after = ''] = recorded.split(found[0]);
    known.set(found[0], seen.slice(before.length, seen.length - after.length));
  }
  if (recorded === '(time)') return Number.isNaN(Date.parse(seen)) ? seen : recorded;
  if (recorded === '(generated secret)') return seen.startsWith('whsec_') ? recorded : seen;
  return [...known].reduce((all, [name, value]) => all.replaceAll(value, name), seen);
}
