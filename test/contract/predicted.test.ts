/**
 * What setpoint predicts of a write from what a client sees, against recorded exchanges of real servers: the settings that follow are
 * those that were predicted from the settings right before, with tokens in the place of secrets that no read shows.
 */
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/reconciler/model/secret.ts';
import type { ObservedState } from '../../src/reconciler/model/state.ts';
import {
  isList,
  isRecord,
  mapRecord,
  sameValue,
  type Value,
} from '../../src/reconciler/model/value.ts';
import {
  AGENT_STORAGE,
  normalizeAgentRecord,
  observeAgentServer,
} from '../../src/reconciler/service/agent-server/read.ts';
import { predictRequest } from '../../src/reconciler/service/predict.ts';
import { AGENT_SERVER_FOLD } from './effects/agent-server.ts';
import { casesOf, type Exchange, type FoldedCase, isMap, valueOf } from './effects/fold.ts';
import { fromEmpty } from './placeholders.ts';
import { type JsonRecord, recordThatDiffers } from './recorded-dialect.ts';

const SETTINGS = '/api/settings';

function isExchange(step: FoldedCase['steps'][number]): step is Exchange {
  return 'request' in step && 'response' in step;
}

function observe(record: unknown): ObservedState | null {
  const value = valueOf(record);
  return isRecord(value) && isRecord(value['agent_settings'])
    ? observeAgentServer(normalizeAgentRecord(value))
    : null;
}

/** What is shown of a value: of a secret only that there is one. */
function shown(value: Value): Value {
  if (value instanceof Secret) return value.isEmpty() ? null : 'a secret';
  if (isList(value)) return value.map(shown);
  return isRecord(value) ? mapRecord(value, shown) : value;
}

function differing(expected: ObservedState, actual: ObservedState): readonly string[] {
  const names = new Set([...Object.keys(expected.values), ...Object.keys(actual.values)]);
  const values = [...names].filter(
    (name) => !sameValue(shown(expected.values[name] ?? null), shown(actual.values[name] ?? null)),
  );
  const secrets = [...actual.secrets].flatMap(([name, state]) =>
    (expected.secrets.get(name) ?? 'not-stored') === state ? [] : [`secret ${name}`],
  );
  return [...values, ...secrets];
}

interface Predicted {
  readonly name: string;
  readonly step: number;
  readonly wrong: readonly string[];
}

function predicted(base: JsonRecord, one: FoldedCase): readonly Predicted[] {
  if (one.releases?.includes('1.49.1') === true || one.given !== undefined) return [];
  let before = observe(base);
  return one.steps.flatMap((step, index): readonly Predicted[] => {
    if (!isExchange(step)) {
      before = null;
      return [];
    }
    const { request, response } = step;
    const { method, path, body } = request;
    const isOfSettings = path === SETTINGS || path.startsWith(`${SETTINGS}/mcp/`);
    if (!isOfSettings || response.status >= 300) {
      if (method !== 'GET') before = null;
      return [];
    }
    const { differs } = response;
    const record =
      differs === undefined
        ? fromEmpty(response.body as never, base)
        : recordThatDiffers(base, differs as JsonRecord);
    const [from, after] = [before, observe(record)];
    before = after;
    const isOdd = AGENT_SERVER_FOLD.odd(step, {}) !== null;
    const isOfProfile = isMap(body) && typeof body['active_profile'] === 'string';
    if (method === 'GET' || from === null || after === null || isOdd || isOfProfile) return [];
    const sent = { method, path, body: valueOf(isMap(body) ? body : {}) as never };
    const { expected } = predictRequest(AGENT_STORAGE, from, sent);
    return [{ name: one.name, step: index, wrong: differing(expected, after) }];
  });
}

describe('what a write makes of the settings of an Agent Server', () => {
  it('is predicted from what a client sees', () => {
    const all = AGENT_SERVER_FOLD.files.flatMap((file) => {
      const { base, cases } = casesOf(file);
      return cases.flatMap((one) => predicted(base, one));
    });
    expect(all.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
    expect(all.length).toBeGreaterThan(400);
  });
});
