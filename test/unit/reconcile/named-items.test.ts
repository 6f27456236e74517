import { describe, expect, it } from 'vitest';
import {
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
} from '../../../src/reconciler/model/collection-forms.ts';
import type {
  CollectionForm,
  DesiredItem,
  Listing,
} from '../../../src/reconciler/model/collection.ts';
import type { Fingerprints } from '../../../src/reconciler/model/ports.ts';
import { Secret, UnseenSecret } from '../../../src/reconciler/model/secret.ts';
import type { ValueRecord } from '../../../src/reconciler/model/value.ts';
import { planCollection } from '../../../src/reconciler/resources/collections/plan.ts';
import { isActiveCopy } from '../../../src/reconciler/resources/meta-profiles.ts';

const NOTHING_KNOWN: Fingerprints = { compare: () => 'none' };

function declared(name: string, members: ValueRecord | null): DesiredItem {
  return { name, members, source: { file: 'settings.yaml', line: 1, column: 1 } };
}

function planned(
  form: CollectionForm,
  members: ValueRecord,
  there: ValueRecord,
  whole?: Listing['whole'],
) {
  const listing: Listing = {
    items: [{ name: 'a', members: there }],
    replaces: 'in-place',
    describes: true,
    ...(whole === undefined ? {} : { whole }),
  };
  return planCollection(form, [declared('a', members)], listing, {
    rotation: [],
    fingerprints: NOTHING_KNOWN,
  });
}

describe('the address of a connection', () => {
  const key = new UnseenSecret();
  const there = { base_url: 'https://one.example.com/v1', api_key: key };
  const moved = (members: ValueRecord, from: ValueRecord = there) =>
    planned(CONNECTIONS_FORM, members, from).moved.map(({ path }) => path);

  it('moves the stored key along to another host, or to that of the provider', () => {
    const path = [['provider_connections', 'a', 'base_url']];
    expect(moved({ base_url: 'https://two.example.com' })).toEqual(path);
    expect(moved({ base_url: null })).toEqual(path);
    expect(moved({ base_url: 'http://one.example.com/v1' })).toEqual(path);
    expect(
      moved({ base_url: 'https://two.example.com' }, { base_url: null, api_key: key }),
    ).toEqual(path);
  });

  it('moves no key if the host stays, none is stored, or another takes its place', () => {
    expect(moved({ base_url: 'https://one.example.com/v2' })).toEqual([]);
    expect(moved({ base_url: 'https://two.example.com' }, { ...there, api_key: null })).toEqual([]);
    expect(moved({ base_url: 'https://two.example.com', api_key: null })).toEqual([]);
    const listing = { ...there, api_key: new Secret('old') };
    const both = { base_url: 'https://two.example.com', api_key: new Secret('new') };
    expect(moved(both, listing)).toEqual([]);
  });
});

describe('members that are compared whole', () => {
  const whole: Listing['whole'] = (name, value) =>
    name === 'tools' ? value : (value ?? (name === 'agent' ? 'CodeActAgent' : null));
  const paths = (members: ValueRecord, there: ValueRecord) =>
    planned(AGENT_PROFILES_FORM, members, there, whole).changes.map(
      ({ path, action, after }) => [path[2], action, after] as const,
    );

  it('are equal if one is written out and the other left out', () => {
    expect(paths({ agent: 'CodeActAgent' }, {})).toEqual([]);
    expect(paths({}, { agent: 'CodeActAgent' })).toEqual([]);
    expect(paths({ tools: null }, {})).toEqual([]);
  });

  it('tell an empty list from none', () => {
    expect(paths({ tools: [] }, {})).toEqual([['tools', 'set', []]]);
    expect(paths({}, { tools: [] })).toEqual([['tools', 'clear', null]]);
    expect(paths({ tools: null }, { tools: [] })).toEqual([['tools', 'clear', null]]);
  });
});

describe('the copy of a meta profile in the settings', () => {
  const config = { classifier_model: 'one', classes: [{ description: 'x', model: 'two' }] };
  const copy = {
    classifier_model: 'one',
    classes: [{ description: 'x', model: 'two' }],
    prompt_template: null,
    model_table: null,
  };

  it('is that of the profile as it is, or of one before a change', () => {
    expect(isActiveCopy(config, copy)).toBe(true);
    const bare = { classifier_model: 'one', classes: [] };
    expect(isActiveCopy(bare, { ...copy, classes: [] })).toBe(true);
    expect(isActiveCopy(config, { ...copy, classes: [] })).toBe(false);
    expect(isActiveCopy({ ...config, model_table: 'one' }, copy)).toBe(false);
  });

  it('is none while no meta profile was made active', () => {
    expect(isActiveCopy(config, null)).toBe(false);
    expect(isActiveCopy(config, undefined)).toBe(false);
  });
});
