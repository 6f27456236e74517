/** Every record that an Agent Server of release 1.57.0 was seen to answer, as setpoint reads it. */
import { stringify } from 'lossless-json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maskSecrets } from '../../src/reconciler/model/value.ts';
import { serviceAt } from '../faults/service.ts';
import { onLoopback } from '../fixture/on-loopback.ts';
import { recordedDialect, recordThatDiffers, type Json } from './recorded-dialect.ts';

const { base, cases } = recordedDialect('agent-server');

/** The mask of the server, and the secrets that the recorded cases store: some answers have them in clear. */
const HIDDEN = /\*{10}|sk-example-\d|mcp-(?:head|bearer|sse|env)-\d/;

describe('a recorded answer', () => {
  let answer: Json = null;
  let server: Awaited<ReturnType<typeof onLoopback>>;
  beforeAll(async () => {
    server = await onLoopback((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(stringify(answer));
    });
  });
  afterAll(() => server.close());

  for (const { name, steps } of cases) {
    const records = steps.flatMap((step) => {
      if (!('response' in step) || step.response.differs === undefined) return [];
      return [{ record: recordThatDiffers(base, step.response.differs), step }];
    });
    if (records.length === 0) continue;
    it(`${name}: is read, with nothing of a secret but whether it is stored`, async () => {
      const { observer } = serviceAt(server.url);
      for (const { record, step } of records) {
        answer = record;
        const state = await observer.observe();
        expect(state.dialect.name).toBe('agent-server');
        expect(state).toMatchObject({ stored: true, release: expect.stringContaining('1.') });
        const isSet = stringify(record['llm_api_key_is_set']) === 'true';
        expect(state.secrets.get('llm_api_key')).toBe(isSet ? 'stored' : 'not-stored');
        const shown = JSON.stringify([maskSecrets(state.answer), maskSecrets(state.values)]);
        expect(shown).not.toMatch(HIDDEN);
        expect(step.request.path).toContain('/api/settings');
      }
    });
  }
});
