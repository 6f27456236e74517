/**
 * What setpoint predicts of a write from what a client sees, against recorded exchanges of real servers: the settings that follow are
 * those that were predicted from the settings right before, with tokens in the place of secrets that no read shows.
 */
import { describe, expect, it } from 'vitest';
import { isMaskedSecret } from '../../src/reconciler/model/secret-words.ts';
import { Secret, UnseenSecret } from '../../src/reconciler/model/secret.ts';
import type { ObservedState } from '../../src/reconciler/model/state.ts';
import {
  createRecord,
  isList,
  isRecord,
  sameValue,
  type Value,
  type ValueRecord,
} from '../../src/reconciler/model/value.ts';
import {
  AGENT_STORAGE,
  normalizeAgentRecord,
  observeAgentServer,
} from '../../src/reconciler/service/agent-server/read.ts';
import {
  APP_STORAGE,
  concealAnswer,
  observeAppServer,
} from '../../src/reconciler/service/app-server/read.ts';
import { readV0Record, V0_STORAGE } from '../../src/reconciler/service/settings-v0/read.ts';
import { PLACES } from '../../src/reconciler/service/app-server/dialect.ts';
import { flatRecord } from '../../src/reconciler/service/native.ts';
import { listsOf } from '../../src/reconciler/service/store-body.ts';
import { predictRequest, type Storage } from '../../src/reconciler/service/predict.ts';
import { AGENT_SERVER_FOLD } from './effects/agent-server.ts';
import { APP_SERVER_FOLD } from './effects/app-server.ts';
import { SETTINGS_V0_FOLD } from './effects/settings-v0.ts';
import {
  casesOf,
  type Exchange,
  type FoldedCase,
  type Folding,
  isMap,
  valueOf,
} from './effects/fold.ts';
import { fromEmpty } from './placeholders.ts';
import { type JsonRecord, recordThatDiffers } from './recorded-dialect.ts';

/** What of a dialect's recordings is compared. */
interface Predicting {
  readonly storage: Storage;
  readonly folding: Folding;
  readonly path: string;
  readonly observe: (record: ValueRecord) => ObservedState;
  /** What is stored before the first request, by the record that a file of recordings begins with. */
  readonly start?: (base: JsonRecord) => JsonRecord;
  /** True if a read leaves the secrets out. */
  readonly hides?: boolean;
  /** The least number of writes whose effect is compared. */
  readonly least: number;
}

const DIALECTS: Readonly<Record<string, Predicting>> = {
  'agent-server': {
    storage: AGENT_STORAGE,
    folding: AGENT_SERVER_FOLD,
    path: '/api/settings',
    observe: (record) => observeAgentServer(normalizeAgentRecord(record)),
    least: 700,
  },
  'app-server': {
    storage: APP_STORAGE,
    folding: APP_SERVER_FOLD,
    path: '/api/v1/settings',
    observe: (record) =>
      observeAppServer(
        flatRecord(concealAnswer(record), PLACES, (name, value) =>
          name === 'mcp_config' ? listsOf(isRecord(value) ? value : createRecord({})) : value,
        ),
      ),
    // The address of the provider is filled in by the first store, and is not shown: "" is none.
    start: (base) => recordThatDiffers(base, { agent_settings: { llm: { base_url: '' } } }),
    hides: true,
    least: 75,
  },
  'settings-v0': {
    storage: V0_STORAGE,
    folding: SETTINGS_V0_FOLD,
    path: '/api/settings',
    observe: (record) => {
      const observed = readV0Record('GET /api/settings', record);
      if ('code' in observed) throw observed;
      return observed;
    },
    // One file has no record of its own.
    start: () => casesOf('collections-settings-v0').base,
    least: 70,
  },
};

function isExchange(step: FoldedCase['steps'][number]): step is Exchange {
  return 'request' in step && 'response' in step;
}

/** Whether a read shows what is expected: of a secret its mask, or in some answers nothing. */
function isAlike(expected: Value, actual: Value, hides: boolean): boolean {
  if (expected instanceof Secret && (actual === null ? hides : isMaskedSecret(actual)))
    return !expected.isEmpty();
  if (isList(expected) && isList(actual))
    return (
      expected.length === actual.length &&
      expected.every((one, index) => isAlike(one, actual[index] ?? null, hides))
    );
  if (!isRecord(expected)) return sameValue(reveal(expected), reveal(actual));
  const shown = isRecord(actual) ? actual : createRecord({});
  if (actual !== shown && (actual !== null || !hides)) return false;
  const names = [...new Set([...Object.keys(expected), ...Object.keys(shown)])];
  return names.every((name) => isAlike(expected[name] ?? null, shown[name] ?? null, hides));
}

/** What is no secret, and was read as one. */
function reveal(value: Value): Value {
  return value instanceof Secret && !(value instanceof UnseenSecret) ? value.reveal() : value;
}

function differing(
  expected: ObservedState,
  actual: ObservedState,
  hides: boolean,
): readonly string[] {
  const names = new Set([...Object.keys(expected.values), ...Object.keys(actual.values)]);
  const values = [...names].filter(
    (name) => !isAlike(expected.values[name] ?? null, actual.values[name] ?? null, hides),
  );
  const secrets = [...actual.secrets].flatMap(([name, state]) =>
    state === 'not-reported' || (expected.secrets.get(name) ?? 'not-stored') === state
      ? []
      : [`secret ${name}`],
  );
  return [...values, ...secrets];
}

interface Predicted {
  readonly name: string;
  readonly step: number;
  readonly wrong: readonly string[];
}

/** Compares what follows the writes of the settings of a case. A write is answered with the settings, or a read follows it. */
function predicted(
  {
    storage,
    folding,
    path: settings,
    observe,
    start = (record) => record,
    hides = false,
  }: Predicting,
  base: JsonRecord,
  one: FoldedCase,
): readonly Predicted[] {
  if (one.releases?.includes('1.49.1') === true || one.given !== undefined || APART.has(one.name))
    return [];
  /** What is expected of the next read; null if that is not known. */
  let expected: ObservedState | null = observe(valueOf(start(base)) as ValueRecord);
  let isWritten = false;
  return one.steps.flatMap((step, index): readonly Predicted[] => {
    if (!isExchange(step)) {
      expected = null;
      return [];
    }
    const { request, response } = step;
    const { method, path, body } = request;
    const isOfSettings = path === settings || path.startsWith(`${settings}/mcp/`);
    if (!isOfSettings || response.status >= 300) {
      if (method !== 'GET' && response.status !== 422) expected = null;
      return [];
    }
    if (method !== 'GET' && expected !== null) {
      const isOfProfile = isMap(body) && typeof body['active_profile'] === 'string';
      const sent = { method, path, body: valueOf(isMap(body) ? body : {}) as never };
      expected =
        folding.odd(step, {}) !== null || isOfProfile
          ? null
          : predictRequest(storage, expected, sent).expected;
      isWritten = true;
    }
    const after = readAnswer(response, base);
    if (after === null) return [];
    const [from, isCompared] = [expected, isWritten];
    expected = observe(after);
    isWritten = false;
    if (from === null || !isCompared) return [];
    return [{ name: one.name, step: index, wrong: differing(from, expected, hides) }];
  });
}

/** The settings in an answer; null if it has none. */
function readAnswer({ differs, body }: Exchange['response'], base: JsonRecord): ValueRecord | null {
  const value = valueOf(
    differs === undefined
      ? fromEmpty(body as never, base)
      : recordThatDiffers(base, differs as JsonRecord),
  );
  const isSettings = isRecord(value) && ('llm_api_key_set' in value || 'agent_settings' in value);
  return isSettings ? value : null;
}

/** Cases that do not begin with what `start` has. */
const APART: ReadonlySet<string> = new Set(['llm: an unknown provider']);

describe.each(Object.entries(DIALECTS))(
  'what a write makes of the settings of %s',
  (_, dialect) => {
    it('is predicted from what a client sees', () => {
      const all = dialect.folding.files.flatMap((file) => {
        const { base, cases } = casesOf(file);
        return cases.flatMap((one) => predicted(dialect, base, one));
      });
      expect(all.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
      expect(all.length).toBeGreaterThan(dialect.least);
    });
  },
);
