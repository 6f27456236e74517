import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import type { EnvironmentOutcome } from '../../../src/reconciler/model/outcome.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { ENV, startSecretsWorld, withFaults, type Answer } from '../../fixture/custom-secrets.ts';
import { itEach } from '../../fixture/long.ts';

interface Case {
  readonly dialect: DialectName;
  readonly declared: string;
  /** What is stored, and with which value. */
  readonly stored: Readonly<Record<string, string>>;
  readonly answers: readonly Answer[];
  readonly lag: number;
  /** Absent if the value is not replaced. */
  readonly rotate?: 'all';
}

interface End {
  readonly outcome: EnvironmentOutcome | undefined;
  readonly values: Readonly<Record<string, string | null>>;
  readonly descriptions: Readonly<Record<string, string>>;
}

const ROTATED = '{ DB: "${env:DB}" }';
/** More lists than one apply reads. */
const TO_THE_END = 99;

/** Applies with faults; then in peace, which makes everything as declared. */
async function applied({ dialect, declared, stored, rotate, ...faults }: Case): Promise<End> {
  const world = await startSecretsWorld(dialect);
  try {
    for (const [name, value] of Object.entries(stored)) await world.theirs(name, value);
    const asked = world.asked(declared);
    const end = withFaults(world, dialect, faults);
    const rotated = rotate === undefined ? {} : { rotate };
    const [outcome] = (await apply({ ...asked, ...rotated })).environments;
    end();
    const found = { outcome, values: world.values(), descriptions: await world.names() };
    const [settled] = (await apply({ ...asked, rotate: 'all' })).environments;
    expect(settled?.error).toBeNull();
    expect(world.values()).toEqual(declared.includes('null') ? {} : { DB: ENV.DB });
    return found;
  } finally {
    await world.close();
  }
}

const [PREPARED, STORED] = [{ DB: 'old', DB__next: 'interrupted' }, { DB: 'old' }];

describe('settings-v0: a list that may be older than a request is no proof of it', () => {
  const own = { dialect: 'settings-v0', declared: ROTATED, stored: STORED, rotate: 'all' } as const;

  it('a list that never shows the new value: the old one stays, and what was sent is unknown', async () => {
    const answers = ['stored', 'stored', '502 before', '403'] as const;
    const { outcome, values } = await applied({ ...own, answers, lag: TO_THE_END });
    expect(values).toEqual({ DB: 'old', DB__next: ENV.DB });
    expect(outcome?.changes).toMatchObject([{ action: 'rotate', result: 'unknown' }]);
    expect(outcome?.error?.code).toBe('contended');
  });

  it('a rename that was refused, and a list that a later write makes lag, too: unknown', async () => {
    const declared = '{ DB: "${env:DB}", JIRA: "${env:JIRA}" }';
    const world = await startSecretsWorld('settings-v0');
    await world.theirs('DB', 'old');
    withFaults(world, 'settings-v0', {
      answers: ['stored', 'stored', '502 before', '403'],
      lag: 1,
    });
    const [outcome] = (await apply({ ...world.asked(declared), rotate: 'all' })).environments;
    expect(world.values()).toEqual({ DB__next: ENV.DB });
    expect(outcome?.changes).toMatchObject([{ result: 'unknown' }, { result: 'not-sent' }]);
    await world.close();
  });

  it('a value that was not stored, and a list from before what waited was removed: the old one stays', async () => {
    const answers = ['stored', '502 before', '502 before'] as const;
    const one = { ...own, stored: PREPARED, answers, lag: TO_THE_END };
    const { outcome, values } = await applied(one);
    expect(values).toEqual({ DB: 'old' });
    expect(outcome?.changes).toMatchObject([{ result: 'unknown' }]);
  });

  it('a rename whose answer was lost: the service says that there is none to rename any more', async () => {
    const answers = ['stored', 'stored', '502 after'] as const;
    const { outcome, values } = await applied({ ...own, answers, lag: 0 });
    expect(values).toEqual({ DB: ENV.DB });
    expect(outcome).toMatchObject({ error: null, changes: [{ result: 'unverifiable' }] });
  });
});

const DESCRIBED = '{ DB: { value: "${env:DB}", description: mine } }';
const REMOVED = '{ DB: null }';

/** Each request of a run, as the file that needs it and how many requests come first. */
const REQUESTS = [
  ['settings-v0', 'remove what waited', ROTATED, PREPARED, 0],
  ['settings-v0', 'store under the second name', ROTATED, PREPARED, 1],
  ['settings-v0', 'remove the old value', ROTATED, PREPARED, 2],
  ['settings-v0', 'rename', DESCRIBED, PREPARED, 3],
  ['settings-v0', 'store the first value', DESCRIBED, { DB__next: 'interrupted' }, 0],
  ['settings-v0', 'remove', REMOVED, PREPARED, 0],
  ['settings-v0', 'describe', DESCRIBED, STORED, 0],
  ['app-server', 'describe', DESCRIBED, STORED, 0],
  ['app-server', 'replace', DESCRIBED, STORED, 0],
  ['app-server', 'remove', REMOVED, STORED, 0],
  ['agent-server', 'replace', DESCRIBED, STORED, 0],
  ['agent-server', 'remove', REMOVED, STORED, 0],
] as const;

const FAULTS: readonly (readonly Answer[])[] = [
  ['502 before'],
  ['502 after'],
  ['502 before', '403'],
  ['502 after', '502 after'],
  ['400'],
];

/** Each request with each fault; for `npm test`, those of settings-v0 with one of them in turn. */
const LOST = REQUESTS.flatMap((request, turn) =>
  FAULTS.map((faults, at) => ({
    request,
    faults,
    isShort: request[0] === 'settings-v0' && at === 0 && at === turn % FAULTS.length,
  })),
);

itEach(LOST, ({ isShort }) => isShort)(
  '$request.0, $request.1, $faults: with lists that lag, no word is false and no value gone',
  async ({ request: [dialect, kind, declared, stored, first], faults }) => {
    const rotated = kind === 'describe' ? {} : ({ rotate: 'all' } as const);
    for (const lag of [0, 1, TO_THE_END]) {
      const answers = [...Array<Answer>(first).fill('stored'), ...faults];
      const one: Case = { dialect, declared, stored, answers, lag, ...rotated };
      expectTrue(one, await applied(one));
    }
  },
);

function expectTrue({ declared, stored }: Case, { outcome, values, descriptions }: End): void {
  if (declared !== REMOVED) expect(values['DB'] ?? values['DB__next']).toBeDefined();
  for (const { action, path, result } of outcome?.changes ?? []) {
    if (result === 'set' || result === 'unverifiable') expect(values['DB']).toBe(ENV.DB);
    if (result === 'verified' && action === 'remove') expect(values).toEqual({});
    if (result === 'verified' && path.length > 2) expect(descriptions['DB']).toBe('mine');
    if (result === 'not-sent') expect(values).toEqual(stored);
  }
}
