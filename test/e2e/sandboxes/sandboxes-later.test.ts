/** Releases 1.9.3 and 1.10.0 fail to list sandboxes while no settings are stored: behaviour 3.1. */
import { expect, it, onTestFinished } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { request } from '../../fixture/settings.ts';
import { startStore } from '../../fixture/store-server.ts';

const SETTINGS = '  language: en\n  sandbox_api_key: null\n';

async function started(stored: { language: string } | null) {
  const store = await startStore({}, stored);
  onTestFinished(() => store.close());
  let starts = 0;
  store.intercept = ({ method, url = '' }, response) => {
    if (!url.startsWith('/api/v1/')) return false;
    const json = { 'content-type': 'application/json' };
    if (method === 'POST') {
      starts += 1;
      response.writeHead(200, json).end('{"id":"box-1","status":"STARTING"}');
    } else if (store.stored === null) {
      response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error');
    } else {
      const box = { id: 'box-1', sandbox_spec_id: 'a', status: 'RUNNING', created_at: null };
      const items = starts === 0 ? [] : [box];
      response.writeHead(200, json).end(JSON.stringify({ items, next_page_id: null }));
    }
    return true;
  };
  return { store, starts: () => starts };
}

it('the settings are written without them, and the next apply starts what is declared', async () => {
  const { store, starts } = await started(null);
  const asked = request(store.url, `${SETTINGS}sandboxes: [{ running: 1 }]\n`);
  const planned = (await plan(asked)).environments[0];
  expect(planned).toMatchObject({
    status: 'differs',
    error: null,
    changes: [{ path: ['language'] }],
    warnings: [{ code: 'sandbox-later' }, {}],
  });
  const first = (await apply(asked)).environments[0];
  expect(first).toMatchObject({ status: 'partial', error: { code: 'applied-in-part' } });
  expect(first?.error?.hint).toContain('Apply again');
  expect([store.stored, starts()]).toEqual([{ language: 'en' }, 0]);
  expect((await apply(asked)).environments[0]).toMatchObject({ status: 'applied', error: null });
  expect(starts()).toBe(1);
});

it('a failure to list them is an error if something is stored', async () => {
  const { store } = await started({ language: 'de' });
  store.intercept = ({ url = '' }, response) => {
    if (!url.startsWith('/api/v1/')) return false;
    response.writeHead(500, { 'content-type': 'text/plain' }).end('Internal Server Error');
    return true;
  };
  const asked = request(store.url, `${SETTINGS}sandboxes: [{ running: 1 }]\n`);
  expect((await plan(asked)).environments[0]).toMatchObject({
    status: 'error',
    error: { code: 'server-error' },
  });
});
