import { fieldNamed, fields } from '../model/field.ts';
import { bareUrl } from '../model/identity.ts';
import { identityMember, isMcpList } from '../model/mcp.ts';
import { formatPath, parsePath, type Path } from '../model/path.ts';
import { suggest } from '../model/suggest.ts';
import { mayHoldReference } from './references.ts';
import { expectationAt, type Expectation } from './schema-lookup.ts';

/** A place of the file that a person asked about. */
export interface FieldPath {
  /** As it is shown: relative to settings, or, for other blocks, from the top of the file. */
  readonly path: Path;
  readonly part: 'settings' | 'sandboxes' | 'file';
  /** From the top of the file; an mcp entry by what it is known by. */
  readonly filePath: Path;
  /** The same with every entry by a number, as the schema knows it. */
  readonly schemaPath: Path;
}

/** What is no value of one target: environments are chosen with -e, and a base has been merged. */
const BEYOND: ReadonlySet<string> = new Set(['environments', 'extends']);

/** A path as the specification of settings.yaml writes it, or, where it leads nowhere, what to do about that. */
export function fieldPath(text: string): FieldPath | { readonly hint: string } {
  const written = parsePath(text.trim());
  if (written === null || written[0] === undefined) return { hint: hintAt([], [text.trim()], 0) };
  if (BEYOND.has(written[0]))
    return { hint: 'Environments are chosen with -e; explain without a path shows all of one.' };
  const isField = fieldNamed(written[0]) !== undefined;
  const filePath = isField ? ['settings', ...written] : written;
  const schemaPath = filePath.map((segment, index) => (isEntry(filePath, index) ? '0' : segment));
  const wrong = schemaPath.findIndex(
    (_, index) => !isKnown(expectationAt(schemaPath.slice(0, index + 1))),
  );
  if (wrong !== -1) return { hint: hintAt(schemaPath, filePath, wrong) };
  if (hidesSecret(filePath)) return { hint: 'Write the url without userinfo, query and fragment.' };
  const [block] = filePath;
  const part = block === 'settings' || block === 'sandboxes' ? block : 'file';
  const path = block === 'settings' && filePath.length > 1 ? filePath.slice(1) : filePath;
  return { path, part, filePath, schemaPath };
}

/** Every path without an entry of a list in it: fields, and the blocks and keys beside the settings. */
export function plainPaths(): readonly string[] {
  const blocks = keysAt([]).filter((key) => key !== 'settings');
  const inner = blocks.flatMap((block) => expectationAt([block]).keys.map((key) => [block, key]));
  const names = [...fields().map(({ name }) => name), ...blocks].map((name) => [name]);
  return [...names, ...inner].map(formatPath);
}

function isEntry(filePath: Path, index: number): boolean {
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

function isKnown({ types, values, keys, description }: Expectation): boolean {
  return types.length > 0 || values.length > 0 || keys.length > 0 || description !== '';
}

function keysAt(schemaPath: Path): readonly string[] {
  const { keys } = expectationAt(schemaPath);
  return schemaPath.length === 0 ? keys.filter((key) => !BEYOND.has(key)) : keys;
}

/** What was meant by a path whose segment at `wrong` nothing there is called, or what there is. */
function hintAt(schemaPath: Path, filePath: Path, wrong: number): string {
  const names = wrong === 0 ? plainPaths() : keysAt(schemaPath.slice(0, wrong));
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
  if (expectationAt(schemaPath.slice(0, wrong)).types.includes('array'))
    return `Name an entry by its number: ${holder}[0].`;
  if (names.length === 0) return `Nothing is under ${holder}.`;
  return `Available${holder === '' ? '' : ` under ${holder}`}: ${names.join(', ')}.`;
}
