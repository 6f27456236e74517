import { expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/reconciler/model/secret.ts';
import { createRecord } from '../../src/reconciler/model/value.ts';
import { EMPTY_STORE } from '../../src/reconciler/service/app-server/read.ts';
import { startAppServer, storedRecord } from '../fixture/app-server.ts';
import { serviceAt, tellsNothing } from './service.ts';

it('a refusal repeats what is stored, and none of it is shown', async () => {
  const llm = { api_key: 'canary-stored' };
  const store = await startAppServer(storedRecord({ agent_settings: { llm } }));
  onTestFinished(() => store.close());
  const server = { apiKey: new Secret('contract-key', '${env:KEY}') };
  const service = serviceAt(store.url, { server });
  const fields = createRecord([['max_iterations', 0]]);
  const answer = await service.store({ fields, observed: EMPTY_STORE });
  expect(answer).toMatchObject({
    kind: 'not-applied',
    reached: true,
    error: { code: 'settings-refused' },
  });
  if (answer.kind === 'stored') throw new Error('it was stored');
  expect(answer.error.message).toBe(
    `POST ${store.url}/api/v1/settings was refused as invalid (status 400). The answer is not shown, because it repeats stored secrets.`,
  );
  tellsNothing(answer.error);
});
