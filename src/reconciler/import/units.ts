import { MODEL_PART, NATIVE_SERVERS } from '../model/field.ts';
import type { NewVariable } from '../model/documents.gen.ts';
import { type Path } from '../model/path.ts';
import { holdsSecretText, isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import type { Json } from '../model/value.ts';
import { variableName } from '../pull/placeholder.ts';
import { escapeReferences, hasHiddenSecret } from '../pull/writable.ts';
import type { JsonObject } from '../yaml-edit/source.ts';
import {
  type Finding,
  NOT_TAKEN,
  isOpenName,
  isOpenUse,
  referenceFor,
  type Writing,
  writeForeignValue,
} from './written.ts';
import { findIndirection } from '../desired/indirections.ts';
import { isMalformed, parseTemplate } from '../desired/references.ts';
import { findPathFacts } from '../model/path-facts.ts';
import {
  type Foreign,
  type ForeignScalar,
  isForeignList,
  isForeignRecord,
  isForeignText,
  Template,
  readForeignText,
  listForeignTexts,
} from './foreign.ts';
import { listNeededVariables } from './variable-names.ts';
import { writeNested } from '../pull/written-deep.ts';
import { writeMcpServer } from './written-server.ts';

/** The declaration of one finding in a settings file: a value under `settings`, or an item of a block. */
export interface Unit {
  readonly to: Path;
  readonly value: Json;
  readonly variables: readonly NewVariable[];
}

/** What of a finding a settings file declares, and what of it is left out: the keys that lead to it, from those of the finding, and why. */
export interface Taken {
  readonly unit: Unit | null;
  readonly left: readonly { readonly at: Path; readonly reason: string }[];
}

/** A finding as a settings file declares it. */
export function createUnit({ to, value }: Finding, writing: Writing): Taken {
  const [block = '', name = '', ...inner] = to;
  const none = (reason: string, at: Path = []): Taken => ({ unit: null, left: [{ at, reason }] });
  if (block !== 'settings' && !isOpenName(name, writing)) return none(NOT_TAKEN.name);
  const written = writeFinding(block, name, inner, value, writing);
  if (written === undefined) return none(NOT_TAKEN.sensitive);
  const { value: filled, left } = withoutIndirections(written, to);
  const path = block === 'settings' ? to.slice(1) : to;
  const unit =
    filled === undefined ? null : { to, value: filled, variables: listReadVariables(path, filled) };
  return { unit, left: unit === null ? left : [...left, ...listLostValues(value, filled)] };
}

/** Members without which an item is none. */
const MAIN: ReadonlySet<string> = new Set(['model', 'value', 'token', 'llm_profile']);

/**
 * A written value without what another program would replace: as text it would never work. Of an item the member is left out, of an mcp server all
 * of it. Undefined if nothing is left.
 */
function withoutIndirections(
  written: Json,
  to: Path,
): { readonly value: Json | undefined; readonly left: Taken['left'] } {
  const [block = ''] = to;
  const found = findUnitIndirections(written, to[0] === 'settings' ? to.slice(1) : to, []);
  if (found.length === 0) return { value: written, left: [] };
  const left = found.map(({ at, what }) => ({
    at,
    reason: `${what}, which setpoint does not replace`,
  }));
  const members = new Set(found.map(({ at }) => at[0] ?? ''));
  const isWhole =
    block === 'settings' || block === 'mcp_servers' || [...members].some((one) => MAIN.has(one));
  if (isWhole || typeof written !== 'object' || written === null) return { value: undefined, left };
  const others = Object.entries(written).filter(([member]) => !members.has(member));
  return { value: Object.fromEntries(others), left };
}

/** Each indirection in what a file would have as it is, with the keys that lead to it. Prose may speak of any. */
function findUnitIndirections(
  value: Json,
  path: Path,
  at: Path,
  own: ReadonlySet<string> = new Set(),
): readonly { readonly at: Path; readonly what: string }[] {
  if (typeof value === 'string') {
    if (findPathFacts(path).use === 'prose') return [];
    const parts = parseTemplate(value);
    if (isMalformed(parts)) return [];
    const texts = parts.flatMap((part) => (typeof part === 'string' ? withoutOwn(part, own) : []));
    const found = texts.map(findIndirection).find((one) => one !== null);
    return found === undefined || !found.isCertain ? [] : [{ at, what: found.what }];
  }
  if (typeof value !== 'object' || value === null) return [];
  const { env = null } = value as Readonly<Record<string, Json>>;
  const variables = new Set(Object.keys(typeof env === 'object' ? (env ?? {}) : {}));
  return Object.entries(value).flatMap(([key, one]) =>
    findUnitIndirections(one, [...path, key], [...at, key], key === 'args' ? variables : own),
  );
}

/** A text without the variables of its own program. */
function withoutOwn(text: string, own: ReadonlySet<string>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => (own.has(name) ? '' : whole));
}

/** What of the references of a finding is not written: defaults of secrets, and those that name other variables. */
function listLostValues(value: Foreign, written: Json | undefined): Taken['left'] {
  const text = JSON.stringify(written ?? null);
  const isWritten = (one: string): boolean => text.includes(JSON.stringify(one).slice(1, -1));
  return findUnitTemplates(value).flatMap(({ at, template }) => {
    const isDropped = template.text.includes(':-') && !isWritten(template.text);
    const reason = template.lost ?? (isDropped ? NOT_TAKEN.fallback : null);
    return reason === null ? [] : [{ at, reason }];
  });
}

/** The templates of a value, with the keys that lead to them. */
function findUnitTemplates(
  value: Foreign,
  at: Path = [],
): readonly { readonly at: Path; readonly template: Template }[] {
  if (value instanceof Template) return [{ at, template: value }];
  if (isForeignList(value))
    return value.flatMap((one, index) => findUnitTemplates(one, [...at, String(index)]));
  if (!isForeignRecord(value)) return [];
  return Object.entries(value).flatMap(([key, one]) => findUnitTemplates(one, [...at, key]));
}

function writeFinding(
  block: string,
  name: string,
  inner: Path,
  value: Foreign,
  writing: Writing,
): Json | undefined {
  if (block === 'settings') {
    const path = [name, ...inner];
    // The variable of a member of a native part is not named after the part.
    const owner = path.slice(path.length === 1 ? 0 : 1);
    return writeForeignValue(
      value,
      { schema: path, names: (member) => [variableName(...owner, ...member)] },
      writing,
    );
  }
  if (!isForeignRecord(value)) return undefined;
  if (block === 'mcp_servers') return writeMcpServer(name, value, writing);
  if (block === 'llm_profiles')
    return writeForeignValue(
      value,
      { schema: MODEL_PART, names: (member) => [variableName(name, ...member)] },
      writing,
    );
  if (block === 'agent_profiles') return writeOpenValue(value, writing);
  const main = block === 'secrets' ? 'value' : 'token';
  const { [main]: secret, ...others } = value;
  if (secret === undefined || !isForeignText(secret)) return undefined;
  const names = block === 'secrets' ? [variableName(name)] : [variableName(name, 'token')];
  const shown = Object.entries(others).flatMap(([member, one]): [string, Json][] => {
    const text = isForeignText(one) ? readForeignText(one) : '';
    return text === '' || !isOpenText(text, writing) ? [] : [[member, text]];
  });
  const reference = referenceFor(secret, names, writing);
  return block === 'secrets' && shown.length === 0
    ? reference
    : { [main]: reference, ...Object.fromEntries(shown) };
}

function isOpenText(text: string, { hidden }: Writing): boolean {
  return !holdsSecretText(text) && !hasHiddenSecret(text, hidden);
}

/** A record of names and prose, which a file has unchanged. Undefined if one may hold a secret. */
function writeOpenValue(value: Foreign, writing: Writing): Json | undefined {
  return writeNested<ForeignScalar>(
    value,
    (one) => {
      if (!isForeignText(one)) return one;
      const text = readForeignText(one);
      if (!isOpenText(text, writing)) return undefined;
      return one instanceof Template ? text : escapeReferences(text);
    },
    (name) => isOpenName(name, writing),
  );
}

function listReadVariables(path: Path, value: Json): NewVariable[] {
  if (typeof value === 'string') return listNeededVariables(path, value);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    listReadVariables(path[0] === 'secrets' && key === 'value' ? path : [...path, key], one),
  );
}

/** The blocks of some units, as a file has them. */
export function mergeUnits(units: readonly Unit[]): JsonObject {
  const blocks: Record<string, Json> = {};
  for (const { to, value } of units) setJsonPath(blocks, to, value);
  return blocks;
}

function setJsonPath(record: Record<string, Json>, [key = '', ...inner]: Path, value: Json): void {
  if (inner.length === 0) {
    record[key] = value;
    return;
  }
  const own = Object.hasOwn(record, key) ? record[key] : undefined;
  const next = (typeof own === 'object' && own !== null ? own : {}) as Record<string, Json>;
  Object.defineProperty(record, key, {
    value: next,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  setJsonPath(next, inner, value);
}

/** Texts of a file that are secrets by the names that lead to them or by their form. What is short or a word is in other places by chance. */
export function collectForeignSecrets(documents: readonly Foreign[]): Secret[] {
  const found = new Set<string>();
  for (const document of documents)
    for (const [path, text] of listForeignTexts(document)) {
      const isSecret = namesSecret(path) || isSecretText(text);
      if (
        isSecret &&
        text.length >= SHORTEST &&
        !text.includes('${') &&
        !/^(?:true|false)$/i.test(text)
      )
        found.add(text);
    }
  return [...found].map((text) => new Secret(text));
}

const SHORTEST = 6;

/** Whether keys lead to a secret. What a key of Kubernetes refers to is the name of an object, and not all that is inside of `auth` is one. */
function namesSecret(path: readonly string[]): boolean {
  const auth = path.lastIndexOf('auth');
  const isOpen = auth >= 0 && isOpenUse([...NATIVE_SERVERS, '', ...path.slice(auth)]);
  return (
    !isOpen &&
    path.some(isSensitiveName) &&
    !path.some((key) => /[a-z]Ref$|^existingSecret|^secretName$/.test(key))
  );
}
