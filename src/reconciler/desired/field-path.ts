import {
  BLOCKS,
  isBlockName,
  findTextKind,
  listBlocksForPlace,
  inOwnBlock,
  mergeStoreBlocks,
} from './blocks.ts';
import { member, findNode, type Node } from './node.ts';
import type { Block, TextKind } from './blocks/block.ts';
import { mayHoldReference } from './references.ts';
import { listWrittenNames } from './named-settings.ts';
import { type Expectation, findExpectation, firstSentence } from './schema-lookup.ts';
import type { Target } from './target.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import type {
  ExplainDocument,
  Meaning,
  ReferenceForm,
  StoreReport,
} from '../model/documents.gen.ts';
import { fieldNamed, fields, NATIVE_PARTS } from '../model/field.ts';
import { bareUrl } from '../model/address.ts';
import { identityMember, isMcpList } from '../model/mcp.ts';
import { formatPath, parsePath, type Path } from '../model/path.ts';
import { findPathFacts } from '../model/path-facts.ts';
import { suggest } from '../model/wording.ts';

/** A place of the file that a command line names. */
export interface FieldPath {
  /** As documents show it: relative to settings, or, for other blocks, from the top of the file. */
  readonly path: Path;
  readonly part: ExplainDocument['part'];
  /** From the top of the file; an mcp entry by its identity. */
  readonly filePath: Path;
  /** The path with every entry by a number, as in the schema. */
  readonly schemaPath: Path;
  /** The lock that has the place, if only a lock does. */
  readonly lock?: SchemaLock;
}

/** Keys that are not part of one target: environments are chosen with -e, and a base has been merged. */
const BEYOND: ReadonlySet<string> = new Set(['environments', 'extends']);

/** Parses a path; if it leads nowhere, the result is a hint. */
export function fieldPath(text: string, lock?: SchemaLock): FieldPath | { readonly hint: string } {
  const written = parsePath(text.trim());
  if (written === null || written[0] === undefined)
    return { hint: createPathHint([], [text.trim()], 0) };
  if (BEYOND.has(written[0]))
    return { hint: 'Environments are chosen with -e; explain without a path shows all of one.' };
  const isField = fieldNamed(written[0]) !== undefined || NATIVE_PARTS.has(written[0]);
  const filePath = inOwnBlock(isField ? ['settings', ...written] : written);
  const schemaPath = filePath.map((segment, index) =>
    isMcpEntryIndex(filePath, index) ? '0' : segment,
  );
  const wrong = schemaPath.findIndex(
    (_, index) => !isKnownExpectation(findExpectation(schemaPath.slice(0, index + 1), lock)),
  );
  if (wrong !== -1) return { hint: createPathHint(schemaPath, filePath, wrong) };
  if (hidesSecret(filePath)) return { hint: 'Write the url without userinfo, query and fragment.' };
  const [block] = filePath;
  const part = isSettingsBlock(block) ? 'settings' : isServiceBlock(block) ? block : 'file';
  const path = block === 'settings' && filePath.length > 1 ? filePath.slice(1) : filePath;
  return { path, part, filePath, schemaPath, ...(lock === undefined ? {} : { lock }) };
}

/** Reports whether a service has values for a block. */
function isServiceBlock(
  name: string | undefined,
): name is Exclude<ExplainDocument['part'], 'file'> {
  return BLOCKS.some(
    (block: Block) => block.name === name && (name === 'settings' || block.items !== undefined),
  );
}

/** Reports whether a block is another spelling of a part of `settings`. */
function isSettingsBlock(name: string | undefined): boolean {
  return BLOCKS.some((block: Block) => block.name === name && block.ofSettings === true);
}

/** Every path without an entry of a list in it: fields, and the blocks and keys next to the settings. */
export function plainPaths(): readonly string[] {
  const blocks = listKeysAtPath([]).filter((key) => key !== 'settings');
  const inner = blocks.flatMap((block) => findExpectation([block]).keys.map((key) => [block, key]));
  const names = [...fields().map(({ name }) => name), ...blocks].map((name) => [name]);
  return [...names, ...inner].map(formatPath);
}

function isMcpEntryIndex(filePath: Path, index: number): boolean {
  return index === 3 && filePath[1] === 'mcp_config' && isMcpList(filePath[2]);
}

function hidesSecret([, , list, identity = '']: Path): boolean {
  const known = identity.replace(/#\d+$/, '');
  return (
    isMcpList(list) &&
    identityMember(list) === 'url' &&
    bareUrl(known) !== known &&
    !mayHoldReference(known)
  );
}

function isKnownExpectation({ types, values, keys, description }: Expectation): boolean {
  return types.length > 0 || values.length > 0 || keys.length > 0 || description !== '';
}

function listKeysAtPath(schemaPath: Path): readonly string[] {
  const { keys } = findExpectation(schemaPath);
  return schemaPath.length === 0 ? keys.filter((key) => !BEYOND.has(key)) : keys;
}

/** Suggests a path for one with an unknown segment at `wrong`, or lists the available keys there. */
function createPathHint(schemaPath: Path, filePath: Path, wrong: number): string {
  const names = wrong === 0 ? plainPaths() : listKeysAtPath(schemaPath.slice(0, wrong));
  const start = filePath[0] === 'settings' ? 1 : 0;
  const above = filePath.slice(Math.min(start, wrong), wrong);
  const near = suggest(filePath[wrong] ?? '', names);
  if (near !== null) {
    const meant = wrong === 0 ? near : formatPath([...above, near]);
    const rest = filePath.slice(wrong + 1);
    const whole = formatPath([...(parsePath(meant) ?? []), ...rest]);
    const found = fieldPath(whole);
    return 'hint' in found ? found.hint : `Did you mean ${whole}?`;
  }
  if (wrong === 0)
    return 'Name a field, such as llm_model; the path of an mcp entry is mcp_config.LIST[URL].';
  const holder = formatPath(above);
  if (findExpectation(schemaPath.slice(0, wrong)).types.includes('array'))
    return `Name an entry by its number: ${holder}[0].`;
  if (names.length === 0) return `Nothing is under ${holder}.`;
  return `Available${holder === '' ? '' : ` under ${holder}`}: ${names.join(', ')}.`;
}

/** The schema's description of a place, and, for a field of the settings, what the service does with it. */
export function describeSchemaPlace({ schemaPath, lock }: FieldPath): Meaning {
  const expected = findExpectation(schemaPath, lock);
  const { types, values, minimum, maximum, secret, fallback } = expected;
  const store = storeReport(schemaPath);
  const standard = fallback === undefined && store !== null ? null : fallback;
  const members = [...new Set(listKeysAtPath(schemaPath))].map((name) => ({
    name,
    description: firstSentence([...schemaPath, name]),
  }));
  return {
    description: describeSchemaNode(schemaPath, expected),
    types: types.filter((type) => type !== 'null'),
    values,
    minimum,
    maximum,
    nullable: types.includes('null'),
    secret,
    reference: describeValueForm(schemaPath, expected),
    ...(standard === undefined ? {} : { default: standard }),
    ...(members.length === 0 ? {} : { members }),
    store,
  };
}

/** An mcp entry has no description of its own, and gets that of its list. */
function describeSchemaNode(schemaPath: readonly string[], { description }: Expectation): string {
  const isEntry = schemaPath.length === 4 && schemaPath[1] === 'mcp_config';
  return isEntry ? findExpectation(schemaPath.slice(0, -1)).description : description;
}

const FORMS: Readonly<Record<TextKind, ReferenceForm>> = {
  secret: 'whole',
  typed: 'whole',
  text: 'inside',
  pairs: 'inside',
  words: 'inside',
  plain: 'none',
};

/** References are possible for single values, and for the values inside a map or list. */
function describeValueForm(
  schemaPath: readonly string[],
  { types, secret }: Expectation,
): ReferenceForm {
  if (secret) return 'whole';
  const place = schemaPath[0] === 'settings' ? schemaPath.slice(1) : schemaPath;
  if (findPathFacts(place).list !== false) return 'whole';
  const single = types.some((type) => type !== 'object' && type !== 'array' && type !== 'null');
  return single ? FORMS[findTextKind(schemaPath)] : 'none';
}

function storeReport([block, name = '', ...rest]: readonly string[]): StoreReport | null {
  const field = block === 'settings' && rest.length === 0 ? fieldNamed(name) : undefined;
  if (field === undefined) return null;
  return {
    on_null: field.onNull,
    clear_with: field.clearWith,
    readable: field.readable,
    set_flag: field.setFlag,
    later: field.later,
  };
}

/** Returns the declared node at a path from the top of the file, its blocks merged; undefined if the target declares nothing there. */
export function findDeclaredNode(target: Target, filePath: Path): Node | undefined {
  const [block = '', ...rest] = filePath;
  if (listBlocksForPlace(filePath) !== null) return mergeStoreBlocks(target);
  // If two blocks have this, the file has one of them.
  if (rest[0] === 'disabled_skills' && member(target.settings, rest[0]) === undefined)
    return findNode(target.disabled_skills, rest.slice(1));
  let node = isBlockName(block) ? target[block] : member(target.root, block);
  for (const [index, segment] of rest.entries()) {
    const list = rest[index - 1];
    if (node?.kind !== 'list') node = member(node, segment);
    else if (index === 2 && rest[0] === 'mcp_config' && isMcpList(list))
      node = node.items.find((entry) => listWrittenNames(list, entry).includes(segment));
    else node = /^\d+$/.test(segment) ? node.items[Number(segment)] : undefined;
  }
  return node;
}
