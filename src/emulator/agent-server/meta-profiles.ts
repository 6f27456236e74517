import { createJsonAnswer } from '../http/answer.ts';
import {
  isJsonList,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import {
  refuseValue,
  checkObject,
  listRule,
  nullable,
  type Location,
  type Rule,
  textRule,
  type Verdict,
} from '../rules.ts';
import type { ServerContent } from './held.ts';
import { loadThing, type NamedCollection, nameRule } from './named.ts';
import { setRoutingProfile } from './patch.ts';
import { unreadableFailure } from './requests.ts';

const TOLD = {
  collection: 'meta_profiles',
  title: 'Meta-profile',
  noun: 'meta-profile',
} as const;

/** /api/meta-profiles: which LLM profile gets which task. The names in them are not looked up. */
export const metaProfiles: NamedCollection = {
  ...TOLD,
  path: '/api/meta-profiles',
  takes: routing,
  listed: (named, { record = {} }) => ({
    meta_profiles: named.map(([name, profile]) => {
      const classes = readOwnMember(profile, 'classes') ?? null;
      const num_classes = BigInt(isJsonList(classes) ? classes.length : 0);
      return {
        name,
        classifier_model: readOwnMember(profile, 'classifier_model') ?? null,
        num_classes,
      };
    }),
    active_meta_profile: readOwnMember(record, 'active_meta_profile') ?? null,
  }),
  shown: (_, config, { sent }) => createJsonAnswer(200, { name: sent, config }),
  removed: (left, _, { sent }) => {
    const isActive = readOwnMember(left.record ?? {}, 'active_meta_profile') === sent;
    return isActive ? setMetaProfile(left, null, null) : left;
  },
  verbs: {
    // The profile is copied: a later change of it does not reach the settings.
    activate: {
      names: nameRule,
      does: (held, { sent }) => {
        const found = loadThing(TOLD, held, sent);
        if ('refused' in found) return found.refused;
        if (held.record === undefined) return unreadableFailure;
        const answer = createJsonAnswer(200, {
          name: sent,
          message: `Meta-profile '${sent}' activated`,
        });
        return { held: setMetaProfile(held, sent, found.thing), answer };
      },
    },
  },
};

/** The settings with another meta profile, as a copy; an agent of another maker has none. */
function setMetaProfile(
  held: ServerContent,
  name: string | null,
  copy: JsonObject | null,
): ServerContent {
  const { record = {} } = held;
  const agent = readObjectMember(record, 'agent_settings');
  if (readOwnMember(agent, 'agent_kind') === 'acp')
    return { ...held, record: { ...record, active_meta_profile: null } };
  const settings = { ...setRoutingProfile(agent, name), meta_profile: copy };
  return { ...held, record: { ...record, active_meta_profile: name, agent_settings: settings } };
}

const classRule: Rule = (value, at) =>
  checkObject(
    [
      { name: 'description', rule: textRule },
      { name: 'model', rule: textRule },
    ],
    'ignored',
    value,
    at,
  );

const classesRule = listRule(classRule);

/** Either classes or a prompt of its own. Source: contract "meta profiles: a direct prompt", "meta profiles: refused". */
function routing(body: Json, at: Location): Verdict {
  const members = [
    { name: 'classifier_model', rule: textRule },
    { name: 'classes', rule: classesRule, absent: [] },
    { name: 'prompt_template', rule: nullable(textRule), absent: null },
    { name: 'model_table', rule: nullable(textRule), absent: null },
  ];
  const verdict = checkObject(members, 'ignored', body, at);
  if (verdict.kind !== 'good' || readOwnMember(verdict.value, 'prompt_template') === null)
    return verdict;
  const direct = 'Direct-routing meta-profiles';
  if (!/\{\{\s*instance_text\s*\}\}/.test(readTextMember(verdict.value, 'prompt_template')))
    return refuseValue(`${direct} must include {{ instance_text }} in prompt_template.`, at, body);
  const classes = readOwnMember(verdict.value, 'classes') ?? null;
  if (isJsonList(classes) && classes.length > 0)
    return refuseValue(`${direct} cannot also define classes.`, at, body);
  return verdict;
}
