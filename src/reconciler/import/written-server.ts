import { addressParts } from '../model/address.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { findPathFacts } from '../model/path-facts.ts';
import type { Path } from '../model/path.ts';
import { commandHoldsSecret, holdsSecretText, sourceHoldsSecret } from '../model/secret-words.ts';
import type { Json } from '../model/value.ts';
import { variableName } from '../pull/placeholder.ts';
import {
  isHarmlessValue,
  openPart,
  type ProgramText,
  writeProgramArgument,
  writeHeader,
  writeProgramVariable,
} from '../pull/program-text.ts';
import { escapeReferences, hasHiddenSecret } from '../pull/writable.ts';
import {
  type Foreign,
  type ForeignRecord,
  type ForeignText,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isForeignText,
  Template,
  readForeignText,
} from './foreign.ts';
import {
  isOpenName,
  readOpenText,
  referenceFor,
  writeForeignValue,
  writeForeignText,
  type Writing,
} from './written.ts';

/** An mcp server as a file writes it by its name. Undefined if something of it may hold a secret where a file takes no reference. */
export function writeMcpServer(
  name: string,
  server: ForeignRecord,
  writing: Writing,
): { readonly [member: string]: Json } | undefined {
  const members: [string, Json][] = [];
  const ownNames = new Set(isForeignRecord(server['env']) ? Object.keys(server['env']) : []);
  for (const [member, value] of Object.entries(server)) {
    const written = writeServerMember(name, member, value, ownNames, writing);
    if (written === undefined) return undefined;
    members.push([member, written]);
  }
  return Object.fromEntries(members);
}

function writeServerMember(
  owner: string,
  member: string,
  value: Foreign,
  ownNames: ReadonlySet<string>,
  writing: Writing,
): Json | undefined {
  switch (member) {
    case 'url':
      return isForeignText(value)
        ? writeForeignText(value, isOpenAddress(value), [variableName(owner, 'url')], writing)
        : undefined;
    case 'command':
      return isForeignText(value) ? writeServerCommand(owner, value, writing) : undefined;
    case 'args':
      return isForeignList(value)
        ? writeServerArguments(owner, value, ownNames, writing)
        : undefined;
    case 'env':
    case 'headers':
      return isForeignRecord(value) ? writeServerTexts(owner, member, value, writing) : undefined;
    default: {
      const schema = [...NATIVE_SERVERS, owner, member];
      const names = (inner: Path) => [variableName(owner, member, ...inner)];
      return member === 'auth' && isForeignRecord(value)
        ? writeServerAuth(owner, value, schema, writing)
        : writeForeignValue(value, { schema, names }, writing);
    }
  }
}

/** How it is shown who calls: the one value of a strategy is named after the server alone. What a server keeps of a login is its own. */
function writeServerAuth(
  owner: string,
  auth: ForeignRecord,
  schema: Path,
  writing: Writing,
): Json | undefined {
  const { value, ...members } = auth;
  const others = Object.entries(members).filter(
    ([name]) => !findPathFacts([...schema, name]).served,
  );
  const names = (inner: Path) => [variableName(owner, ...inner)];
  const rest = writeForeignValue(foreignRecord(others), { schema, names }, writing);
  if (rest === undefined || !isForeignText(value)) return rest;
  const credential = auth['strategy'] === 'bearer' ? 'TOKEN' : 'API_KEY';
  const reference = referenceFor(value, [variableName(owner, credential)], writing);
  return { ...(rest as Record<string, Json>), value: reference };
}

/** The command of a program: one with a secret among its words is a reference. */
function writeServerCommand(
  owner: string,
  value: ForeignText,
  writing: Writing,
): string | undefined {
  const text = readOpenText(value);
  if (holdsSecretText(text) || hasHiddenSecret(text, writing.hidden)) return undefined;
  return writeForeignText(
    value,
    !commandHoldsSecret(text),
    [variableName(owner, 'command')],
    writing,
  );
}

/** Reports whether a file may contain an address: it has no secret in it, nor what may be one in its path. */
function isOpenAddress(value: ForeignText): boolean {
  const text = readOpenText(value);
  const { userinfo, tail } = addressParts(text);
  // `?key=` before a reference only shows the purpose of the reference.
  const isNamed =
    value instanceof Template &&
    /^:?$/.test(userinfo) &&
    /^(?:\?(?:[\w.-]+=(?:&|$))*)?$/.test(tail);
  return !sourceHoldsSecret(isNamed ? text.slice(0, text.length - tail.length) : text);
}

function writeServerArguments(
  owner: string,
  args: readonly Foreign[],
  ownNames: ReadonlySet<string>,
  writing: Writing,
): Json | undefined {
  if (args.some((one) => isForeignList(one) || isForeignRecord(one))) return undefined;
  const values = args.map((one) =>
    isForeignText(one) ? one : typeof one === 'object' ? '' : String(one),
  );
  const texts = values.map(readForeignText);
  return values.map((value, index) => {
    const written = writeProgramArgument(owner, texts, index, writing.hidden);
    const names = written?.names ?? [variableName(owner, 'ARG', String(index + 1))];
    // A variable that the program has of its own stands for nothing that a file must not have.
    const template =
      value instanceof Template ? value : templateOfOwn(texts[index] ?? '', ownNames);
    const isOpen = template !== null && isOpenTemplate(template, texts[index - 1] ?? null);
    return isOpen || value instanceof Template
      ? writeForeignText(value, isOpen, names, writing)
      : withReference(texts[index] ?? '', written, writing);
  });
}

/** A text whose variables are all of its program, as if they were references; null if it has others, or none. */
function templateOfOwn(text: string, ownNames: ReadonlySet<string>): Template | null {
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const isOwn = names.length > 0 && names.every((name) => ownNames.has(name));
  return isOwn ? new Template(text.replaceAll(/\$\{(\w+)\}/g, '${env:$1}')) : null;
}

/** One reference, behind a text that shows its purpose: a flag, the name of a variable or a header. */
const BEFORE_REFERENCE =
  /^(?:--?[A-Za-z][\w-]{0,40}=|[A-Z][A-Z0-9_]{0,60}=|[A-Za-z][A-Za-z-]{0,40}:\s*(?:(?:Bearer|Basic|Token)\s+)?)?\$\{env:[A-Za-z_]\w*\}$/;

function isOpenTemplate(template: Template, before: string | null): boolean {
  return (
    BEFORE_REFERENCE.test(template.text) || openPart(readOpenText(template, 'ref'), before) === null
  );
}

function writeServerTexts(
  owner: string,
  member: 'env' | 'headers',
  texts: ForeignRecord,
  writing: Writing,
): Json | undefined {
  const written: [string, Json][] = [];
  for (const [name, value] of Object.entries(texts)) {
    if (!isForeignText(value) || !isOpenName(name, writing)) return undefined;
    const isVariable = member === 'env';
    const program = isVariable
      ? writeProgramVariable(owner, name, readForeignText(value), writing.hidden)
      : writeHeader(owner, name);
    const isOpen = isVariable && isHarmlessValue(name, readOpenText(value, 'ref').trim());
    written.push([name, writeForeignText(value, isOpen, program?.names ?? [name], writing)]);
  }
  return Object.fromEntries(written);
}

/** An argument as the file writes it: the part that it may hold, and the rest as a reference. */
function withReference(text: string, written: ProgramText | null, { names }: Writing): string {
  if (written === null || written.names === null) return escapeReferences(text);
  const marked = written.written.indexOf('${env:\u0001');
  const open = written.written.slice(0, marked);
  const rest = text.slice(open.replaceAll('$${', '${').length);
  return open + names.referenceTo(rest, written.names);
}
