/** The traps of the releases after the recorded one that still serve settings-v0: behaviour 4.5. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import type { LaterRelease } from '../../fixture/later-release.ts';
import { request } from '../../fixture/settings.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';

const ALL: LaterRelease[] = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6'];
const KEEPING = ALL.filter((release) => release >= '1.2');
const INFERRING = ALL.filter((release) => release >= '1.4');
const QUIET = '  sandbox_api_key: null\n';

async function started(release: LaterRelease, stored: JsonRecord): Promise<StoreServer> {
  const store = await startStore({ release }, stored);
  onTestFinished(() => store.close());
  return store;
}

async function planned(store: StoreServer, settings: string) {
  const { environments } = await plan(request(store.url, QUIET + settings));
  return environments[0];
}

async function applied(store: StoreServer, settings: string) {
  const { environments } = await apply(request(store.url, QUIET + settings));
  return environments[0];
}

describe.each(ALL)('release %s', (release) => {
  it('is named, and a changed field is all that a write changes', async () => {
    const stored = { language: 'en', agent: 'A', llm_model: 'anthropic/a', search_api_key: 'k' };
    const store = await started(release, stored);
    const outcome = await applied(store, '  language: fr\n');
    expect(outcome).toMatchObject({ status: 'applied', remaining: [], error: null });
    expect(outcome?.release).toContain(release === '1.6' ? '1.6' : '1.');
    expect(store.stored).toMatchObject({ ...stored, language: 'fr' });
    expect(await applied(store, '  language: fr\n')).toMatchObject({ status: 'in-sync' });
  });

  it('sandbox_api_key, which is stored as asterisks, is said at plan', async () => {
    const store = await started(release, { language: 'en' });
    const { environments } = await plan(
      request(store.url, '  sandbox_api_key: ${env:SETPOINT_API_KEY}\n'),
    );
    expect(environments[0]?.warnings).toMatchObject([
      {
        code: 'not-kept',
        path: ['sandbox_api_key'],
        message: expect.stringContaining('asterisks'),
      },
    ]);
  });
});

describe.each(KEEPING)('search_api_key of release %s', (release) => {
  it('that is stored cannot be cleared: said at plan, and nothing is written for it', async () => {
    const store = await started(release, { language: 'en', search_api_key: 'k' });
    const found = await planned(store, '  search_api_key: null\n');
    expect(found).toMatchObject({
      status: 'in-sync',
      changes: [],
      warnings: [
        {
          code: 'not-cleared',
          path: ['search_api_key'],
          message:
            'search_api_key cannot be cleared: releases from 1.2 on keep what is stored. Declare a value, or list it as unmanaged.',
        },
      ],
    });
    expect(await applied(store, '  search_api_key: null\n  language: fr\n')).toMatchObject({
      status: 'applied',
      remaining: [],
    });
    expect(store.stored).toMatchObject({ search_api_key: 'k', language: 'fr' });
    expect(await applied(store, '  search_api_key: null\n  language: fr\n')).toMatchObject({
      status: 'in-sync',
      error: null,
    });
  });

  it('that is not stored is none, without a word', async () => {
    const store = await started(release, { language: 'en' });
    const found = await planned(store, '  search_api_key: null\n');
    expect(found).toMatchObject({ status: 'in-sync', warnings: [] });
  });
});

it('search_api_key of release 1.0 is cleared', async () => {
  const store = await started('1.0', { language: 'en', search_api_key: 'k' });
  expect(await applied(store, '  search_api_key: null\n')).toMatchObject({ status: 'applied' });
  expect(store.stored).toMatchObject({ search_api_key: null });
});

describe.each(INFERRING)('the address that release %s infers', (release) => {
  const A = {
    llm_model: 'anthropic/a',
    llm_base_url: 'https://api.anthropic.com',
    llm_api_key: 'k',
  };

  it('does not stay when the model changes: the new key never goes to the old provider', async () => {
    const store = await started(release, A);
    expect(await applied(store, '  llm_model: openai/b\n')).toMatchObject({
      status: 'applied',
      remaining: [],
    });
    expect(store.stored?.['llm_base_url']).not.toBe(A.llm_base_url);
    expect(await applied(store, '  llm_model: openai/b\n')).toMatchObject({ status: 'in-sync' });
  });

  it('is a finding of the guard when the stored key would go to another provider', async () => {
    const store = await started(release, A);
    const { environments } = await plan(
      request(store.url, `${QUIET}  llm_model: openai/b\n`, { guards: '{ move_endpoint: true }' }),
    );
    expect(environments[0]?.refusals.map(({ rule, path }) => [rule, path])).toEqual([
      ['move-endpoint', ['llm_model']],
    ]);
  });

  it('equals null if the file declares it', async () => {
    const store = await started(release, A);
    const settings = '  llm_base_url: https://api.anthropic.com\n';
    expect(await planned(store, settings)).toMatchObject({ status: 'in-sync', changes: [] });
    const both = `${settings}  llm_model: anthropic/c\n`;
    expect(await applied(store, both)).toMatchObject({ status: 'applied', remaining: [] });
    expect(await applied(store, both)).toMatchObject({ status: 'in-sync' });
  });

  it('takes the place of no address that somebody has chosen', async () => {
    const own = { ...A, llm_base_url: 'https://own.example.com' };
    const store = await started(release, own);
    expect(await applied(store, '  llm_model: openai/b\n')).toMatchObject({ status: 'applied' });
    expect(store.stored).toMatchObject({ ...own, llm_model: 'openai/b' });
  });
});

it.each<LaterRelease>(['1.1', '1.2', '1.3'])(
  'release %s, which infers no address, is not left with another one',
  async (release) => {
    const store = await started(release, { llm_model: 'anthropic/a', llm_base_url: null });
    expect(await applied(store, '  llm_model: openai/b\n')).toMatchObject({
      status: 'applied',
      remaining: [],
    });
    expect(store.stored?.['llm_base_url'] || null).toBeNull();
    expect(await applied(store, '  llm_model: openai/b\n')).toMatchObject({ status: 'in-sync' });
  },
);
