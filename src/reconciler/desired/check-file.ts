import { headerScheme, isAuthorizationPath, isHeaderPath } from '../model/header-scheme.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { pathOfPointer, pointerTo } from '../model/path.ts';
import { BLOCKS, findTextKind } from './blocks.ts';
import { type Block, inBlock, type TextKind } from './blocks/block.ts';
import {
  member,
  listMembers,
  findNode,
  plainValue,
  type MapNode,
  type Node,
  type PlacedFinding,
  type ScalarNode,
  type Finding,
} from './node.ts';
import { findDoubtfulValues, findRepeatedEntries } from './doubtful-values.ts';
import { createDiagnostic } from './place-diagnostic.ts';
import { checkNative } from './native.ts';
import { badNames, createValueFinding, missingKeys, unknownKeys } from './schema-findings.ts';
import { validate } from './schema-validator.gen.ts';
import { isSensitiveName, isShowable } from '../model/secret-words.ts';
import { envPairs, isUnfinished } from './lines.ts';
import { isForbiddenVariable, readableName } from './pipeline-variables.ts';
import { isSecretNode, selectLockNodes } from '../model/native-schema.ts';
import {
  isMalformed,
  mayHoldReference,
  parseTemplate,
  parseWholeReference,
  type MalformedReference,
} from './references.ts';
import { correctReference } from './indirections.ts';
import { type Flaw, findTemplateFlaw } from './text-use.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { findExpectation, takesText } from './schema-lookup.ts';

/**
 * Every problem in a file, from its references, the schema, and what the blocks check themselves. Each problem is reported once:
 * what only follows from another one is left out.
 */
export function checkFile(root: MapNode): Diagnostic[] {
  for (const part of splitEnvironments(root))
    if (listFileProblems(part).length > 0) return listFileProblems(root);
  return [];
}

/** Environments that are checked at a time: of many, the nodes are created at each access, and not stored. */
const AT_ONCE = 256;

/** The file with some of its environments at a time. No problem is that of two of them. */
function* splitEnvironments(root: MapNode): Iterable<MapNode> {
  const environments = root.members.get('environments');
  if (environments?.node.kind !== 'map' || environments.node.members.size <= AT_ONCE) {
    yield root;
    return;
  }
  const all = [...environments.node.members.values()];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all
      .slice(from, from + AT_ONCE)
      .map(({ key, keyFile, keyAt, node }) => [key, { key, keyFile, keyAt, node }] as const);
    const node = { ...environments.node, members: new Map(some) };
    const members = new Map(root.members).set('environments', { ...environments, node });
    yield { ...root, members };
  }
}

function listFileProblems(root: MapNode): Diagnostic[] {
  const { findings: ofValues, reported } = checkReferences(root);
  const known = new Set([...reported, ...ofValues.map(({ path }) => path)].map(pointerTo));
  const ofSchema = [...checkSchema(root), ...checkNative(root)].filter(
    ({ finding: { code, path } }) => !OF_A_VALUE.has(code) || !known.has(pointerTo(path)),
  );
  const unknownKey = collectPointers(ofSchema, ['unknown-key']);
  const wrongType = collectPointers(ofSchema, ['wrong-type']);
  const own = ofValues
    .filter(({ path, finding: { code } }) => {
      const inside = (pointers: ReadonlySet<string>, from: number) =>
        pointers.size > 0 &&
        path.some(
          (_, index) =>
            index >= from && pointers.has(pointerTo(path.slice(0, path.length - index))),
        );
      return !inside(wrongType, 1) && !(OF_A_PLACE.has(code) && inside(unknownKey, 0));
    })
    .map(({ node, path, finding }) => ({
      file: node.file,
      at: node.at,
      finding: { ...finding, path },
    }));
  const refused = new Set([...known, ...collectPointers(ofSchema, [...OF_A_VALUE])]);
  const ofBlocks = checkBlocks(root).filter(({ finding }) => !refused.has(pointerTo(finding.path)));
  return [...own, ...ofSchema, ...ofBlocks].map(createDiagnostic);
}

/** The codes that depend on the place of a value: below an unknown key they add nothing. */
const OF_A_PLACE: ReadonlySet<string> = new Set(['missing-key', 'bad-reference']);
const OF_A_VALUE: ReadonlySet<string> = new Set(['bad-value', 'wrong-type']);

function collectPointers(
  findings: readonly PlacedFinding[],
  codes: readonly string[],
): Set<string> {
  return new Set(
    findings
      .filter(({ finding }) => codes.includes(finding.code))
      .map(({ finding }) => pointerTo(finding.path)),
  );
}

/** Returns the findings of the blocks' own checks, at the top of the file and in each environment. */
function checkBlocks(root: MapNode): PlacedFinding[] {
  const environments = listMembers(member(root, 'environments'));
  const inner = environments.map(({ key, node }) => [node, ['environments', key]] as const);
  return [[root, []] as const, ...inner].flatMap(([holder, path]) => {
    if (holder.kind !== 'map') return [];
    const checks = CHECKED.filter(({ name }) => holder.members.has(name));
    const own = checks.flatMap(({ check }) => check?.(holder, path) ?? []);
    return [...own, ...findDoubtfulValues(holder, path), ...findRepeatedEntries(holder, path)];
  });
}

const CHECKED = BLOCKS.filter((block: Block) => block.check !== undefined) as readonly Block[];

/** An error of the generated validator. Its messages are not used: they may carry what the file holds. */
interface SchemaError {
  readonly instancePath: string;
  readonly keyword: string;
  /** The key that is unknown, missing or no name. */
  readonly key: string | null;
  /** True if a branch of a choice of keys refuses it. */
  readonly ofChoice: boolean;
}

/** The file against the schema: one finding for a value, however many branches refuse it. */
function checkSchema(root: MapNode): PlacedFinding[] {
  const check = validate as unknown as ((data: unknown) => boolean) & {
    errors: SchemaError[] | null;
  };
  if (check(plainValue(root))) return [];
  const byPointer = groupErrorsByPlace(
    (check.errors ?? []).filter((error) => !isChoiceOfKeys(error)),
  );
  const outer = new Set([...byPointer.keys()].flatMap(ancestors));
  const findings: PlacedFinding[] = [];
  for (const [at, errors] of byPointer) {
    const path = pathOfPointer(at);
    const node = findNode(root, path);
    if (node === undefined) continue;
    const named = (keyword: string) =>
      new Set(
        errors
          .filter((error) => error.keyword === keyword)
          .flatMap(({ key }) => (key === null ? [] : [key])),
      );
    const refused = { root, path, node };
    findings.push(
      ...unknownKeys(refused, named('additionalProperties')),
      ...missingKeys(refused, named('required')),
      ...badNames(refused, named('propertyNames')),
    );
    const ofKeys = errors.some(({ keyword }) => OF_KEYS.has(keyword));
    // If one branch refuses the whole value, and another something inside it, the value was meant for the other.
    if (!ofKeys && !outer.has(at)) findings.push(createValueFinding(refused));
  }
  return findings;
}

/** Which keys an item needs may depend on its other keys: its block checks that itself. */
function isChoiceOfKeys({ ofChoice }: SchemaError): boolean {
  return ofChoice;
}

const OF_KEYS: ReadonlySet<string> = new Set(['additionalProperties', 'required', 'propertyNames']);

function groupErrorsByPlace(errors: readonly SchemaError[]): Map<string, SchemaError[]> {
  const groups = new Map<string, SchemaError[]>();
  for (const error of errors) {
    const group = groups.get(error.instancePath);
    if (group === undefined) groups.set(error.instancePath, [error]);
    else group.push(error);
  }
  return groups;
}

function ancestors(at: string): string[] {
  const found: string[] = [];
  for (let end = at.lastIndexOf('/'); end >= 0; end = at.lastIndexOf('/', end - 1)) {
    found.push(at.slice(0, end));
    if (end === 0) break;
  }
  return found;
}

/** A problem of one value, or of one key, and where that is written. */
interface ValueFinding {
  readonly node: Pick<ScalarNode, 'file' | 'at'>;
  readonly path: readonly string[];
  readonly finding: Finding;
}

/**
 * Problems of single values that the schema does not find: keys without a value, secrets written out, references that are
 * malformed, misplaced or forbidden, and texts and keys that no service can store. `reported` are the paths of values that were
 * reported when they were read.
 */
function checkReferences(root: Node): {
  readonly findings: readonly ValueFinding[];
  readonly reported: readonly (readonly string[])[];
} {
  const findings: ValueFinding[] = [];
  const reported: (readonly string[])[] = [];
  const visit = (node: Node, path: readonly string[]): void => {
    if (node.reported) reported.push(path);
    if (node.kind === 'map') {
      for (const { key, keyFile, keyAt, node: value } of node.members.values()) {
        const inner = [...path, key];
        if (HALF_PAIR.test(key))
          findings.push({ node: { file: keyFile, at: keyAt }, path: inner, finding: HALF_A_KEY });
        visit(value, inner);
      }
    } else if (node.kind === 'list') {
      for (const [index, item] of node.items.entries()) visit(item, [...path, String(index)]);
    } else if (!node.reported) {
      const finding = checkScalar(node, path);
      if (finding !== null) findings.push({ node, path, finding });
    }
  };
  visit(root, []);
  return { findings, reported };
}

function checkScalar(node: ScalarNode, path: readonly string[]): Finding | null {
  if (node.bare) return emptyValue(path);
  if (typeof node.value === 'string' && HALF_PAIR.test(node.value)) return HALF_A_TEXT;
  const kind = findLockedTextKind(node, path) ?? findTextKind(path);
  if (kind === 'secret') return secretFinding(node.value, path);
  if (typeof node.value === 'number') return inexact(node.value);
  if (typeof node.value !== 'string') return null;
  if (kind === 'pairs') return pairsFinding(node.value);
  if (kind === 'words' && isUnfinished(node.value)) return UNFINISHED;
  const isReferring = mayHoldReference(node.value);
  if (isReferring && kind === 'plain' && inBlock(path)[0] !== 'unmanaged') return MISPLACED;
  return (isReferring ? textFinding(node.value) : null) ?? useFinding(node.value, path);
}

/** A text that cannot work where the service uses it: an address without a scheme, a model with a line break. */
function useFinding(text: string, path: readonly string[]): Finding | null {
  const [block = '', ...inner] = inBlock(path);
  if (block === 'server' || inner.length === 0) return null;
  const at = block === 'settings' ? inner : [block, ...inner];
  const { use } = findPathFacts(isAddressEntry(at) ? [...at, 'url'] : at);
  if (use === 'free') return null;
  // Text that is written `$${` is meant literally.
  const parts = mayHoldReference(text) ? parseTemplate(text.replaceAll('$${', 'x')) : [text];
  const flaw = isMalformed(parts) ? null : findTemplateFlaw(parts, use);
  return flaw === null ? null : findingOfFlaw(flaw, text);
}

/** An entry of a list of remote mcp servers that is text is its address. */
function isAddressEntry(at: readonly string[]): boolean {
  return at[0] === 'mcp_config' && at.length === 3 && at[1] !== 'stdio_servers';
}

const CODES = {
  form: 'bad-value',
  indirection: 'bad-reference',
  userinfo: 'literal-secret',
} as const satisfies Readonly<Record<Flaw['kind'], Finding['code']>>;

function findingOfFlaw({ kind, what, hint }: Flaw, text: string): Finding {
  const form = kind === 'indirection' ? correctReference(text) : null;
  return {
    code: CODES[kind],
    message: `This ${what}.`,
    hint: form === null ? hint : `Write ${form}.`,
  };
}

/** No encoding carries it: servers store another text in its place, or cannot answer what they have stored. */
const HALF_PAIR = /[\uD800-\uDFFF]/u;
const WHOLE = 'Write the whole character, or remove the escape.';
const HALF_A_TEXT: Finding = {
  code: 'bad-value',
  message: 'This text has half of a surrogate pair, which no service can store.',
  hint: WHOLE,
};
const HALF_A_KEY: Finding = {
  ...HALF_A_TEXT,
  message: 'This key has half of a surrogate pair, which no service can store.',
};

/** Returns the meaning of text where only a lock has a member. */
function findLockedTextKind({ file: { lock } }: Node, path: readonly string[]): TextKind | null {
  if (lock === undefined) return null;
  const [block, ...inner] = inBlock(path);
  if (block !== 'settings') return null;
  const nodes = selectLockNodes(lock, inner);
  if (nodes.length === 0) return null;
  if (isSecretNode(nodes)) return 'secret';
  return takesText(nodes) ? 'text' : 'typed';
}

function textFinding(text: string): Finding | null {
  const parsed = parseTemplate(text);
  if (isMalformed(parsed)) return createReferenceFinding(parsed, true);
  for (const part of parsed) {
    if (typeof part === 'object' && part.kind === 'env' && isForbiddenVariable(part.name)) {
      return {
        code: 'bad-reference',
        message: `A settings file cannot read ${part.name}: it belongs to ${/^SETPOINT_/i.test(part.name) ? 'setpoint itself' : 'the pipeline'}.`,
        hint: `Pass the value in a separate variable, such as ${readableName(part.name)}.`,
      };
    }
  }
  return null;
}

function createReferenceFinding({ message, form }: MalformedReference, isText: boolean): Finding {
  const hint = isText ? `Write ${form}, or $\${ for a literal \${.` : `Write ${form}.`;
  return { code: 'bad-reference', message, hint };
}

function secretFinding(text: ScalarNode['value'], path: readonly string[]): Finding | null {
  if (text === null) return null;
  if (typeof text !== 'string') return createLiteralFinding(path);
  if (text === '') return inBlock(path)[2] === 'stdio_servers' ? null : EMPTY_SECRET;
  const reference = parseWholeReference(text);
  if (reference?.kind === 'env' && reference.fallback !== null) {
    return {
      code: 'bad-reference',
      message: 'A secret cannot have a default: it would be written in the file.',
      hint: `Write \${env:${reference.name}}.`,
    };
  }
  if (reference !== null) return textFinding(text);
  const scheme = isHeaderPath(path) ? headerScheme(text) : '';
  if (scheme !== '') return secretFinding(text.slice(scheme.length), path.slice(-1));
  const parsed = mayHoldReference(text) ? parseTemplate(text) : null;
  if (parsed !== null && isMalformed(parsed)) return createReferenceFinding(parsed, false);
  const foreign = correctReference(text);
  if (foreign !== null) {
    return {
      code: 'bad-reference',
      message: 'This is not a reference: setpoint does not expand it.',
      hint: `Write ${foreign}.`,
    };
  }
  return createLiteralFinding(path);
}

function createLiteralFinding(path: readonly string[]): Finding {
  const name = path.findLast((key) => /^[A-Za-z_][A-Za-z0-9_-]*$/.test(key) && isShowable(key));
  const reference = `\${env:${readableName((name ?? 'NAME').toUpperCase().replaceAll('-', '_'))}}`;
  const whole = `Put it into a variable, and make the whole value one reference to it: ${reference}.`;
  const hint = findExpectation(path).keys.includes('token')
    ? `Put it into a variable, and write token: ${reference} under this key.`
    : isAuthorizationPath(path)
      ? `${whole} Only a scheme may come before it: Bearer ${reference}.`
      : whole;
  const fix = hint === whole ? { value: reference } : undefined;
  return { code: 'literal-secret', message: 'A secret does not belong in this file.', hint, fix };
}

/** A line A=1,B=2: a value under the name of a secret must be a reference, as in a map. */
function pairsFinding(line: string): Finding | null {
  const malformed = mayHoldReference(line) ? textFinding(line) : null;
  if (malformed !== null) return malformed;
  for (const { name, text } of envPairs(line)) {
    if (name === '' || text === null || mayHoldReference(name)) return NO_PAIRS;
    const finding = isSensitiveName(name) && text !== '' ? secretFinding(text, [name]) : null;
    if (finding !== null) return finding;
  }
  return null;
}

/** A number that would change on its way to the service. */
function inexact(value: number): Finding | null {
  const finite = Number.isFinite(value);
  if (finite && (!Number.isInteger(value) || Number.isSafeInteger(value))) return null;
  return {
    code: 'bad-value',
    message: finite ? 'This number is too large to be sent exactly.' : 'This number is not finite.',
    hint: finite
      ? 'Write a number below 9007199254740992.'
      : 'JSON has no .inf and no .nan; write a number.',
  };
}

function emptyValue(path: readonly string[]): Finding {
  const inList = /^\d+$/.test(path.at(-1) ?? '');
  const { types, secret, filled } = findExpectation(path);
  const ways = [
    types.includes('null') ? 'null to clear it' : '',
    types.includes('string') && !secret && !filled && inBlock(path)[0] === 'settings'
      ? '"" for empty text'
      : '',
    types.includes('array') ? '[] for an empty list' : '',
    types.includes('object') && !filled ? '{} for an empty map' : '',
  ].filter((way) => way !== '');
  return {
    code: 'missing-key',
    message: inList ? 'This dash has no value.' : 'This key has no value.',
    hint: inList
      ? 'Write the entry, or remove the dash.'
      : `Write ${ways.join(', ') || 'a value'}, or remove the key to leave it alone.${secret ? ` ${EATEN}` : ''}`,
  };
}

const MISPLACED: Finding = {
  code: 'bad-reference',
  message: 'References are not resolved here.',
  hint: 'Write the value itself. References work in settings, in values of secrets, and in url, api_key, headers, ca_file, client_cert and client_key of a server.',
};

/** Flux's substitution and envsubst take `${env:NAME}` as a variable of their own, and leave nothing. */
const EATEN =
  'If a reference stood here, a tool such as Flux replaced it. Annotate the ConfigMap with kustomize.toolkit.fluxcd.io/substitute: disabled.';

const EMPTY_SECRET: Finding = {
  code: 'bad-value',
  message: 'Empty text is neither a secret nor a reference.',
  hint: `Write a reference, or remove the key; null clears a field that can be cleared. ${EATEN}`,
};

const NO_PAIRS: Finding = {
  code: 'bad-value',
  message: 'This line is not made of NAME=value pairs.',
  hint: 'Write it like A=1,B=2, or as a map. A reference goes after the =.',
};

const UNFINISHED: Finding = {
  code: 'bad-value',
  message: 'This line has a quote that is never closed, or ends with a backslash.',
  hint: 'Close the quote, or write the arguments as a list.',
};
