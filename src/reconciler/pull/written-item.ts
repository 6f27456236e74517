import type { Node } from '../desired/node.ts';
import { hasValidReference } from '../desired/references.ts';
import { BLOCKS } from '../desired/blocks.ts';
import {
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  LLM_PROFILES_FORM,
} from '../model/collection-forms.ts';
import {
  isSecretHolder,
  isSecretItemMember,
  type CollectionForm,
  type ListedItem,
  type Listing,
} from '../model/collection.ts';
import { AGENT_PART, MODEL_PART } from '../model/field.ts';
import { memberFacts } from '../model/path-facts.ts';
import type { Path } from '../model/path.ts';
import { holdsSecretText, sourceHoldsSecret } from '../model/secret-words.ts';
import { Secret } from '../model/secret.ts';
import { holdsNothing, isEmpty, sameValue, collectSecrets, type Value } from '../model/value.ts';
import { variableName } from './placeholder.ts';
import type { WrittenValue } from './program.ts';
import { toWritableScalar, hasHiddenSecret } from './writable.ts';
import {
  collectWritten,
  createSecretReference,
  writeNested,
  writeScalarValue,
  type WrittenPlace,
} from './written-deep.ts';

/**
 * An item in the form of a file: in the short form if it has only its main member. Parts that cannot be written are not managed, and passed
 * to `leave`; null if the item has to be declared with them.
 */
export function writeListedItem(
  form: CollectionForm,
  listing: Listing,
  item: ListedItem,
  hidden: readonly Secret[],
  leave: (member: string) => void,
): WrittenValue | null {
  const { main } = form;
  const members: [string, WrittenValue][] = [];
  if (main !== undefined && isSecretItemMember(form, [main]))
    members.push([main, secretReference(form, item.name, [main])]);
  for (const [name, value] of Object.entries(item.members)) {
    if (members.some(([known]) => known === name) || isLeftToDefault(form, listing, item, name))
      continue;
    const written = writeItemMember(form, item.name, [name, value], hidden);
    if (written !== null) members.push([name, written]);
    else if (form.isWhole || name === main) return null;
    else leave(name);
  }
  const [[only, short] = ['', null], ...others] = members;
  if (short !== null && others.length === 0 && only === main) return short;
  return {
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
    placeholders: members.flatMap(([, { placeholders }]) => placeholders),
  };
}

/** A reference to a secret of an item, its variable named after both. */
export function secretReference(form: CollectionForm, item: string, member: Path): WrittenValue {
  return createSecretReference(new Secret(''), createMemberPlace(form, item, member, []));
}

/** A member as a file writes it: what is a secret, or may hold one, as a reference. Null if a file cannot hold it. */
export function writeItemMember(
  form: CollectionForm,
  item: string,
  [name, value]: readonly [string, Value],
  hidden: readonly Secret[],
): WrittenValue | null {
  const isModel = form === LLM_PROFILES_FORM || form === CONNECTIONS_FORM;
  return isSecretItemMember(form, [name]) || isModel || collectSecrets(value).length > 0
    ? writeModelMember(form, [name], value, createMemberPlace(form, item, [name], hidden))
    : writePlainMember(form, [item, name], value, hidden);
}

function createMemberPlace(
  { block, main }: CollectionForm,
  item: string,
  member: Path,
  hidden: readonly Secret[],
): WrittenPlace {
  const path = [block, item, ...(member.length === 1 && member[0] === main ? [] : member)];
  const under = (inner: Path) => [item, ...path.slice(2), ...inner];
  const names = (inner: Path) => [
    variableName(...under(inner)),
    variableName(block, ...under(inner)),
  ];
  const part = block === AGENT_PROFILES_FORM.block ? AGENT_PART : MODEL_PART;
  return { schema: [...part, ...member], path, at: path, names, hidden };
}

/** Reports whether the connection of an item sets a member of it. */
export function isByConnection(form: CollectionForm, item: ListedItem, name: string): boolean {
  return (
    form === LLM_PROFILES_FORM && !isEmpty(item.members['connection']) && BY_CONNECTION.has(name)
  );
}

/** A member that need not be declared: it has its default, or its connection provides it. */
export function isLeftToDefault(
  form: CollectionForm,
  { whole, fills }: Listing,
  item: ListedItem,
  name: string,
): boolean {
  const value = item.members[name] ?? null;
  if (isByConnection(form, item, name)) return true;
  return whole !== undefined && !isSecretHolder(form, name, value)
    ? sameValue(whole(name, value), whole(name, fills?.(name, item.members) ?? null))
    : holdsNothing(value);
}

const BY_CONNECTION: ReadonlySet<string> = new Set(['api_key', 'base_url']);

/** A member of a model or of what it is reached by: what is a secret, or may hold one, as a reference. */
function writeModelMember(
  form: CollectionForm,
  member: Path,
  value: Value,
  place: WrittenPlace,
): WrittenValue | null {
  return collectWritten(value, place, (scalar, inner, before) => {
    const below = inner.path.slice(place.path.length);
    if (!isSecretItemMember(form, [...member, ...below]))
      return writeScalarValue(scalar, inner, before);
    return isEmpty(scalar) ? null : createSecretReference(scalar, inner);
  });
}

/** A member that is not a secret. Null if it contains one nevertheless. */
function writePlainMember(
  form: CollectionForm,
  path: Path,
  value: Value,
  hidden: readonly Secret[],
): WrittenValue | null {
  const isPlain = BLOCKS.find(({ name }) => name === form.block)?.textKind?.([...path]) === 'plain';
  const { shows } = memberFacts(memberFacts('File', form.block).type, path[1] ?? '');
  const holdsSecret = shows === 'source' ? sourceHoldsSecret : holdsSecretText;
  const written = writeNested<Value>(value, (one) => {
    const isOpen = !hasHiddenSecret(one, hidden) && !(typeof one === 'string' && holdsSecret(one));
    if (!isOpen) return undefined;
    if (typeof one !== 'string' || !isPlain) return toWritableScalar(one)?.written;
    return one.includes('${') ? undefined : one;
  });
  return written === undefined ? null : { value: written, placeholders: [] };
}

/** Reports whether a value of the file contains a reference. */
export function hasReferences(node: Node): boolean {
  if (node.kind === 'scalar')
    return typeof node.value === 'string' && hasValidReference(node.value);
  if (node.kind === 'list') return node.items.some(hasReferences);
  return [...node.members.values()].some((one) => hasReferences(one.node));
}
