import { readFileSync } from 'node:fs';
import {
  after,
  type Effects,
  findRefusal,
  may,
  matchPathName,
} from '../../../src/reconciler/effects/effects.ts';
import type { Stored } from '../../../src/reconciler/effects/stored.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { isList, isRecord, createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { fromEmpty } from '../placeholders.ts';
import { type JsonRecord, recordThatDiffers } from '../recorded-dialect.ts';

/** A recorded exchange, its numbers as JavaScript has them. */
export interface Exchange {
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly raw?: string;
    readonly rawHex?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  readonly response: {
    readonly status: number;
    readonly body?: unknown;
    readonly differs?: unknown;
  };
}

export interface FoldedCase {
  readonly name: string;
  readonly releases?: readonly string[];
  readonly given?: object;
  readonly steps: readonly (Exchange | { readonly [name: string]: unknown })[];
  readonly stored?: unknown;
}

/** What a fold needs to know of a dialect besides its effects. */
export interface Folding {
  readonly files: readonly string[];
  readonly effects: Effects;
  /** What is stored before the first request. */
  readonly start: (base: JsonRecord) => Stored;
  /** The same with a file that a case begins with; null if it is of a form that is not read here. */
  readonly given: (stored: Stored, file: string, content: unknown) => Stored | null;
  /** What a server answers to a request, as far as it follows from what is stored; undefined if it does not. A Secret stands for what is shown of it. */
  readonly answer: (stored: Stored, exchange: Exchange, base: JsonRecord) => Value | undefined;
  /** What the server's file has of what is stored; undefined if nothing is compared. */
  readonly file?: {
    readonly base: (base: JsonRecord) => JsonRecord;
    readonly of: (stored: Stored, base: JsonRecord) => Value;
    readonly expose: 'plaintext' | 'encrypted';
  };
  /** The statuses of refusals because of what is stored, if they are not 404 and 409. */
  readonly refusals?: readonly number[];
  /** Paths of requests that are no GET and change nothing that is stored. */
  readonly inert: RegExp;
  /** Why an accepted request is none that setpoint sends; null if it may be. */
  readonly odd: (exchange: Exchange, stored: Stored) => string | null;
}

/** One read that was predicted, or not. */
export interface Comparison {
  readonly file: string;
  readonly name: string;
  readonly step: number;
  readonly about: string;
  readonly wrong: readonly string[];
}

export function casesOf(file: string): { base: JsonRecord; cases: readonly FoldedCase[] } {
  const url = new URL(`../${file}.json`, import.meta.url);
  const read: unknown = JSON.parse(readFileSync(url, 'utf8'));
  return (Array.isArray(read) ? { base: {}, cases: read } : read) as never;
}

export interface Folded {
  readonly compared: readonly Comparison[];
  /** Accepted requests that are none of setpoint's, with the reason: what follows in their case is not compared. */
  readonly skipped: readonly string[];
  /** Refusals that were not predicted, and requests that were taken though a refusal was predicted. */
  readonly misjudged: readonly string[];
  /** The rule of each refusal that was predicted, and whether its status is the recorded one. */
  readonly refused: readonly (readonly [rule: string, isSame: boolean])[];
}

/** Folds the effects of every request of a case over what is stored, and compares each read. */
export function fold(
  folding: Folding,
  file: string,
  base: JsonRecord,
  one: FoldedCase,
  without?: string,
): Folded {
  const compared: Comparison[] = [];
  const misjudged: string[] = [];
  const refused: (readonly [string, boolean])[] = [];
  const ids = new Map<string, string>();
  if (one.releases?.includes('1.49.1') === true)
    return { compared, skipped: ['of an earlier release'], misjudged, refused };
  const started = Object.entries(one.given ?? {}).reduce<Stored | null>(
    (made, [name, content]) => (made === null ? null : folding.given(made, name, content)),
    folding.start(base),
  );
  if (started === null)
    return { compared, skipped: ['begins with other files'], misjudged, refused };
  let stored = started;
  const compare = (
    step: number,
    about: string,
    expected: Value,
    recorded: unknown,
    expose: string,
  ) => {
    const wrong = differences(expected, recorded, { expose, ids });
    compared.push({ file, name: one.name, step, about, wrong });
    for (const [made, real] of ids) stored = renamedIds(stored, made, real) as Stored;
    ids.clear();
  };
  for (const [step, exchange] of one.steps.entries()) {
    if (!isExchange(exchange)) {
      if ('server' in exchange && !('env' in exchange)) continue;
      return { compared, skipped: [Object.keys(exchange).join()], misjudged, refused };
    }
    const { request, response } = exchange;
    const { method, path, body, headers = {} } = request;
    const isTaken = response.status < 300;
    const about = `${method} ${path}`;
    const sent = { method, path, body: valueOf(isMap(body) ? body : {}) as never };
    const isWrite = method !== 'GET';
    const isRoute = folding.effects.effects.some(
      ({ on }) => matchPathName(on, method, path) !== null,
    );
    if (isWrite && !isRoute && folding.inert.test(path)) continue;
    const refusal =
      isWrite && !isTaken && isRoute && typeof body !== 'string'
        ? findRefusal(folding.effects, stored, sent)
        : null;
    if (refusal !== null) refused.push([refusal.rule, refusal.status === response.status]);
    if (
      isWrite &&
      (folding.refusals ?? [404, 409]).includes(response.status) &&
      typeof body !== 'string' &&
      isRoute
    ) {
      if (may(folding.effects, stored, sent))
        misjudged.push(`${one.name}: ${about} ${response.status}`);
      continue;
    }
    if (!isTaken) continue;
    const why = isWrite ? folding.odd(exchange, stored) : null;
    if (why !== null)
      return { compared, skipped: [`${why}: ${one.name}: ${about}`], misjudged, refused };
    if (isWrite && !may(folding.effects, stored, sent))
      misjudged.push(`${one.name}: ${about} taken`);
    stored = after(folding.effects, stored, sent, without);
    const expected = folding.answer(stored, exchange, base);
    if (expected === undefined) continue;
    const { differs } = response;
    const recorded =
      differs === undefined
        ? fromEmpty(response.body as never, base)
        : recordThatDiffers(base, differs as JsonRecord);
    compare(step, about, expected, recorded, headers['X-Expose-Secrets'] ?? 'masked');
  }
  if (isMap(one.stored) && folding.file !== undefined) {
    const whole = recordThatDiffers(folding.file.base(base), one.stored as JsonRecord);
    compare(one.steps.length, 'file', folding.file.of(stored, base), whole, folding.file.expose);
  }
  return { compared, skipped: [], misjudged, refused };
}

function isExchange(step: Exchange | object): step is Exchange {
  return 'request' in step && 'response' in step;
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function valueOf(json: unknown): Value {
  if (Array.isArray(json)) return json.map(valueOf);
  if (isMap(json))
    return createRecord(Object.entries(json).map(([key, one]) => [key, valueOf(one)]));
  return json as Value;
}

const SHOWN = { masked: '**********', encrypted: '(encrypted)' } as const;

interface Comparing {
  readonly expose: string;
  readonly ids: Map<string, string>;
}

/** The places where a recording is not as expected, with both. */
export function differences(
  expected: Value | undefined,
  recorded: unknown,
  comparing: Comparing,
  path = '',
): string[] {
  const { expose, ids } = comparing;
  if (typeof recorded === 'string' && /^\((?:time|unix time|seconds)\)$/.test(recorded)) return [];
  const told = `${path}: expected ${JSON.stringify(revealed(expected))}, recorded ${JSON.stringify(recorded)}`;
  if (expected instanceof Secret) {
    const shown =
      expose.trim().toLowerCase() === 'plaintext'
        ? String(expected.reveal())
        : /^(true|encrypted)$/.test(expose)
          ? SHOWN.encrypted
          : SHOWN.masked;
    return recorded === shown ? [] : [told];
  }
  if (typeof expected === 'string' && expected.startsWith('new ') && typeof recorded === 'string') {
    if (!ids.has(expected) && recorded.startsWith('(id')) ids.set(expected, recorded);
    return ids.get(expected) === recorded ? [] : [told];
  }
  if (isList(expected)) {
    if (!Array.isArray(recorded) || recorded.length !== expected.length) return [told];
    return expected.flatMap((item, index) =>
      differences(item, recorded[index], comparing, `${path}.${index}`),
    );
  }
  if (!isRecord(expected) || !isMap(recorded)) return expected === recorded ? [] : [told];
  const names = new Set([...Object.keys(expected), ...Object.keys(recorded)]);
  return [...names].flatMap((name) =>
    differences(expected[name], recorded[name], comparing, `${path}.${name}`),
  );
}

function revealed(value: Value | undefined): unknown {
  if (value instanceof Secret) return `secret ${String(value.reveal())}`;
  if (isList(value)) return value.map(revealed);
  if (isRecord(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, revealed(one)]));
  return value;
}

/** What is stored with an id of the server where one was made up. */
function renamedIds(value: Value, made: string, real: string): Value {
  if (value === made) return real;
  if (isList(value)) return value.map((one) => renamedIds(one, made, real));
  if (!isRecord(value)) return value;
  return createRecord(
    Object.entries(value).map(([name, one]) => [
      name === made ? real : name,
      renamedIds(one, made, real),
    ]),
  );
}
