import { expect, it } from 'vitest';
import { afterFirstRound } from '../../../src/controller/watch/telemetry/log.ts';
import { MadeUpWatching, WATCHED_AT, watchState } from '../../fixture/watching.ts';

/** A controller over environments that none has read, and what is told of its first round. */
function begun(...names: readonly string[]) {
  const watching = new MadeUpWatching(
    ...names.map((name) => watchState({ name, status: 'not-read' })),
  );
  const told: string[] = [];
  const end = afterFirstRound(
    watching,
    () => WATCHED_AT,
    ({ message }) => told.push(message),
  );
  return { watching, told, end };
}

it('the first round is told once, when each environment was read', () => {
  const { watching, told } = begun('eu', 'us');
  watching.set('eu', { status: 'in-sync' });
  watching.set('eu', { status: 'in-sync' });
  expect(told).toEqual([]);
  watching.set('us', { status: 'in-sync' });
  watching.set('us', { status: 'in-sync' });
  expect(told).toEqual(['read 2 environments: 2 in sync']);
  expect(watching.listeners).toBe(0);
});

it('one that leaves the files before it was read is waited for no more', () => {
  const { watching, told } = begun('eu', 'us', 'ap');
  watching.set('eu', { status: 'in-sync' });
  watching.remove('ap');
  watching.set('us', { status: 'in-sync' });
  expect(told).toEqual(['read 2 environments: 2 in sync']);
});

it('all states are looked at two times, however many environments are read', () => {
  const names = Array.from({ length: 500 }, (_, index) => `of-${index}`);
  const { watching, told } = begun(...names);
  let looks = 0;
  const states = watching.states.bind(watching);
  watching.states = () => {
    looks += 1;
    return states();
  };
  for (const name of names) watching.set(name, { status: 'in-sync' });
  expect(told).toEqual(['read 500 environments: 500 in sync']);
  expect(looks).toBe(2);
});

it('a state that began in the first round, and is healed by nobody, has no second line', () => {
  const { watching, told } = begun('eu', 'us', 'ap');
  const before = new Date(WATCHED_AT - 60_000).toISOString();
  watching.set('eu', { status: 'drift', since: before });
  watching.set('us', { status: 'drift', since: new Date(WATCHED_AT).toISOString() });
  watching.set('ap', { status: 'in-sync' });
  expect(told).toEqual([
    'read 3 environments: 2 drift, 1 in sync',
    expect.stringMatching(/^drift since /),
  ]);
});
