import { usageError } from '../model/error.ts';
import { RULES } from '../model/guard.ts';
import { OBSERVABLE } from '../model/observed.ts';
import { didYouMean, namesListed } from '../model/wording.ts';
import {
  LARGEST_FILE_SIZE,
  type ApplyRequest,
  type DoctorRequest,
  type ExplainRequest,
  type GetRequest,
  type InitRequest,
  type Options,
  type PlanRequest,
  type PullRequest,
  type SmokeRequest,
} from '../operations/options.ts';

/** The values that an option takes, in words that complete `OPTION must be`. */
interface Rule {
  readonly words: string;
  readonly accepts: (value: unknown) => boolean;
}

/** The options of the command line, which a request of the library does not have. */
type Internal = 'several' | 'dotenvHas' | 'targetsFrom' | 'selectorFrom' | 'checkout';

/** A rule for each option of a request: an option without one does not compile. */
type Rules<R> = { readonly [Name in Exclude<keyof R, Internal>]-?: Rule };

const isText = (value: unknown): boolean => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (value: unknown, least: number, most: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const has = (...names: readonly string[]) => {
  return (value: unknown): boolean =>
    isObject(value) && names.every((name) => typeof value[name] === 'function');
};

const TEXT: Rule = { words: 'a string', accepts: isText };
const TEXTS: Rule = { words: 'an array of strings', accepts: isTexts };
const TEXT_OR_TEXTS: Rule = {
  words: 'a string or an array of strings',
  accepts: (value) => isText(value) || isTexts(value),
};
const FLAG: Rule = { words: 'true or false', accepts: (value) => typeof value === 'boolean' };
const FUNCTION: Rule = { words: 'a function', accepts: (value) => typeof value === 'function' };
const SIGNAL: Rule = {
  words: 'an AbortSignal',
  accepts: (value) => value instanceof AbortSignal,
};
const WAIT: Rule = {
  words: 'a number of milliseconds, from 0',
  accepts: (value) => Number.isFinite(value) && Number(value) >= 0,
};
const TIME: Rule = {
  words: 'a number of milliseconds, above 0',
  accepts: (value) => Number.isFinite(value) && Number(value) > 0,
};
const PATHS_OR_ALL: Rule = {
  words: "'all' or an array of paths",
  accepts: (value) => value === 'all' || isTexts(value),
};

const COMMON: Rules<Options> = {
  file: TEXT_OR_TEXTS,
  text: TEXT,
  state: {
    words: 'the path of a folder, or null',
    accepts: (value) => value === null || isText(value),
  },
  env: {
    words: 'an object of strings, such as process.env',
    accepts: (value) =>
      isObject(value) && Object.values(value).every((one) => one === undefined || isText(one)),
  },
  resolveSecret: FUNCTION,
  targets: TEXTS,
  selector: TEXT_OR_TEXTS,
  shard: {
    words: '{ index, count } with 0 <= index < count',
    accepts: (value) =>
      isObject(value) &&
      isWhole(value['count'], 1, 9999) &&
      isWhole(value['index'], 0, Number(value['count']) - 1),
  },
  onSelected: FUNCTION,
  server: TEXT,
  timeout: TIME,
  tries: { words: 'a whole number, from 1', accepts: (value) => isWhole(value, 1, 1000) },
  policy: {
    words: 'a JSON Schema or the path of one',
    accepts: (value) => isText(value) || isObject(value),
  },
  base: {
    words: 'a path or { text }',
    accepts: (value) => isText(value) || (isObject(value) && isText(value['text'])),
  },
  maxFileSize: {
    words: `a whole number of bytes, up to ${LARGEST_FILE_SIZE}`,
    accepts: (value) => isWhole(value, 1, LARGEST_FILE_SIZE),
  },
  parallel: {
    words: 'a whole number from 1 to 999',
    accepts: (value) => isWhole(value, 1, 999),
  },
  dispatcher: { words: 'an object with dispatch(), such as an Agent', accepts: has('dispatch') },
  clock: {
    words: 'an object with now(), monotonic() and sleep()',
    accepts: has('now', 'monotonic', 'sleep'),
  },
  wait: WAIT,
  waitReady: WAIT,
  onStarting: FUNCTION,
  onEnvironment: FUNCTION,
  signal: SIGNAL,
};

const PLAN: Rules<PlanRequest> = {
  ...COMMON,
  check: FLAG,
  onChecks: FUNCTION,
  rotate: PATHS_OR_ALL,
  without: TEXTS,
  only: TEXTS,
  snapshot: {
    words: 'the document that get() returned, or its path',
    accepts: (value) => isText(value) || isObject(value),
  },
  allow: {
    words: `an array of the names of rules: ${namesListed(RULES)}`,
    accepts: (value) =>
      Array.isArray(value) &&
      value.every((one) => isText(one) && RULES.some((rule) => rule === one.replaceAll('_', '-'))),
  },
  digests: FLAG,
  differences: FLAG,
  strict: FLAG,
  onProgress: FUNCTION,
  maxFailures: {
    words: "a whole number, or a share such as '10%'",
    accepts: (value) =>
      isWhole(value, 0, 999_999) || (isText(value) && /^(100|\d{1,2})%$/.test(String(value))),
  },
  maxAge: TIME,
};

const { snapshot: _, digests: __, ...OF_PLAN } = PLAN;
const APPLY: Rules<ApplyRequest> = {
  ...OF_PLAN,
  all: FLAG,
  approved: { words: 'the document that plan() returned', accepts: isObject },
  ifEmpty: FLAG,
  onPlan: FUNCTION,
  confirm: FUNCTION,
  beforeWrite: FUNCTION,
  abandon: SIGNAL,
};

const { rotate: _r, allow: _a, without: _w, differences: _d, snapshot: _s, ...DRIFT } = PLAN;

const DIALECT: Rule = {
  words: "'settings-v0', 'app-server' or 'agent-server'",
  accepts: (value) => ['settings-v0', 'app-server', 'agent-server'].includes(String(value)),
};
const { targets: _t, text: _x, ...OF_FILE } = COMMON;

/** The options of each function. */
const FUNCTIONS = {
  plan: PLAN,
  apply: APPLY,
  drift: DRIFT,
  validate: COMMON,
  effective: COMMON,
  pull: {
    ...COMMON,
    adopt: PATHS_OR_ALL,
    check: FLAG,
    force: FLAG,
    onEdit: FUNCTION,
  } satisfies Rules<PullRequest>,
  init: {
    ...OF_FILE,
    environment: TEXT,
    from: TEXTS,
    dialect: DIALECT,
    automationUrl: TEXT,
  } satisfies Rules<InitRequest>,
  explain: { ...COMMON, path: TEXT, offline: FLAG } satisfies Rules<ExplainRequest>,
  get: {
    ...COMMON,
    resources: {
      words: `an array of: ${namesListed(OBSERVABLE)}`,
      accepts: (value) =>
        Array.isArray(value) && value.every((one) => OBSERVABLE.some((known) => known === one)),
    },
    digests: FLAG,
  } satisfies Rules<GetRequest>,
  doctor: { ...COMMON, check: FLAG, onChecks: FUNCTION } satisfies Rules<DoctorRequest>,
  smoke: {
    ...COMMON,
    all: FLAG,
    message: TEXT,
    confirm: FUNCTION,
    onStep: FUNCTION,
    abandon: SIGNAL,
  } satisfies Rules<SmokeRequest>,
} as const;

export type FunctionName = keyof typeof FUNCTIONS;

/** The rules of each function, by the names of its options. */
export const OPTION_RULES: Readonly<Record<FunctionName, Readonly<Record<string, Rule>>>> =
  FUNCTIONS;

const {
  text: _x2,
  snapshot: _s2,
  maxAge: _m2,
  digests: _d2,
  differences: _f2,
  rotate: _r2,
  maxFailures: _l2,
  ...WATCHED
} = PLAN;

const CONTROLLER: Readonly<Record<string, Rule>> = {
  request: { words: 'an object: what is watched', accepts: isObject },
  data: TEXT,
  interval: TIME,
  parallel: COMMON.parallel,
  soak: WAIT,
  maxFailures: PLAN.maxFailures,
  approved: { words: 'the document that plan() returned', accepts: isObject },
  abandon: SIGNAL,
  report: FUNCTION,
  late: FUNCTION,
  clock: COMMON.clock,
};

/** The options that a function must have. */
const REQUIRED: Readonly<Record<string, string>> = {
  env: 'Pass process.env, or the variables that the file may read.',
  path: 'Name the field, such as llm_model.',
  request: 'Say what is watched, such as { file, env }.',
  data: 'Name a folder for the journal.',
};

/** Options that do not go together, in each case the two that are named. */
const EXCLUDING: readonly (readonly [string, string])[] = [
  ['text', 'file'],
  ['snapshot', 'check'],
  ['snapshot', 'server'],
  ['snapshot', 'waitReady'],
  ['snapshot', 'maxFailures'],
];

/**
 * Throws a usage error that names the option if a request of a function has one that is unknown or misspelt, has a value that it does
 * not take, is missing, or does not go with another one. No value is repeated: it may be a secret.
 */
export function checkRequest(name: FunctionName, request: unknown): void {
  checkOptions(`${name}()`, request, OPTION_RULES[name]);
}

/** The same of the request of a controller, and of what it watches. */
export function checkControllerRequest(request: unknown): void {
  checkOptions('openController()', request, CONTROLLER);
  if (isObject(request)) checkOptions('openController(): request', request['request'], WATCHED);
}

function checkOptions(
  place: string,
  request: unknown,
  rules: Readonly<Record<string, Rule>>,
): void {
  if (!isObject(request)) throw usageError(`${place} takes one object of options.`, HINT);
  const isGiven = (option: string): boolean =>
    option in rules && request[option] !== undefined && request[option] !== false;
  for (const [option, value] of Object.entries(request)) {
    const rule = Object.hasOwn(rules, option) ? rules[option] : undefined;
    if (rule === undefined) {
      const names = Object.keys(rules);
      const hint = didYouMean(option, names) || `Options: ${namesListed(names, names.length)}.`;
      throw usageError(`${place} has no option ${JSON.stringify(option)}.`, hint);
    }
    if (value !== undefined && !rule.accepts(value))
      throw usageError(`${place}: ${option} must be ${rule.words}.`, HINT);
  }
  for (const [option, hint] of Object.entries(REQUIRED))
    if (option in rules && request[option] === undefined)
      throw usageError(`${place} needs the option ${option}.`, hint);
  for (const [one, other] of EXCLUDING)
    if (isGiven(one) && isGiven(other))
      throw usageError(`${place}: ${one} and ${other} exclude each other.`, 'Leave one out.');
  if (isGiven('maxAge') && 'snapshot' in rules && !isGiven('snapshot'))
    throw usageError(`${place}: maxAge is the greatest age of a snapshot.`, 'Give a snapshot.');
  if (isGiven('base') && [request['file'] ?? []].flat().length > 1)
    throw usageError(`${place}: base needs one settings file.`, 'Name one in file.');
}

const HINT = 'docs/reference/library.md lists the options.';
