import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import { isJsonObject, type Json, readOwnMember, readObjectMember } from '../json.ts';
import { fit } from '../native/fit.ts';
import { mergeVerdicts, bad, good, type Verdict } from '../rules.ts';
import { failure, findLoneSurrogate } from './body.ts';
import type { ServerContent } from './held.ts';
import { type Diffs, patchRecord } from './patch.ts';
import { llmOfProfile } from './llm-profiles.ts';
import {
  createSettingsAnswer,
  emptyRecord,
  type AgentServerKind,
  createRecordReading,
} from './record.ts';
import { parseExposure, type HeldRequest, type ContentResult, unreadable } from './requests.ts';

/** The answer to a refused value: it does not name the value. */
export const invalid = detail(422, 'Settings validation failed');

/** GET /api/settings. What is not stored, or cannot be read, is answered as its defaults. */
export function reading(kind: AgentServerKind): HeldRequest {
  return {
    does: ({ record }, asked) => {
      const exposure = parseExposure(asked);
      if (typeof exposure !== 'string') return exposure;
      return encodable(
        createSettingsAnswer(kind, record ?? emptyRecord(kind, asked.now), exposure),
      );
    },
  };
}

/** An answer that no encoding can carry is a failure. Source: contract "PATCH: a lone surrogate". */
function encodable(body: Json, status = 200): Answer {
  const found = findLoneSurrogate(body);
  if (found === undefined) return createJsonAnswer(status, body);
  const sentence = `can't encode character '${found.escaped}' in position ${found.position}: surrogates not allowed`;
  return failure(`Error serializing to JSON: UnicodeEncodeError: 'utf-8' codec ${sentence}`);
}

/** PATCH /api/settings: the body is read as JSON before the key is checked. */
export function patching(kind: AgentServerKind): HeldRequest {
  return {
    takes: (body) => checkSettingsDiffs(kind, body),
    does: (held, { body, now }) => {
      const diffs = readDiffs(body);
      if (diffs === undefined) return NOTHING;
      const name = readOwnMember(diffs.pointers, 'active_profile') ?? null;
      // With any member of the llm the name is not looked up. Source: contract "profiles: activate one that is not there".
      const isLlmSaid =
        diffs.agent !== undefined && readOwnMember(diffs.agent, 'llm') !== undefined;
      if (typeof name !== 'string' || isLlmSaid)
        return answerSettingsChange(kind, held, 200, diffs, now);
      const applied = llmOfProfile(held, name);
      if ('refused' in applied) return applied.refused;
      return answerSettingsChange(kind, held, 200, { ...diffs, llm: applied.thing }, now);
    },
  };
}

/** The settings after a change, and the answer that has all of them. */
export function answerSettingsChange(
  kind: AgentServerKind,
  held: ServerContent,
  status: number,
  diffs: Diffs,
  now: number,
): ContentResult {
  if (held.record === undefined) return unreadable;
  const record = patchRecord(kind, held.record, diffs, now);
  if (record === undefined) return invalid;
  const answer = encodable(createSettingsAnswer(kind, record, 'masked'), status);
  return { held: { ...held, record }, answer };
}

const DIFFS = [
  ['agent_settings_diff', 'agent'],
  ['conversation_settings_diff', 'conversation'],
  ['misc_settings_diff', 'misc'],
] as const;
const POINTERS = ['active_profile', 'active_agent_profile_id', 'active_meta_profile'] as const;

const NOTHING = detail(
  400,
  'At least one of agent_settings_diff, conversation_settings_diff, misc_settings_diff, active_profile, ' +
    'active_agent_profile_id, or active_meta_profile must be provided',
);

/** Checks that each member of a PATCH has its required shape. Unknown members have no effect. Source: contract "PATCH {}". */
function checkSettingsDiffs(kind: AgentServerKind, body: Json): Verdict {
  if (!isJsonObject(body)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return bad('model_attributes_type', ['body'], msg, body);
  }
  const verdicts: Verdict[] = DIFFS.map(([name]) => {
    const value = readOwnMember(body, name) ?? null;
    if (value === null || isJsonObject(value)) return good(value);
    return bad('dict_type', ['body', name], 'Input should be a valid dictionary', value);
  });
  for (const name of POINTERS) {
    const value = readOwnMember(body, name);
    if (value === undefined) continue;
    const node = kind.snapshot.properties?.[name] ?? {};
    verdicts.push(fit(createRecordReading(kind), node, value, ['body', name]));
  }
  const whole = mergeVerdicts(verdicts);
  return whole.kind === 'good' ? good(body) : whole;
}

/** Reads the changes in a PATCH; undefined if it has none. */
function readDiffs(body: Json): Diffs | undefined {
  if (!isJsonObject(body)) return undefined;
  const parts = DIFFS.flatMap(([name, part]) => {
    const value = readOwnMember(body, name) ?? null;
    return value === null ? [] : [[part, readObjectMember(body, name)] as const];
  });
  const pointers = POINTERS.flatMap((name) => {
    const value = readOwnMember(body, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (parts.length + pointers.length === 0) return undefined;
  return { ...Object.fromEntries(parts), pointers: Object.fromEntries(pointers) };
}
