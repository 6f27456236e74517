import { isJsonList, isJsonObject, type Json, type JsonObject, readTextMember } from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import {
  bad,
  checkObject,
  crash,
  flagRule,
  good,
  integerRule,
  type Location,
  type Member,
  mergeVerdicts,
  nullable,
  refuseValue,
  type Rule,
  textRule,
  type Verdict,
} from '../rules.ts';

/* What an automation service takes of an automation. */

function scalar(node: Parameters<typeof fitScalar>[0]): Rule {
  return (value, at) => fitScalar(node, { isNamed: false }, value, at);
}

/** A text that also passes a test: the sentence of what is wrong with it, or null. */
export function createJudgedText(judge: (value: string) => string | null): Rule {
  return (value, at) => {
    const problem = typeof value === 'string' ? judge(value) : null;
    return problem === null ? textRule(value, at) : refuseValue(problem, at, value);
  };
}

/** Judges only whether the last bracket of an expression ends. */
export function judgeExpression(value: string): string | null {
  const mark = `${' '.repeat(value.length + 1)}^`;
  return value.endsWith('[')
    ? `Invalid jmespath expression: Incomplete expression:\n"${value}"\n${mark}`
    : null;
}

const expression = nullable(
  createJudgedText((value) => {
    const problem = judgeExpression(value);
    return problem === null ? null : `Invalid filter expression: ${problem}`;
  }),
);

const RANGES = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** Counts the fields of a schedule and judges its numbers; refuses the 31st of February. */
function judgeSchedule(value: string): string | null {
  const fields = value.trim().split(/\s+/);
  const own = fields.length === 6 ? fields.slice(1) : fields;
  const isFit = (field: string, index: number): boolean =>
    [...field.matchAll(/\d+/g)].every(([digits]) => {
      const [least = 0, most = 0] = RANGES[index] ?? [];
      return field.includes('/') || (Number(digits) >= least && Number(digits) <= most);
    });
  const isWord = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/.test(value.trim());
  if (!isWord && (own.length !== 5 || !own.every(isFit)))
    return `Invalid cron expression: ${value}`;
  return own[2] === '31' && own[3] === '2'
    ? `Cron expression cannot produce any future fire times: ${value}`
    : null;
}

function judgeZone(value: string): string | null {
  if (value === '') return 'ZoneInfo keys must be normalized relative paths, got: ';
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions();
    const isSpelt = timeZone === value || timeZone.toLowerCase() !== value.toLowerCase();
    return isSpelt ? null : `Invalid timezone: ${value}`;
  } catch {
    return `Invalid timezone: ${value}`;
  }
}

const TRIGGERS: Readonly<Record<string, readonly Member[]>> = {
  cron: [
    { name: 'type', rule: textRule },
    { name: 'schedule', rule: createJudgedText(judgeSchedule) },
    { name: 'timezone', rule: createJudgedText(judgeZone), absent: 'UTC' },
  ],
  event: [
    { name: 'type', rule: textRule },
    { name: 'source', rule: textRule },
    { name: 'on', rule: (value, at) => (isJsonList(value) ? good(value) : textRule(value, at)) },
    { name: 'filter', rule: expression, absent: null },
    {
      name: 'destination',
      rule: (value, at) => {
        const expected = "'dispatch_run' or 'continue_conversation'";
        if (['dispatch_run', 'continue_conversation'].some((one) => one === value))
          return good(value);
        return addContext(bad('literal_error', at, `Input should be ${expected}`, value), {
          expected,
        });
      },
      absent: 'dispatch_run',
    },
    { name: 'subject_key_expr', rule: expression, absent: null },
    { name: 'turn_text_expr', rule: expression, absent: null },
    { name: 'wake_agent', rule: flagRule, absent: true },
  ],
};

const triggerRule: Rule = (value, at) => {
  const tag = isJsonObject(value) ? readTextMember(value, 'type') : '';
  const members = TRIGGERS[tag];
  if (members !== undefined) return checkObject(members, 'refused', value, [...at, tag]);
  const discriminator = '_get_trigger_discriminator()';
  const found = tag === '' ? '__missing_trigger_type__' : tag;
  const expected_tags = "'cron', 'event'";
  const msg = `Input tag '${found}' found using ${discriminator} does not match any of the expected tags: ${expected_tags}`;
  return addContext(bad('union_tag_invalid', at, msg, value), {
    discriminator,
    tag: found,
    expected_tags,
  });
};

function addContext(verdict: Verdict<never>, ctx: JsonObject): Verdict<never> {
  if (verdict.kind !== 'bad') return verdict;
  return { kind: 'bad', problems: verdict.problems.map((problem) => ({ ...problem, ctx })) };
}

const REPO_URL = createJudgedText((value) =>
  /^(https?:\/\/|git@)\S+$/.test(value) || /^[^\s/:]+\/[^\s/]+$/.test(value)
    ? null
    : "URL must be 'owner/repo' format or a valid git URL (https:// or git@)",
);

const repository: Rule = (value, at) => {
  const own = typeof value === 'string' ? { url: value } : value;
  const members = [
    { name: 'url', rule: REPO_URL },
    { name: 'ref', rule: nullable(textRule), absent: null },
    { name: 'provider', rule: nullable(textRule), absent: null },
  ];
  const verdict = checkObject(members, 'refused', own, at);
  if (verdict.kind !== 'good') return verdict;
  const { url, provider } = verdict.value;
  if (provider === null && typeof url === 'string' && !/^(https?:|git@)/.test(url))
    return refuseValue(
      `Short URL format '${url}' requires explicit 'provider' field. Use: {"url": "owner/repo", "provider": "github"} or provide a full URL like https://github.com/owner/repo`,
      at,
      value,
    );
  return good(
    Object.fromEntries(Object.entries(verdict.value).filter(([, inner]) => inner !== null)),
  );
};

/** One or several; none is no list. */
const repositories: Rule = (value, at) => {
  const list = isJsonList(value) ? value : [value];
  const verdict = mergeVerdicts(list.map((one, index) => repository(one, [...at, BigInt(index)])));
  return verdict.kind === 'good' && verdict.value.length === 0 ? good(null) : verdict;
};

const timeout: Rule = (value, at) => {
  const verdict = integerRule(value, at);
  if (verdict.kind !== 'good') return verdict;
  if (Number(verdict.value) <= 0)
    return refuseValue('timeout must be a positive number', at, value);
  if (Number(verdict.value) > 1800)
    return refuseValue('timeout must not exceed 1800 seconds (30 minutes)', at, value);
  return verdict;
};

const state: Rule = (value, at) => {
  if (value === 'DRAFT')
    return refuseValue(
      'state=DRAFT is reserved for automation draft test artifacts. Use the /v1/drafts API endpoints to create drafts.',
      at,
      value,
    );
  if (value === 'ACTIVE' || value === 'INACTIVE') return good(value);
  const expected = "<AutomationState.ACTIVE: 'ACTIVE'> or <AutomationState.INACTIVE: 'INACTIVE'>";
  return addContext(bad('literal_error', at, `Input should be ${expected}`, value), { expected });
};

/** Source: contract "tags: folded". */
const tags: Rule = (value, at) => {
  if (value === null) return refuseValue('tags cannot be null; send [] to clear them', at, value);
  if (!isJsonList(value)) return bad('list_type', at, 'Input should be a valid list', value);
  const texts = value.map((one) => (typeof one === 'string' ? foldTag(one) : ''));
  if (texts.includes('')) return refuseValue('tags must not be empty', at, value);
  if (!texts.every((one) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(one)))
    return refuseValue(BAD_TAG, at, value);
  const own = [...new Set(texts)];
  if (own.length > 10) return refuseValue('an automation supports at most 10 tags', at, value);
  return good(own);
};

const BAD_TAG = 'tags may only contain lowercase letters, numbers, and single hyphens between them';

export function foldTag(tag: string): string {
  return tag.trim().toLowerCase().replaceAll(/\s+/g, '-');
}

/** The refusal of a tag that is searched for; null for one that there may be. */
export function judgeTag(tag: string): string | null {
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(foldTag(tag)) ? null : BAD_TAG;
}

const uuid: Rule = (value, at) => {
  const text = typeof value === 'string' ? value : '';
  if (/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(text)) return good(text);
  const found = /[^\da-f-]/i.exec(text);
  const error = `invalid character: found \`${found?.[0] ?? ''}\` at ${found?.index ?? 0}`;
  return addContext(bad('uuid_parsing', at, `Input should be a valid UUID, ${error}`, value), {
    error,
  });
};

const mapRule: Rule = (value, at) =>
  isJsonObject(value)
    ? good(value)
    : bad('dict_type', at, 'Input should be a valid dictionary', value);

const model = scalar({
  type: 'string',
  minLength: 1,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
});
const nameRule = scalar({ type: 'string', minLength: 1, maxLength: 500 });
const description = nullable(scalar({ type: 'string', maxLength: 2000 }));
const prompt = scalar({ type: 'string', minLength: 1, maxLength: 50_000 });

const COMMON: readonly Member[] = [
  { name: 'description', rule: description, absent: null },
  { name: 'model', rule: nullable(model), absent: null },
  { name: 'timeout', rule: nullable(timeout), absent: null },
  { name: 'keep_alive', rule: nullable(flagRule), absent: null },
  { name: 'enabled', rule: flagRule, absent: true },
  { name: 'state', rule: nullable(state), absent: null },
  { name: 'observability_associations', rule: nullable(mapRule), absent: null },
  { name: 'template', rule: nullable(mapRule), absent: null },
];

function creationRule(members: readonly Member[]): Rule {
  const all = [{ name: 'name', rule: nameRule }, ...members, ...COMMON];
  return (body, at) => checkState(checkObject(all, 'refused', body, at), body, at);
}

export const newPrompt = creationRule([
  { name: 'prompt', rule: prompt },
  { name: 'trigger', rule: triggerRule },
  { name: 'repos', rule: nullable(repositories), absent: null },
]);

/** An archive of its own. */
export const newArchive = creationRule([
  { name: 'trigger', rule: triggerRule },
  { name: 'tarball_path', rule: textRule },
  { name: 'entrypoint', rule: textRule },
  { name: 'setup_script_path', rule: nullable(textRule), absent: null },
  { name: 'tags', rule: tags, absent: [] },
  { name: 'agent_profile_id', rule: nullable(uuid), absent: null },
]);

function checkState(verdict: Verdict<JsonObject>, body: Json, at: Location): Verdict {
  if (verdict.kind !== 'good' || !isJsonObject(body)) return verdict;
  const { enabled, state: own } = body;
  const isOn = verdict.value['enabled'];
  if (own === undefined || own === null) return verdict;
  if (enabled !== undefined && isOn !== (own === 'ACTIVE'))
    return refuseValue('enabled must be true only when state is ACTIVE', at, body);
  return good({ ...verdict.value, enabled: own === 'ACTIVE' });
}

const CHANGED: readonly Member[] = [
  { name: 'name', rule: nullable(nameRule), absent: null },
  { name: 'prompt', rule: nullable(scalar({ type: 'string', maxLength: 50_000 })), absent: null },
  { name: 'trigger', rule: nullable(triggerRule), absent: null },
  { name: 'repos', rule: nullable(repositories), absent: null },
  ...COMMON.filter(({ name }) => name !== 'template' && name !== 'enabled'),
  { name: 'enabled', rule: nullable(flagRule), absent: null },
  { name: 'tags', rule: tags, absent: [] },
  { name: 'agent_profile_id', rule: nullable(uuid), absent: null },
  { name: 'entrypoint', rule: nullable(textRule), absent: null },
  { name: 'tarball_path', rule: nullable(textRule), absent: null },
  { name: 'setup_script_path', rule: nullable(textRule), absent: null },
  { name: 'plugin', rule: mapRule, absent: null },
];

/** Null for what has to be there crashes the server, which finds out when it stores it. */
export const changedAutomation: Rule = (body, at) => {
  const checked = checkState(checkObject(CHANGED, 'refused', body, at), body, at);
  if (checked.kind !== 'good' || !isJsonObject(body) || !isJsonObject(checked.value))
    return checked;
  const { value } = checked;
  const sent = Object.keys(body).map((name) => [name, value[name] ?? null] as const);
  const isBroken = sent.some(([name, own]) => own === null && REQUIRED.includes(name));
  const all = Object.fromEntries(sent);
  const { state: own } = body;
  return isBroken
    ? crash
    : good(typeof own === 'string' ? { ...all, enabled: own === 'ACTIVE' } : all);
};

const REQUIRED = ['name', 'trigger', 'enabled', 'entrypoint', 'tarball_path'];
