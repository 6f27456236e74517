import { expect, it } from 'vitest';
import { GIT_PROVIDERS_FORM } from '../../../src/reconciler/model/collection-forms.ts';
import type { Listing } from '../../../src/reconciler/model/collection.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { ValueRecord } from '../../../src/reconciler/model/value.ts';
import { planCollection } from '../../../src/reconciler/resources/collections/plan.ts';

const TOKEN = new Secret('new', '${env:A}');
const LISTING: Listing = {
  items: [
    { name: 'github', members: { token: new UnseenSecret(), host: null } },
    { name: 'gitlab', members: { token: new UnseenSecret(), host: 'git.example.com' } },
  ],
  replaces: 'in-place',
  describes: true,
};

/** The plan of a file that declares these, where the tokens last written from here compare so. */
function planned(
  declared: Readonly<Record<string, ValueRecord | null>>,
  last: 'none' | 'same' | 'different' = 'same',
) {
  const desired = Object.entries(declared).map(([name, members]) => ({
    name,
    members,
    source: { file: 'settings.yaml', line: 1, column: 1 },
  }));
  const fingerprints = { compare: () => last };
  const plan = planCollection(GIT_PROVIDERS_FORM, desired, LISTING, { rotation: [], fingerprints });
  return {
    changes: plan.changes.map(({ action, path }) => `${action} ${path.slice(1).join('.')}`),
    unknown: plan.unknown.map(({ path }) => path.slice(1).join('.')),
    unmanaged: plan.unmanaged.map(([, name]) => name),
    moved: plan.moved.map(({ path: [, name] }) => name),
  };
}

it('a host that the file leaves out is that of the service, and null is none', () => {
  expect(planned({ gitlab: { token: TOKEN } })).toMatchObject({ changes: [], unknown: [] });
  expect(planned({ gitlab: { token: TOKEN, host: null } }).changes).toEqual(['clear gitlab.host']);
  expect(planned({ github: { token: TOKEN, host: null } }).changes).toEqual([]);
  expect(planned({ github: { token: TOKEN, host: 'git.example.com' } }).changes).toEqual([
    'set github.host',
  ]);
});

it('a stored token goes to another host, also if another takes its place', () => {
  const host = 'git2.example.com';
  expect(planned({ gitlab: { token: TOKEN, host } })).toMatchObject({
    changes: ['change gitlab.host'],
    moved: ['gitlab'],
  });
  expect(planned({ gitlab: { token: TOKEN, host } }, 'different')).toMatchObject({
    changes: ['rotate gitlab.token', 'change gitlab.host'],
    moved: ['gitlab'],
  });
  expect(planned({ gitlab: { token: TOKEN, host: 'git.example.com/' } }).moved).toEqual([]);
  expect(planned({ bitbucket: { token: TOKEN, host } }).moved).toEqual([]);
});

it('a token and a user are known by their fingerprints alone, and the others are not managed', () => {
  const gitlab = { token: TOKEN, user_id: new Secret('u', '${env:U}') };
  expect(planned({ gitlab }, 'none')).toEqual({
    changes: [],
    unknown: ['gitlab.token', 'gitlab.user_id'],
    unmanaged: ['github'],
    moved: [],
  });
  expect(planned({ gitlab }, 'different').changes).toEqual([
    'rotate gitlab.token',
    'rotate gitlab.user_id',
  ]);
  expect(planned({ gitlab: null, bitbucket: null, github: null })).toMatchObject({
    changes: ['remove gitlab', 'remove github'],
    unmanaged: [],
  });
});
