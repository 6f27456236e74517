import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../src/desired/resolve.ts';
import { digestsUnder } from '../../../src/host/digests.ts';
import { changesOf, type Change, type Plan } from '../../../src/model/plan.ts';
import type { DesiredState } from '../../../src/model/state.ts';
import { recordOf, type Value } from '../../../src/model/value.ts';
import {
  agreementAfter,
  sinceAgreement,
  type Agreement,
  type AgreementWith,
} from '../../../src/plan/agreement.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/plan/plan-settings.ts';
import { source, target, withSettings } from '../desired/reading.ts';
import { observed, planOf, step } from './hand-made.ts';

type Stored = Readonly<Record<string, Value>>;

const DIGESTS = digestsUnder('a-salt');

/** A file with these lines under settings, and more blocks below. */
function file(lines: readonly string[], rest = ''): DesiredState {
  return resolveSettings(target(withSettings(...lines) + rest), source({ A: 'a', B: 'b' }));
}

interface Read {
  readonly desired: DesiredState;
  readonly stored: Stored;
  readonly address?: string;
  readonly sandboxes?: readonly string[];
}

/** A controller that reads: what it has agreed on after each, as its journal keeps it, and the classes that it found. */
class Reader {
  known: AgreementWith | null = null;

  read({ desired, stored, address = 'one', sandboxes = [] }: Read): Record<string, string> {
    const state = observed(recordOf(Object.entries(stored)));
    const steps = sandboxes.map((id) => step(id));
    const made = planOf([], planSettings(desired, state, NOTHING_KNOWN), steps);
    const plan: Plan =
      this.known === null
        ? made
        : sinceAgreement(this.known, address, DIGESTS).classify(made, desired, state);
    const agreement = agreementAfter(
      { desired, observed: state, plan, address },
      this.known,
      DIGESTS,
    );
    this.known = JSON.parse(JSON.stringify({ address, agreement })) as AgreementWith;
    return classesOf(changesOf(plan));
  }

  get agreement(): Agreement {
    if (this.known === null) throw new Error('nothing was read');
    return this.known.agreement;
  }
}

function classesOf(changes: readonly Change[]): Record<string, string> {
  return Object.fromEntries(
    changes.map((one) => [one.path.at(-1) ?? '', one.class ?? 'of nobody known']),
  );
}

const EN = file(['language: en', 'agent: A']);
const FR = file(['language: fr', 'agent: A']);

describe('each path is judged by what it was when it was last equal', () => {
  it('although something else has differed ever since', () => {
    const reader = new Reader();
    reader.read({ desired: EN, stored: { language: 'en', agent: 'A' } });
    expect(reader.read({ desired: EN, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'drift',
    });
    const edited = file(['language: fr', 'agent: A']);
    expect(reader.read({ desired: edited, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'drift',
      language: 'pending',
    });
    // The edit is applied to that path alone.
    expect(reader.read({ desired: edited, stored: { language: 'fr', agent: 'B' } })).toEqual({
      agent: 'drift',
    });
    expect(reader.read({ desired: edited, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'drift',
      language: 'drift',
    });
    const both = file(['language: it', 'agent: A']);
    expect(reader.read({ desired: both, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'drift',
      language: 'conflict',
    });
  });

  it('also if it is not declared any more, until it does not differ', () => {
    const entry = (name: string) => `{ url: "https://${name}.example/mcp" }`;
    const listed = (...names: readonly string[]) =>
      file([`mcp_config: { shttp_servers: [${names.map(entry).join(', ')}] }`]);
    const stored = (...names: readonly string[]): Stored => ({
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: names.map((name) => ({ url: `https://${name}.example/mcp`, timeout: 60 })),
      },
    });
    const reader = new Reader();
    const at = (name: string) => `https://${name}.example/mcp`;
    reader.read({ desired: listed('a', 'b'), stored: stored('a', 'b') });
    for (let reads = 0; reads < 2; reads += 1)
      expect(reader.read({ desired: listed('a'), stored: stored('a', 'b', 'c') })).toEqual({
        [at('b')]: 'pending',
        [at('c')]: 'drift',
      });
    expect(reader.read({ desired: listed('a'), stored: stored('a') })).toEqual({});
    // It has gone and come back: somebody added it.
    expect(reader.read({ desired: listed('a'), stored: stored('a', 'b') })).toEqual({
      [at('b')]: 'drift',
    });
    expect(reader.read({ desired: listed('a', 'd'), stored: stored('a') })).toEqual({
      [at('d')]: 'pending',
    });
  });

  it('and is nothing new if it was declared later, and never equal', () => {
    const reader = new Reader();
    reader.read({ desired: file(['agent: A']), stored: { agent: 'A' } });
    for (let reads = 0; reads < 2; reads += 1)
      expect(reader.read({ desired: EN, stored: { language: 'de', agent: 'A' } })).toEqual({
        language: 'pending',
      });
  });

  it('and what was unmanaged is pending once it is managed, declared or not, as often as it is read', () => {
    const reader = new Reader();
    const entry = '{ url: "https://a.example/mcp" }';
    const stored: Stored = {
      language: 'de',
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [{ url: 'https://a.example/mcp' }, { url: 'https://b.example/mcp' }],
      },
    };
    const declared = ['language: en', `mcp_config: { shttp_servers: [${entry}] }`];
    const left = 'unmanaged: [language, "mcp_config.shttp_servers[https://b.example/mcp]"]\n';
    expect(reader.read({ desired: file(declared, left), stored })).toEqual({});
    for (let reads = 0; reads < 2; reads += 1)
      expect(reader.read({ desired: file(declared), stored })).toEqual({
        language: 'pending',
        'https://b.example/mcp': 'pending',
      });
    expect(reader.agreement.unmanaged).toHaveLength(2);
    const settled: Stored = {
      language: 'en',
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [{ url: 'https://a.example/mcp' }],
      },
    };
    expect(reader.read({ desired: file(declared), stored: settled })).toEqual({});
    expect(reader.agreement.unmanaged).toEqual([]);
  });

  it('and if it differed at the first read of all, nobody is known', () => {
    const reader = new Reader();
    const stored = { language: 'de', agent: 'A' };
    reader.read({ desired: EN, stored });
    for (const desired of [EN, FR])
      expect(reader.read({ desired, stored })).toEqual({ language: 'of nobody known' });
    expect(reader.read({ desired: EN, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'drift',
    });
    expect(reader.agreement.first).toBeUndefined();
    expect(reader.read({ desired: EN, stored: { language: 'de', agent: 'A' } })).toEqual({
      language: 'drift',
    });
  });
});

describe('what cannot be compared', () => {
  const keyed = (ref: string, more = '') =>
    file([`llm_api_key: "\${env:${ref}}"`, ...(more === '' ? [] : [more])]);

  it('is agreed on as far as it can be: a secret that is gone is drift, another reference is an edit', () => {
    const reader = new Reader();
    reader.read({ desired: keyed('A'), stored: { llm_api_key_set: true } });
    expect(reader.read({ desired: keyed('A'), stored: { llm_api_key_set: false } })).toEqual({
      llm_api_key: 'drift',
    });
    expect(reader.read({ desired: keyed('B'), stored: { llm_api_key_set: false } })).toEqual({
      llm_api_key: 'pending',
    });
  });

  it('is not agreed on if nothing of it was compared', () => {
    const reader = new Reader();
    const named = (ref: string) => file([`git_user_name: "\${env:${ref}}"`]);
    reader.read({ desired: named('NONE'), stored: { git_user_name: 'a' } });
    expect(Object.keys(reader.agreement.places)).toEqual([]);
    reader.read({ desired: named('A'), stored: { git_user_name: 'a' } });
    expect(Object.keys(reader.agreement.places)).toHaveLength(1);
    // What was agreed on stays while it cannot be compared.
    const before = JSON.stringify(reader.agreement);
    reader.read({ desired: named('NONE'), stored: { git_user_name: 'x' } });
    expect(JSON.stringify(reader.agreement)).toBe(before);
    expect(reader.read({ desired: named('A'), stored: { git_user_name: 'x' } })).toEqual({
      git_user_name: 'drift',
    });
  });
});

describe('an agreement with a service at another address', () => {
  const THEIRS = { language: 'de', agent: 'B' };

  it('judges nothing: all that differs is an edit, as long as it has not been equal', () => {
    const reader = new Reader();
    reader.read({ desired: EN, stored: { language: 'en', agent: 'A' }, sandboxes: [] });
    const other = { desired: EN, stored: THEIRS, address: 'other' };
    for (let reads = 0; reads < 2; reads += 1)
      expect(reader.read({ ...other, sandboxes: ['box-1'] })).toEqual({
        language: 'pending',
        agent: 'pending',
        'box-1': 'pending',
      });
    expect(reader.read({ ...other, stored: { language: 'en', agent: 'B' } })).toEqual({
      agent: 'pending',
    });
    expect(reader.read({ ...other, stored: THEIRS, sandboxes: ['box-1'] })).toEqual({
      language: 'drift',
      agent: 'pending',
      'box-1': 'drift',
    });
  });

  it('is not taken up again at the former address', () => {
    const reader = new Reader();
    const equal = { desired: EN, stored: { language: 'en', agent: 'A' } };
    reader.read(equal);
    reader.read({ ...equal, address: 'other' });
    expect(reader.read({ desired: EN, stored: THEIRS })).toEqual({
      language: 'pending',
      agent: 'pending',
    });
  });

  it.each([
    ['that the version before did not keep', null, 'one'],
    ['where none is known', 'one', null],
  ])('is taken for the same %s', (_, kept, address) => {
    const reader = new Reader();
    reader.read({ desired: EN, stored: { language: 'en', agent: 'A' } });
    const { agreement } = reader;
    const state = observed(recordOf(Object.entries(THEIRS)));
    const plan = planOf([], planSettings(FR, state, NOTHING_KNOWN));
    const since = sinceAgreement({ address: kept, agreement }, address, DIGESTS);
    expect(classesOf(since.classify(plan, FR, state).settings.changes)).toEqual({
      language: 'conflict',
      agent: 'drift',
    });
    const compared = { desired: FR, observed: state, plan, address };
    expect(agreementAfter(compared, { address: kept, agreement }, DIGESTS)).toEqual(agreement);
  });
});

describe('sandboxes', () => {
  const one = file(['language: en'], 'sandboxes: [{ id: box-1, state: running }]\n');
  const paused = file(['language: en'], 'sandboxes: [{ id: box-1, state: paused }]\n');
  const stored = { language: 'en' };

  it('are judged by what was declared when there was nothing to do', () => {
    const reader = new Reader();
    reader.read({ desired: one, stored });
    const found = (desired: DesiredState) => reader.read({ desired, stored, sandboxes: ['box-1'] });
    expect([found(one), found(paused), found(paused), found(one)]).toEqual([
      { 'box-1': 'drift' },
      { 'box-1': 'pending' },
      { 'box-1': 'pending' },
      { 'box-1': 'drift' },
    ]);
  });

  it('that had to be started at the first read are of nobody known', () => {
    const reader = new Reader();
    reader.read({ desired: one, stored, sandboxes: ['box-1'] });
    expect(reader.read({ desired: one, stored, sandboxes: ['box-1', 'box-2'] })).toEqual({
      'box-1': 'of nobody known',
      'box-2': 'drift',
    });
  });
});

describe('an mcp entry', () => {
  const named = (name: string, url: string, more = '') => `{ name: ${name}, url: "${url}"${more} }`;
  const listed = (...entries: readonly string[]) =>
    file([`mcp_config: { shttp_servers: [${entries.join(', ')}] }`]);
  const stored = (...entries: readonly Readonly<Record<string, Value>>[]): Stored => ({
    mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers: entries },
  });
  const URL = 'https://a.example/mcp';

  it('is known by its name, whatever stands beside it at the same address', () => {
    const reader = new Reader();
    const one = { name: 'one', url: URL, timeout: 60 };
    reader.read({ desired: listed(named('one', URL, ', timeout: 60')), stored: stored(one) });
    expect(Object.keys(reader.agreement.places)).toHaveLength(2);
    const found = reader.read({
      desired: listed(named('one', URL, ', timeout: 30')),
      stored: stored(one, { ...one, name: 'two' }),
    });
    expect(Object.values(found).toSorted()).toEqual(['drift', 'pending']);
  });
});

it('the same is agreed on in the same words, in whatever order a file declares it', () => {
  const [one, other] = [new Reader(), new Reader()];
  const stored = { language: 'en', agent: 'A' };
  one.read({ desired: EN, stored });
  other.read({ desired: file(['agent: A', 'language: en']), stored });
  expect(JSON.stringify(one.known)).toBe(JSON.stringify(other.known));
});
