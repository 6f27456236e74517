import { describe, expect, it } from 'vitest';
import { digestsUnder } from '../../../src/reconciler/host/digests.ts';
import { resolveSettings } from '../../../src/reconciler/desired/resolve.ts';
import { listPlanChanges, type Change, type Plan } from '../../../src/reconciler/model/plan.ts';
import type { Digests } from '../../../src/reconciler/model/ports.ts';
import type { Agreement, AgreementWith } from '../../../src/reconciler/model/agreement.ts';
import { agreementAfter, sinceAgreement } from '../../../src/reconciler/plan/agreement.ts';
import type { DesiredState, ObservedState } from '../../../src/reconciler/model/state.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { createRecord, type Value } from '../../../src/reconciler/model/value.ts';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { classifyChanges, declarations } from '../../../src/reconciler/plan/three-way.ts';
import { source, target, withSettings } from '../desired/reading.ts';
import { NO_SANDBOXES } from '../../../src/reconciler/resources/sandboxes/plan-sandboxes.ts';
import { sandboxPart } from '../../../src/reconciler/resources/sandboxes/resource.ts';
import { change, observed, planOf, step } from './hand-made.ts';
import { createSettingsPart } from '../../../src/reconciler/plan/settings-part.ts';

/** A file with these lines under settings, and more blocks below. */
function file(lines: readonly string[], rest = ''): DesiredState {
  return resolveSettings(target(withSettings(...lines) + rest), source({ A: 'a', B: 'b' }));
}

/** The class of each change that leads from what is stored to `now`, if `base` was applied last. */
function classes(
  base: DesiredState,
  now: DesiredState,
  stored: Readonly<Record<string, Value>>,
): Record<string, string | undefined> {
  const state = observed(createRecord(Object.entries(stored)));
  const settings = planSettings(now, state, NOTHING_KNOWN);
  const plan = [createSettingsPart(settings), sandboxPart(NO_SANDBOXES)];
  return classesOf(listPlanChanges(classifyChanges(plan, now, base, state, NOTHING_KNOWN)));
}

function classesOf(changes: readonly Change[]): Record<string, string | undefined> {
  return Object.fromEntries(changes.map((one) => [one.path.join(' '), one.class]));
}

/** The same if the service had `agreed` when the file was `base`, and nothing but their digests is known of both. */
function since(
  base: DesiredState,
  now: DesiredState,
  agreed: Readonly<Record<string, Value>>,
  stored: Readonly<Record<string, Value>>,
): Record<string, string | undefined> {
  const digests = digestsUnder();
  const before = observed(createRecord(Object.entries(agreed)));
  const agreement = agreedOn(base, before, digests);
  const state = observed(createRecord(Object.entries(stored)));
  const kept = JSON.parse(JSON.stringify({ address: 'a', agreement })) as AgreementWith;
  const found = sinceAgreement(kept, 'a', digestsUnder(digests.salt)).classify(
    planned(now, state),
    now,
    state,
  );
  return classesOf(listPlanChanges(found));
}

function planned(desired: DesiredState, state: ObservedState): Plan {
  return planOf([], planSettings(desired, state, NOTHING_KNOWN));
}

function agreedOn(base: DesiredState, state: ObservedState, digests: Digests): Agreement {
  const compared = { desired: base, observed: state, plan: planned(base, state), address: 'a' };
  return agreementAfter(compared, null, digests);
}

describe('of a field', () => {
  it.each([
    ['the file has moved', 'en', 'fr', 'en', 'pending'],
    ['the service has moved', 'en', 'en', 'fr', 'drift'],
    ['both have', 'en', 'fr', 'de', 'conflict'],
  ])('%s', (_, base, now, stored, expected) => {
    expect(
      classes(file([`language: ${base}`]), file([`language: ${now}`]), { language: stored }),
    ).toEqual({ language: expected });
  });

  it('that was not declared before, or was unmanaged, is pending', () => {
    const now = file(['language: fr']);
    expect(classes(file(['agent: A']), now, { language: 'de', agent: 'A' })).toEqual({
      language: 'pending',
    });
    const before = file(['language: en'], 'unmanaged: [language]\n');
    expect(classes(before, now, { language: 'de' })).toEqual({ language: 'pending' });
  });

  it('several are judged one by one, and all that is planned is kept', () => {
    const before = file(['language: en', 'agent: A', 'git_user_name: one']);
    const now = file(['language: fr', 'agent: A', 'git_user_name: two']);
    const stored = { language: 'en', agent: 'theirs', git_user_name: 'theirs' };
    expect(classes(before, now, stored)).toEqual({
      language: 'pending',
      agent: 'drift',
      git_user_name: 'conflict',
    });
  });

  it('behind references that have no value is compared by the reference', () => {
    const unseen = (name: string) => file([`git_user_name: "\${env:${name}}"`]);
    const state = observed(createRecord([['git_user_name', 'theirs']]));
    const classOf = (base: DesiredState, now: DesiredState) =>
      listPlanChanges(
        classifyChanges(planOf([change(['git_user_name'])]), now, base, state, NOTHING_KNOWN),
      )[0]?.class;
    expect(classOf(unseen('NONE'), unseen('NONE'))).toBe('drift');
    expect(classOf(unseen('NONE'), unseen('OTHER'))).toBe('pending');
    expect(classOf(unseen('NONE'), unseen('A'))).toBe('pending');
    expect(classOf(unseen('A'), unseen('A'))).toBe('drift');
    expect(classOf(unseen('A'), unseen('B'))).toBe('conflict');
  });

  it('that is to be rotated is pending, whatever else has moved', () => {
    const now = file(['llm_api_key: "${env:A}"']);
    const plan = planOf([change(['llm_api_key'], { action: 'rotate' })]);
    const state = observed({ llm_api_key_set: true });
    expect(listPlanChanges(classifyChanges(plan, now, now, state, NOTHING_KNOWN))[0]?.class).toBe(
      'pending',
    );
  });
});

describe('of an entry', () => {
  const list = (...entries: readonly string[]) =>
    file([
      `mcp_config: { shttp_servers: [${entries.join(', ')}], sse_servers: [], stdio_servers: [] }`,
    ]);
  const entry = (name: string, timeout = 60) =>
    `{ url: "https://${name}.example/mcp", timeout: ${timeout} }`;
  const stored = (...entries: readonly (readonly [string, number])[]) => ({
    mcp_config: {
      sse_servers: [],
      stdio_servers: [],
      shttp_servers: entries.map(([name, timeout]) => ({
        url: `https://${name}.example/mcp`,
        timeout,
      })),
    },
  });

  it('it is judged by its own declaration', () => {
    const found = classes(
      list(entry('kept'), entry('edited'), entry('dropped'), entry('touched')),
      list(entry('kept'), entry('edited', 30), entry('touched'), entry('added')),
      stored(['kept', 60], ['edited', 60], ['dropped', 60], ['touched', 5], ['foreign', 60]),
    );
    const at = (name: string) => found[`mcp_config shttp_servers https://${name}.example/mcp`];
    expect(['kept', 'edited', 'dropped', 'touched', 'added', 'foreign'].map(at)).toEqual([
      undefined,
      'pending',
      'pending',
      'drift',
      'pending',
      'drift',
    ]);
  });

  it('edited on both sides it is in conflict', () => {
    expect(
      Object.values(classes(list(entry('a')), list(entry('a', 30)), stored(['a', 5]))),
    ).toEqual(['conflict']);
  });

  it.each([
    ['a member less', '{ url: "https://a.example/mcp" }'],
    ['another member', '{ url: "https://a.example/mcp", api_key: "${env:A}" }'],
  ])('with %s it has been edited', (_, edited) => {
    const base = list('{ url: "https://a.example/mcp", timeout: 30 }');
    const found = classes(base, list(edited), stored(['a', 30], ['b', 60]));
    for (const [path, kind] of Object.entries(found))
      expect([path, kind]).toEqual([path, path.includes('a.example') ? 'pending' : 'drift']);
  });

  it('a list within it is compared item by item', () => {
    const program = (args: string) =>
      file([`mcp_config: { stdio_servers: [{ name: x, command: c, args: ${args} }] }`]);
    const theirs = {
      mcp_config: {
        sse_servers: [],
        shttp_servers: [],
        stdio_servers: [{ name: 'x', command: 'c', args: ['z'], env: {} }],
      },
    };
    const classOf = (base: string, now: string) =>
      Object.values(classes(program(base), program(now), theirs));
    expect(classOf('[a, b]', '[a, b]')).toEqual(['drift']);
    expect(classOf('[a, b]', '[a]')).toEqual(['conflict']);
    expect(classOf('[a]', '[a, b]')).toEqual(['conflict']);
    expect(classOf('[a, b]', '[a, c]')).toEqual(['conflict']);
    expect(classOf('["${env:NONE}", q]', '["${env:NONE}", q]')).toEqual(['drift']);
    expect(classOf('["${env:NONE}", q]', '["${env:OTHER}", q]')).not.toEqual(['drift']);
  });
});

describe('of a program', () => {
  const program = (members: string) =>
    file([`mcp_config: { stdio_servers: [{ name: x, command: c, ${members} }] }`]);
  const theirs = {
    mcp_config: {
      sse_servers: [],
      shttp_servers: [],
      stdio_servers: [{ name: 'x', command: 'theirs', args: [], env: {} }],
    },
  };
  const classOf = (base: string, now: string) =>
    Object.values(classes(program(base), program(now), theirs));

  it('a member that the file has dropped or added counts, whatever else is alike', () => {
    expect(classOf('args: [a]', 'args: [a]')).toEqual(['drift']);
    expect(classOf('args: [a]', '')).toEqual(['conflict']);
    expect(classOf('', 'args: [a]')).toEqual(['conflict']);
    expect(classOf('env: { A: a }', 'env: { B: a }')).toEqual(['conflict']);
  });

  it('a value that has become one of another kind counts', () => {
    expect(classOf('args: [a, b]', 'args: "a b"')).toEqual(['drift']);
    expect(classOf('env: { A: "${env:A}" }', 'env: { A: "${env:NONE}" }')).toEqual(['conflict']);
    expect(classOf('env: { A: "${env:NONE}" }', 'env: { A: a }')).toEqual(['conflict']);
  });
});

describe('what a file declares under a path', () => {
  const ENTRY = '{ url: "https://a.example/mcp", timeout: 30 }';
  const declared = declarations(
    file(
      ['language: en', 'agent: A', `mcp_config: { shttp_servers: [${ENTRY}] }`],
      'unmanaged: [agent, "mcp_config.sse_servers"]\n',
    ),
  );

  it('is the value of a field, or nothing', () => {
    expect(declared(['language'])).toBe('en');
    expect(declared(['email'])).toBeUndefined();
    expect(declared([])).toBeUndefined();
    expect(declared(['agent'])).toBeUndefined();
  });

  it('is the entry of a list, whichever of several alike the service has', () => {
    const entry = { url: 'https://a.example/mcp', timeout: 30 };
    expect(declared(['mcp_config', 'shttp_servers', 'https://a.example/mcp'])).toMatchObject(entry);
    expect(declared(['mcp_config', 'shttp_servers', 'https://a.example/mcp#2'])).toMatchObject(
      entry,
    );
    expect(declared(['mcp_config', 'shttp_servers', 'https://b.example/mcp'])).toBeUndefined();
    expect(declared(['mcp_config', 'sse_servers', 'https://a.example/mcp'])).toBeUndefined();
  });

  /** What a file declares of these programs, which a file could not hold. */
  function programs(...names: readonly string[]) {
    const { fields, ...rest } = file(['mcp_config: { stdio_servers: [] }']);
    const stdio_servers = names.map((name, index) => ({ name, command: String(index) }));
    const found = declarations({
      ...rest,
      fields: fields.map((field) => ({ ...field, value: { stdio_servers } })),
    });
    return (name: string) => found(['mcp_config', 'stdio_servers', name]);
  }

  it('is found behind a number of several digits, and by a name with a number in it', () => {
    const at = programs('x#1y', 'x');
    expect(at('x#1y')).toMatchObject({ command: '0' });
    expect(at('x#12')).toMatchObject({ command: '1' });
  });

  it('of several alike is the first', () => {
    expect(programs('x', 'x')('x')).toMatchObject({ command: '0' });
  });

  it('is the whole field under a path that is in no list', () => {
    expect(declared(['mcp_config'])).toHaveProperty('shttp_servers');
    expect(declared(['mcp_config', 'other', 'x'])).toHaveProperty('shttp_servers');
    expect(declared(['mcp_config', 'shttp_servers'])).toHaveProperty('shttp_servers');
  });

  it('is nothing if there is no config', () => {
    expect(declarations(file(['mcp_config: null']))(['mcp_config', 'sse_servers', 'x'])).toBe(
      undefined,
    );
  });
});

describe('of the sandboxes', () => {
  const declared = (block: string) => file(['language: en'], block);
  const classOf = (base: string, now: string) =>
    classifyChanges(
      planOf([], {}, [step('box-1')]),
      declared(now),
      declared(base),
      observed({}),
      NOTHING_KNOWN,
    ).flatMap(({ changes }) => changes.map((one) => [one.path[0], one.class]));

  it('drift, unless the file has changed; its position does not count', () => {
    const one = 'sandboxes: [{ id: box-1, state: running }]\n';
    expect(classOf(one, one)).toEqual([['box-1', 'drift']]);
    expect(classOf(one, `guards: { max_changes: 3 }\n${one}`)).toEqual([['box-1', 'drift']]);
    expect(classOf(one, one.replace('running', 'paused'))).toEqual([['box-1', 'pending']]);
    expect(classOf('', one)).toEqual([['box-1', 'pending']]);
  });
});

describe('since file and service were last the same, of which only digests are kept', () => {
  it.each([
    ['the file has moved', 'en', 'fr', 'en', 'pending'],
    ['the service has moved', 'en', 'en', 'fr', 'drift'],
    ['both have', 'en', 'fr', 'de', 'conflict'],
  ])('%s', (_, base, now, stored, expected) => {
    const [before, after] = [file([`language: ${base}`]), file([`language: ${now}`])];
    expect(since(before, after, { language: base }, { language: stored })).toEqual({
      language: expected,
    });
  });

  it('what was not declared, or was unmanaged, is pending', () => {
    const now = file(['language: fr']);
    const shown = { language: 'de', agent: 'A' };
    expect(since(file(['agent: A']), now, shown, shown)).toEqual({ language: 'pending' });
    const before = file(['language: en'], 'unmanaged: [language]\n');
    expect(since(before, now, shown, { language: 'it' })).toEqual({ language: 'pending' });
  });

  const config = (...shttp_servers: readonly Value[]) => ({
    mcp_config: { sse_servers: [], stdio_servers: [], shttp_servers },
  });
  const server = (name: string, more: Readonly<Record<string, Value>> = { timeout: 60 }) => ({
    url: `https://${name}.example/mcp`,
    ...more,
  });
  const declared = (...entries: readonly string[]) =>
    file([
      `mcp_config: { shttp_servers: [${entries.join(', ')}], sse_servers: [], stdio_servers: [] }`,
    ]);
  const entry = (name: string, more = 'timeout: 60') =>
    `{ url: "https://${name}.example/mcp", ${more} }`;

  it('each entry of a list is judged by itself', () => {
    const found = since(
      declared(entry('kept'), entry('edited'), entry('dropped'), entry('touched'), entry('both')),
      declared(
        entry('kept'),
        entry('edited', 'timeout: 30'),
        entry('touched'),
        entry('added'),
        entry('both', 'timeout: 20'),
      ),
      config(...['kept', 'edited', 'dropped', 'touched', 'both'].map((name) => server(name))),
      config(
        server('kept'),
        server('edited'),
        server('dropped'),
        server('touched', { timeout: 5 }),
        server('both', { timeout: 5 }),
        server('foreign'),
      ),
    );
    const at = (name: string) => found[`mcp_config shttp_servers https://${name}.example/mcp`];
    const names = ['kept', 'edited', 'dropped', 'touched', 'added', 'both', 'foreign'];
    expect(names.map(at)).toEqual([
      undefined,
      'pending',
      'pending',
      'drift',
      'pending',
      'conflict',
      'drift',
    ]);
  });

  it('behind a reference it counts how the file writes it, and whether the service shows something', () => {
    const keyed = (ref: string, timeout = 60) =>
      declared(entry('a', `timeout: ${timeout}, api_key: "\${env:${ref}}"`));
    const shown = (timeout: number, key: string) =>
      config(server('a', { timeout, api_key: new Secret(key) }));
    const classOf = (now: DesiredState, stored: Readonly<Record<string, Value>>) =>
      Object.values(since(keyed('A'), now, shown(60, 'a'), stored));
    expect(classOf(keyed('A'), shown(60, 'theirs'))).toEqual(['drift']);
    expect(classOf(keyed('B'), shown(60, 'a'))).toEqual(['pending']);
    expect(classOf(keyed('A', 30), shown(60, 'a'))).toEqual(['pending']);
    expect(classOf(keyed('B'), shown(5, 'a'))).toEqual(['conflict']);
    expect(classOf(keyed('B'), config(server('a')))).toEqual(['conflict']);
    expect(classOf(keyed('B'), config())).toEqual(['conflict']);
  });

  it('holds nothing of a reference: another value of it makes the same digests', () => {
    const of = (value: string) => {
      const wrapped = new Secret(value, '${env:A}');
      const base = declared(entry('a', 'api_key: "${env:A}", timeout: 60'));
      const fields = base.fields.map((field) => ({
        ...field,
        value: config(server('a', { timeout: 60, api_key: wrapped })).mcp_config,
      }));
      const shown = config(server('a', { timeout: 60, api_key: new Secret(value) }));
      const state = observed(createRecord(Object.entries(shown)));
      return agreedOn({ ...base, fields }, state, digestsUnder('salt'));
    };
    expect(of('one')).toEqual(of('two'));
    const plain = (value: string) =>
      agreedOn(
        resolveSettings(target(withSettings('git_user_name: "${env:A}"')), source({ A: value })),
        observed(createRecord([['git_user_name', value]])),
        digestsUnder('salt'),
      );
    expect(plain('one')).toEqual(plain('two'));
  });

  it('sandboxes: drift, unless the file has changed', () => {
    const one = 'sandboxes: [{ id: box-1, state: running }]\n';
    const classOf = (base: string, now: string) => {
      const digests = digestsUnder();
      const agreement = agreedOn(file(['language: en'], base), observed({}), digests);
      return sinceAgreement({ address: 'a', agreement }, 'a', digests)
        .classify(planOf([], {}, [step('box-1')]), file(['language: en'], now), observed({}))
        .flatMap(({ changes }) => changes.map((one) => one.class));
    };
    expect(classOf(one, one)).toEqual(['drift']);
    expect(classOf(one, `guards: { max_changes: 3 }\n${one}`)).toEqual(['drift']);
    expect(classOf('', one)).toEqual(['pending']);
  });
});
