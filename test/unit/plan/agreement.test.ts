import { describe, expect, it } from 'vitest';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { listPlanChanges, type Change, type Plan } from '../../../src/reconciler/model/plan.ts';
import type { DesiredState } from '../../../src/reconciler/model/state.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import type { Agreement, AgreementWith } from '../../../src/reconciler/model/agreement.ts';
import { agreementAfter, sinceAgreement } from '../../../src/reconciler/plan/agreement.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
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
    const state = observed(createRecord(Object.entries(stored)));
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
    return classesOf(listPlanChanges(plan));
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

  it('and is pending if all above it was unmanaged', () => {
    const reader = new Reader();
    const stored: Stored = {
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [{ url: 'https://a.example/mcp' }, { url: 'https://a.example/mcp' }],
      },
    };
    const none = ['mcp_config: { sse_servers: [], shttp_servers: [] }'];
    reader.read({ desired: file(none, 'unmanaged: [mcp_config.shttp_servers]\n'), stored });
    expect(reader.read({ desired: file(none), stored })).toEqual({
      'https://a.example/mcp': 'pending',
      'https://a.example/mcp#2': 'pending',
    });
    expect(reader.agreement.unmanaged).toHaveLength(1);
  });

  it('and is pending behind any number if the first of those alike was unmanaged', () => {
    const reader = new Reader();
    const entry = { url: 'https://a.example/mcp' };
    const stored: Stored = {
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: Array.from({ length: 11 }, () => entry),
      },
    };
    const none = ['mcp_config: { shttp_servers: [] }'];
    const left = 'unmanaged: ["mcp_config.shttp_servers[https://a.example/mcp]"]\n';
    expect(reader.read({ desired: file(none, left), stored })).toEqual({});
    const found = reader.read({ desired: file(none), stored });
    expect(found['https://a.example/mcp#11']).toBe('pending');
    expect(new Set(Object.values(found))).toEqual(new Set(['pending']));
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
    const state = observed(createRecord(Object.entries(THEIRS)));
    const plan = planOf([], planSettings(FR, state, NOTHING_KNOWN));
    const since = sinceAgreement({ address: kept, agreement }, address, DIGESTS);
    expect(classesOf(listPlanChanges(since.classify(plan, FR, state)))).toEqual({
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

  it('are judged by a later declaration as soon as there is nothing to do for it', () => {
    const reader = new Reader();
    reader.read({ desired: one, stored });
    reader.read({ desired: paused, stored });
    expect(reader.read({ desired: paused, stored, sandboxes: ['box-1'] })).toEqual({
      'box-1': 'drift',
    });
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
  const at = (timeout: number) => `{ url: "${URL}", timeout: ${timeout} }`;
  /** What is found after a read at which both were equal, and others. */
  const after = (desired: DesiredState, was: Stored, ...reads: readonly Read[]) => {
    const reader = new Reader();
    expect(reader.read({ desired, stored: was })).toEqual({});
    return reads.map((read) => reader.read(read)).at(-1);
  };

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

  it('that has a name differs under its address, and is not agreed on as long as it does', () => {
    const entry = (timeout: number) => ({ name: 'one', url: URL, timeout });
    const of = (timeout: number) => listed(named('one', URL, `, timeout: ${timeout}`));
    expect(
      after(
        of(60),
        stored(entry(60)),
        { desired: of(60), stored: stored(entry(90)) },
        { desired: of(30), stored: stored(entry(90)) },
      ),
    ).toEqual({ [URL]: 'conflict' });
  });

  it.each([
    ['the file gives it a name', at(60), { url: URL }, named('one', URL, ', timeout: 30')],
    [
      'the file takes its name',
      named('one', URL, ', timeout: 60'),
      { name: 'one', url: URL },
      at(30),
    ],
  ])('is the same one if %s', (_, before, entry, edited) => {
    const read = (timeout: number) => ({
      desired: listed(edited),
      stored: stored({ ...entry, timeout }),
    });
    const was = stored({ ...entry, timeout: 60 });
    expect(after(listed(before), was, read(60))).toEqual({ [URL]: 'pending' });
    expect(after(listed(before), was, read(90))).toEqual({ [URL]: 'conflict' });
  });

  it('alike that somebody added is drift, also once the file has none of them', () => {
    const entry = { url: URL, timeout: 60 };
    expect(
      after(listed(at(60)), stored(entry), { desired: listed(), stored: stored(entry, entry) }),
    ).toEqual({ [URL]: 'pending', [`${URL}#2`]: 'drift' });
  });

  it('is known by a name that ends as a number of those alike does', () => {
    const of = (command: string) =>
      file([`agent_settings: { mcp_config: { "tool#2": { command: ${command} } } }`]);
    const program = (command: string): Stored => ({
      mcp_config: {
        sse_servers: [],
        stdio_servers: [{ name: 'tool#2', command, args: [], env: {} }],
        shttp_servers: [],
      },
    });
    const now = (declared: string, shown: string) =>
      after(of('a'), program('a'), { desired: of(declared), stored: program(shown) });
    expect([now('b', 'a'), now('a', 'b'), now('b', 'c')]).toEqual([
      { 'tool#2': 'pending' },
      { 'tool#2': 'drift' },
      { 'tool#2': 'conflict' },
    ]);
  });

  it('added by somebody is in conflict with a file that declares none any more', () => {
    const entry = { url: URL, timeout: 60 };
    const more = { ...entry, url: 'https://b.example/mcp' };
    const none = file(['mcp_config: null']);
    expect(after(listed(at(60)), stored(entry), { desired: none, stored: stored(entry) })).toEqual({
      mcp_config: 'pending',
    });
    expect(
      after(
        listed(at(60)),
        stored(entry),
        { desired: listed(at(60)), stored: stored(entry, more) },
        { desired: none, stored: stored(entry, more) },
      ),
    ).toEqual({ mcp_config: 'conflict' });
  });

  it('is judged by all but its secrets, whatever the order of its members', () => {
    const of = (level: string) =>
      file([
        'mcp_config:',
        '  stdio_servers:',
        `    - { name: x, command: npx, args: [a], env: { API_KEY: "\${env:A}", LEVEL: ${level} } }`,
      ]);
    const program = (env: Value, args: readonly string[] = ['a']): Stored => ({
      mcp_config: {
        sse_servers: [],
        stdio_servers: [{ name: 'x', command: 'npx', args, env }],
        shttp_servers: [],
      },
    });
    const was = program({ API_KEY: 'a', LEVEL: 'low' });
    const edited = (shown: Stored) => after(of('low'), was, { desired: of('high'), stored: shown });
    expect([
      edited(was),
      edited(program({ LEVEL: 'low', API_KEY: 'a' })),
      edited(program({ API_KEY: 'else', LEVEL: 'low' })),
      edited(program({ LEVEL: 'low' })),
      edited(program({ API_KEY: 'a', LEVEL: 'low' }, ['b'])),
    ]).toEqual(
      ['pending', 'pending', 'pending', 'conflict', 'conflict'].map((one) => ({ x: one })),
    );
  });
});

describe('what is kept of an agreement', () => {
  it('is two short digests for each path, and where else something was if a secret is in it', () => {
    const reader = new Reader();
    const entry = '{ name: x, command: npx, env: { API_KEY: "${env:A}", LEVEL: low } }';
    reader.read({
      desired: file(['language: en', `mcp_config: { stdio_servers: [${entry}] }`]),
      stored: {
        language: 'en',
        mcp_config: {
          sse_servers: [],
          stdio_servers: [
            { name: 'x', command: 'npx', args: [], env: { API_KEY: 'a', LEVEL: 'low' } },
          ],
          shttp_servers: [],
        },
      },
    });
    const digest = expect.stringMatching(/^[0-9a-f]{16}$/) as unknown;
    const places = Object.values(reader.agreement.places);
    expect(
      places.toSorted((one, other) => (one[2] ?? []).length - (other[2] ?? []).length),
    ).toEqual([
      [digest, digest],
      [digest, digest, expect.arrayContaining(['["name"]', '["command"]', '["env","LEVEL"]'])],
      [digest, digest, expect.arrayContaining(['["stdio_servers","0","env","LEVEL"]'])],
    ]);
    expect(Object.keys(reader.agreement.places)).toEqual([digest, digest, digest]);
  });

  it('stays the same text while something differs', () => {
    const reader = new Reader();
    const desired = file(['language: en', 'agent: A', 'llm_model: m', 'git_user_name: me']);
    const stored = { language: 'en', agent: 'A', llm_model: 'm', git_user_name: 'me' };
    reader.read({ desired, stored });
    const before = JSON.stringify(reader.known);
    for (const name of Object.keys(stored)) {
      reader.read({ desired, stored: { ...stored, [name]: 'else' } });
      expect(JSON.stringify(reader.known)).toBe(before);
    }
  });

  it('is nothing of a path that was never equal', () => {
    const state = observed(createRecord([['language', 'de']]));
    const plan = planOf([], planSettings(EN, state, NOTHING_KNOWN));
    const compared = { desired: EN, observed: state, plan, address: null };
    expect(agreementAfter(compared, null, DIGESTS).places).toStrictEqual({});
  });
});

it('the same is agreed on in the same words, in whatever order a file declares it', () => {
  const [one, other] = [new Reader(), new Reader()];
  const stored = { language: 'en', agent: 'A' };
  one.read({ desired: EN, stored });
  other.read({ desired: file(['agent: A', 'language: en']), stored });
  expect(JSON.stringify(one.known)).toBe(JSON.stringify(other.known));
});
