import { expect, it } from 'vitest';
import type { ObservedState } from '../../../src/reconciler/model/state.ts';
import { reconcile } from '../../../src/reconciler/reconcile/reconcile.ts';
import { observedOf } from '../../fixture/observed.ts';
import { declared } from '../plan/declared.ts';
import { scripted, type Script, writers } from './scripted.ts';

const EN = { language: 'en' };
const FR = { language: 'fr' };

async function run({ more, ...script }: Script, blocks = '') {
  const desired = declared('language: fr\nsandbox_api_key: null', {}, blocks);
  const service = scripted(desired, { ...script, more: { ifEmpty: true, ...more } });
  return { ...service, end: await reconcile(service.input) };
}

it('writes if nothing is stored', async () => {
  const { end, steps } = await run({ shows: [null, null, null, FR] });
  expect(steps).toEqual(['observe', 'observe', 'observe', 'store', 'observe']);
  expect(end).toMatchObject({ status: 'applied', error: null });
});

it('leaves what is stored alone: no plan, no list of sandboxes, no question', async () => {
  const asked: string[] = [];
  const { end, steps } = await run(
    {
      shows: [EN],
      more: {
        announce: async () => void asked.push('announced'),
        approve: async () => asked.push('asked') > 0,
      },
    },
    'sandboxes: [{ running: 2 }]',
  );
  expect(steps).toEqual(['observe']);
  expect(asked).toEqual([]);
  expect(end).toMatchObject({ status: 'not-empty', error: null, dialect: 'settings-v0' });
  expect([end.results.size, end.warnings, end.unknown]).toEqual([0, [], []]);
});

it('leaves alone what already is as declared, too: it is not compared', async () => {
  const { end } = await run({ shows: [FR] });
  expect(end.status).toBe('not-empty');
});

it.each([
  ['before the plan', [null, EN]],
  ['between the plan and the write', [null, null, EN]],
  ['between the plan and the write, as declared', [null, null, FR]],
])('writes nothing over what somebody stores %s', async (_, shows) => {
  const { end, steps } = await run({ shows });
  expect(steps).not.toContain('store');
  expect(end).toMatchObject({ status: 'not-empty', error: null });
});

it('makes the sandboxes after the settings', async () => {
  const { end, steps } = await run(
    {
      shows: [null, null, null, FR],
      lists: [[]],
      starts: [{ kind: 'started', id: 'new' }],
      more: { wait: 0 },
    },
    'sandboxes: [{ running: 1 }]',
  );
  expect(steps.filter((step) => /store|start/.test(step))).toEqual(['store', 'start default']);
  expect(end.started.size).toBe(1);
});

it.each([
  [true, 'applied'],
  [false, 'not-empty'],
] as const)(
  'where an empty store reads as a record, untouched decides: %s',
  async (untouched, status) => {
    let writes = 0;
    const { input } = scripted(declared('language: fr\nsandbox_api_key: null'), {});
    const shown = (record: Readonly<Record<string, unknown>>): ObservedState => ({
      ...observedOf(record),
      untouched: untouched && writes === 0,
    });
    const end = await reconcile({
      ...input,
      ifEmpty: true,
      settings: { observe: async () => shown(writes === 0 ? EN : FR) },
      writer: writers({
        store: async () => {
          writes += 1;
          return { kind: 'stored' };
        },
      }),
    });
    expect([end.status, writes]).toEqual([status, untouched ? 1 : 0]);
  },
);
