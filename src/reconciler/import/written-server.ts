import { addressParts } from '../model/address.ts';
import { NATIVE_SERVERS } from '../model/field.ts';
import { findPathFacts } from '../model/path-facts.ts';
import type { Path } from '../model/path.ts';
import {
  commandHoldsSecret,
  holdsSecretText,
  isSensitiveName,
  sourceHoldsSecret,
} from '../model/secret-words.ts';
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
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isForeignText,
  Template,
  readForeignText,
  type Variable,
} from './foreign.ts';
import {
  isOpenName,
  referenceFor,
  findTemplateReference,
  withoutReferences,
  writeForeignValue,
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
      return isForeignText(value) ? writeServerAddress(owner, value, writing) : undefined;
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
      return member === 'auth' && isForeignRecord(value)
        ? writeServerAuth(owner, value, schema, writing)
        : writeForeignValue(value, { schema, names: [variableName(owner, member)] }, writing);
    }
  }
}

function chooseCredentialName(value: Foreign): string {
  return isForeignRecord(value) && value['strategy'] === 'bearer' ? 'TOKEN' : 'API_KEY';
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
  const place = { schema, names: [variableName(owner)] };
  const rest = writeForeignValue(foreignRecord(others), place, writing);
  if (rest === undefined || value === undefined || !isForeignText(value)) return rest;
  const reference = referenceFor(value, [variableName(owner, chooseCredentialName(auth))], writing);
  return { ...(rest as Record<string, Json>), value: reference };
}

/** The command of a program: one with a secret among its words is a reference. */
function writeServerCommand(
  owner: string,
  value: string | Template | Variable,
  writing: Writing,
): string | undefined {
  const text = value instanceof Template ? withoutReferences(value) : readForeignText(value);
  if (!isShowableText(value, writing)) return undefined;
  if (!commandHoldsSecret(text)) return toSettingsText(value);
  return referenceFor(value, [variableName(owner, 'command')], writing);
}

/** Reports whether a text may be written unchanged. */
function isShowableText(value: string | Template | Variable, { hidden }: Writing): boolean {
  const text = value instanceof Template ? withoutReferences(value) : readForeignText(value);
  return !holdsSecretText(text) && !hasHiddenSecret(text, hidden);
}

function toSettingsText(value: string | Template | Variable): string {
  return value instanceof Template ? value.text : escapeReferences(readForeignText(value));
}

/** An address: with a secret in it, or what may be one in its path, all of it is a reference. */
function writeServerAddress(
  owner: string,
  value: string | Template | Variable,
  writing: Writing,
): string {
  const text = value instanceof Template ? withoutReferences(value) : readForeignText(value);
  const { userinfo, tail } = addressParts(text);
  // `?key=` before a reference only shows the purpose of the reference.
  const isNamed =
    value instanceof Template &&
    /^:?$/.test(userinfo) &&
    /^(?:\?(?:[\w.-]+=(?:&|$))*)?$/.test(tail);
  const rest = isNamed ? text.slice(0, text.length - tail.length) : text;
  const hides = sourceHoldsSecret(rest) || hasHiddenSecret(text, writing.hidden);
  return hides ? referenceFor(value, [variableName(owner, 'url')], writing) : toSettingsText(value);
}

function writeServerArguments(
  owner: string,
  args: readonly Foreign[],
  ownNames: ReadonlySet<string>,
  writing: Writing,
): Json | undefined {
  const texts = args.map((one) =>
    isForeignText(one) ? readForeignText(one) : one === null ? '' : String(one as number),
  );
  const values = args.map((one, index) => (isForeignText(one) ? one : (texts[index] ?? '')));
  if (args.some((one) => isForeignList(one) || isForeignRecord(one))) return undefined;
  return values.map((value, index) => {
    const written = writeProgramArgument(owner, texts, index, writing.hidden);
    const before = index === 0 ? null : (texts[index - 1] ?? null);
    if (!(value instanceof Template)) {
      // A variable that the program has of its own stands for nothing that a file must not have.
      const named = withOwnNames(readForeignText(value), ownNames);
      const isOwn =
        named !== null &&
        (BEFORE_REFERENCE.test(named) ||
          openPart(named.replaceAll(REFERENCE, 'ref'), before) === null);
      return isOwn
        ? escapeReferences(readForeignText(value))
        : withReference(readForeignText(value), written, writing);
    }
    const isOpenText =
      BEFORE_REFERENCE.test(value.text) ||
      openPart(withoutReferences(value, 'ref'), before) === null;
    return isOpenText && !hasHiddenSecret(value.text, writing.hidden)
      ? value.text
      : referenceFor(
          value,
          written?.names ?? [variableName(owner, 'ARG', String(index + 1))],
          writing,
        );
  });
}

const REFERENCE = /\$\{env:\w+\}/g;

/** A text whose variables are all of its program, as if they were references; null if it has others, or none. */
function withOwnNames(text: string, ownNames: ReadonlySet<string>): string | null {
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const isOwn = names.length > 0 && names.every((name) => ownNames.has(name));
  return isOwn ? text.replaceAll(/\$\{(\w+)\}/g, '${env:$1}') : null;
}

/** One reference, behind a text that shows its purpose: a flag, the name of a variable or a header. */
const BEFORE_REFERENCE =
  /^(?:--?[A-Za-z][\w-]{0,40}=|[A-Z][A-Z0-9_]{0,60}=|[A-Za-z][A-Za-z-]{0,40}:\s*(?:(?:Bearer|Basic|Token)\s+)?)?\$\{env:[A-Za-z_]\w*\}$/;

function writeServerTexts(
  owner: string,
  member: 'env' | 'headers',
  texts: ForeignRecord,
  writing: Writing,
): Json | undefined {
  const written: [string, Json][] = [];
  for (const [name, value] of Object.entries(texts)) {
    if (!isForeignText(value) || !isOpenName(name, writing)) return undefined;
    const text = readForeignText(value);
    const program =
      member === 'env'
        ? writeProgramVariable(owner, name, text, writing.hidden)
        : writeHeader(owner, name);
    if (!(value instanceof Template)) {
      const isReference = member === 'headers' || program?.names !== null;
      written.push([
        name,
        isReference
          ? referenceFor(value, program?.names ?? [name], writing)
          : escapeReferences(text),
      ]);
      continue;
    }
    const whole = findTemplateReference(value);
    const isSecret = member === 'headers' || isSensitiveName(name);
    const isOpenText = !isSecret && isHarmlessValue(name, withoutReferences(value, 'ref').trim());
    written.push([
      name,
      isOpenText && !hasHiddenSecret(text, writing.hidden)
        ? text
        : (whole ?? referenceFor(value, program?.names ?? [name], writing)),
    ]);
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
