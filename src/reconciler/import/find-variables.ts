import type { Path } from '../model/path.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isForeignText,
  readObjectName,
  createVariableTemplate,
  Variable,
} from './foreign.ts';
import { type Gathering, NOT_TAKEN } from './written.ts';
import { SECTIONS, type Section, findSectionPlace } from './openhands.ts';

/** Variables of the process: where it listens and stores, what it is built of. */
const OF_PROCESS =
  /^(?:OH|OPENHANDS|AGENT_SERVER|WORKSPACE|FILE_STORE|RUNTIME|SANDBOX|SETPOINT|LITE_?LLM|DOCKER|LOG|DEBUG|UVICORN|JWT)(?:_|$)/;

/** Variables that hold a key of the server. */
const KEY_OF_SERVER = /^(?:OH_)?SESSION_API_KEYS?(?:_0)?$/;

/** Other names that variables of a section go by. */
const ALSO: Readonly<Record<string, Path>> = {
  CONFIRMATION_MODE: ['confirmation_mode'],
  SECURITY_ANALYZER: ['security_analyzer'],
  LITELLM_DEFAULT_MODEL: ['llm_model'],
  SANDBOX_CONTAINER_IMAGE: ['sandbox_base_container_image'],
};

/** Finds the settings among the variables of an environment. */
export function findVariables(variables: ForeignRecord, at: Path, found: Gathering): void {
  for (const [name, value] of Object.entries(variables)) {
    const to = findSettingPlace(name);
    if (to !== null) found.take(['settings', ...to], value, [...at, name]);
    else if (KEY_OF_SERVER.test(name)) found.leaveServerKey([...at, name]);
    else found.leave([...at, name], OF_PROCESS.test(name) ? NOT_TAKEN.process : NOT_TAKEN.other);
  }
}

/** Returns the place in the settings for a variable; null if they do not have one. */
function findSettingPlace(name: string): Path | null {
  const sections = Object.entries(SECTIONS) as [Section, string][];
  for (const [section, prefix] of sections) {
    const member = name.slice(prefix.length).toLowerCase();
    const to =
      name.startsWith(prefix) && name === name.toUpperCase()
        ? findSectionPlace(section, member)
        : null;
    if (to !== null) return to;
  }
  return Object.hasOwn(ALSO, name) ? (ALSO[name] ?? null) : null;
}

/** Keys under which compose files and manifests have environments. */
const ENVIRONMENTS: ReadonlySet<string> = new Set(['env', 'environment']);

/** An environment in a file, with what leads to it. */
export interface Environment {
  readonly at: Path;
  readonly variables: ForeignRecord;
}

/** Every environment of a file: maps, lists of `NAME=value`, and lists of names with values. */
export function* listEnvironments(value: Foreign, at: Path = []): Generator<Environment> {
  if (isForeignList(value)) {
    for (const [index, one] of value.entries())
      yield* listEnvironments(one, [...at, readObjectName(one) ?? String(index)]);
    return;
  }
  if (!isForeignRecord(value)) return;
  for (const [key, one] of Object.entries(value)) {
    const variables = ENVIRONMENTS.has(key) ? readForeignVariables(one) : null;
    if (variables === null) yield* listEnvironments(one, [...at, key]);
    else yield { at: [...at, key], variables };
  }
}

/** The variables of a map or list; null if it is not an environment. */
function readForeignVariables(value: Foreign): ForeignRecord | null {
  if (isForeignRecord(value)) {
    const isPlain = Object.entries(value).every(
      ([name, one]) => isName(name) && !isForeignList(one),
    );
    return isPlain ? asVariables(value) : null;
  }
  if (!isForeignList(value)) return null;
  const entries = value.map(parseVariableEntry);
  const known = entries.flatMap((entry) => (entry === null ? [] : [entry]));
  return known.length < entries.length ? null : foreignRecord(known);
}

/** A map of names and values as variables. What has no name of a variable is left out. */
export function asVariables(value: ForeignRecord): ForeignRecord {
  return foreignRecord(
    Object.entries(value).flatMap(([name, one]) =>
      isName(name) ? [[name, createForeignVariable(name, one)] as const] : [],
    ),
  );
}

function isName(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/** `NAME=value`, `NAME` alone, or a map with a name and a value, or with where that comes from. */
function parseVariableEntry(value: Foreign): readonly [string, Foreign] | null {
  if (typeof value === 'string') {
    const [, name = '', rest] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(value) ?? [];
    return name === '' ? null : [name, createForeignVariable(name, rest ?? null)];
  }
  const name = readObjectName(value);
  if (name === null || !isName(name) || !isForeignRecord(value)) return null;
  return [
    name,
    'value' in value
      ? createForeignVariable(name, value['value'] ?? null)
      : createVariableTemplate(name),
  ];
}

/** The value of a variable. One without a value comes from outside, as one from a Secret does. */
function createForeignVariable(name: string, value: Foreign): Foreign {
  if (value === null || isForeignRecord(value)) return createVariableTemplate(name);
  if (isForeignText(value)) return typeof value === 'string' ? new Variable(name, value) : value;
  return new Variable(name, isForeignList(value) ? '' : String(value));
}
