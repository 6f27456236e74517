import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';
import { detail, unprocessable, type Answer } from '../http/answer.ts';
import { fit } from '../native/fit.ts';
import { allOf, bad, good, type Verdict } from '../validation/rule.ts';
import type { Diffs } from './patch.ts';
import { type Kind, readingOf } from './record.ts';

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

export type ReadDiffs =
  | { readonly kind: 'diffs'; readonly diffs: Diffs }
  | { readonly kind: 'refused'; readonly answer: Answer };

/** What a PATCH asks for. Members that it does not know say nothing. Source: contract "PATCH {}". */
export function readDiffs(kind: Kind, body: Json): ReadDiffs {
  if (!isJsonObject(body)) {
    const msg = 'Input should be a valid dictionary or object to extract fields from';
    return refused([bad('model_attributes_type', ['body'], msg, body)]);
  }
  const diffs: Partial<Record<(typeof DIFFS)[number][1], JsonObject>> = {};
  const pointers: Record<string, Json> = {};
  const verdicts: Verdict[] = [];
  for (const [name, part] of DIFFS) {
    const value = memberOf(body, name) ?? null;
    if (isJsonObject(value)) diffs[part] = value;
    else if (value !== null)
      verdicts.push(bad('dict_type', ['body', name], 'Input should be a valid dictionary', value));
  }
  for (const name of POINTERS) {
    const value = memberOf(body, name);
    if (value === undefined) continue;
    pointers[name] = value;
    const node = kind.snapshot.properties?.[name] ?? {};
    verdicts.push(fit(readingOf(kind), node, value, ['body', name]));
  }
  const whole = refused(verdicts);
  if (whole.kind === 'refused') return whole;
  const says = Object.keys(diffs).length + Object.keys(pointers).length;
  if (says === 0) return { kind: 'refused', answer: NOTHING };
  const named = memberOf(pointers, 'active_profile') ?? null;
  const isLlmSaid = diffs.agent !== undefined && memberOf(diffs.agent, 'llm') !== undefined;
  const applies = typeof named === 'string' && !isLlmSaid ? { applies: named } : {};
  return { kind: 'diffs', diffs: { ...diffs, pointers, ...applies } };
}

function refused(verdicts: readonly Verdict[]): ReadDiffs {
  const whole = allOf([...verdicts, good(null)]);
  if (whole.kind !== 'bad') return { kind: 'diffs', diffs: { pointers: {} } };
  return { kind: 'refused', answer: unprocessable(whole.problems) };
}
