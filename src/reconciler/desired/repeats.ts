import { EnvironmentForm } from './environment-form.ts';
import type { MapNode, Member, Node, SourceFile } from './node.ts';

/** The text of a file without environments that are written like others in it. */
export interface ShortenedText {
  readonly text: string;
  /** Returns the place in the file of an offset of that text. */
  readonly placeOf: (at: number) => number;
  /** Adds those environments to the ones of that text; null if the file is not made as its lines look. */
  readonly complete: (environments: MapNode) => MapNode | null;
}

/**
 * Most environments of a long file are written like others. Of each form the YAML parser reads the first and the last one; those
 * between them are made from the first (EnvironmentForm), which takes a twentieth of the time. Null if none is like another.
 *
 * That a line looks like an environment does not make it one: it may be inside a text or in brackets. But each environment that is
 * parsed was found where its line is, so nothing was open there, and one that is left out has one of them after it.
 */
export function withoutRepeats(file: SourceFile): ShortenedText | null {
  const { text } = file;
  const found = FIRST.exec(text);
  if (found === null) return null;
  const indent = found[1]?.length ?? 0;
  const { parts, end } = scanRepeatedParts(file, found.index + found[0].length - indent, indent);
  const pieces: string[] = [];
  const cuts: Cut[] = [];
  let [from, removed] = [0, 0];
  for (const [index, part] of parts.entries()) {
    if (!isRepeat(part)) continue;
    const { start } = part;
    const next = parts[index + 1]?.start ?? end;
    if (start > from) {
      pieces.push(text.slice(from, start));
      cuts.push({ at: start - removed, removed });
    }
    removed += next - start;
    from = next;
  }
  if (removed === 0) return null;
  pieces.push(text.slice(from));
  cuts.push({ at: text.length, removed });
  return {
    text: pieces.join(''),
    placeOf: (at) => at + countCutCharacters(at, cuts),
    complete: (environments) => joinEnvironmentParts(environments, parts, indent),
  };
}

/** `environments:` up to the first of them. */
const FIRST = /^environments:[ \t]*\r?\n(?:[ \t]*(?:#.*)?\r?\n)*( +)(?=[^\s#])/m;

/** An environment as it looks: from its line to the next line that is not indented more. */
interface EnvironmentSlice {
  readonly start: number;
  /** Null if it is parsed. */
  readonly form: EnvironmentForm | null;
}

/** Reports whether an environment is between the first and the last one of its form. */
function isRepeat({ start, form }: EnvironmentSlice): boolean {
  return form !== null && start !== form.first && start !== form.last;
}

/** The end of a piece, in the shortened text, and what is left out before it. */
interface Cut {
  readonly at: number;
  readonly removed: number;
}

function countCutCharacters(at: number, cuts: readonly Cut[]): number {
  let [low, high] = [0, cuts.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at <= (cuts[middle] as Cut).at) high = middle;
    else low = middle + 1;
  }
  return cuts[low]?.removed ?? 0;
}

/** Forms that are distinguished; the environments of others are all parsed. */
const MOST_FORMS = 32;

/** Characters of an environment whose form is looked at. */
const LONGEST = 4096;

function scanRepeatedParts(
  file: SourceFile,
  from: number,
  indent: number,
): { readonly parts: readonly EnvironmentSlice[]; readonly end: number } {
  const { text } = file;
  const begins = new RegExp(` {${indent}}[^\\s#]`, 'y');
  const boundary = new RegExp(`\\n(?= {0,${indent}}[^\\s#])`, 'g');
  const parts: EnvironmentSlice[] = [];
  const forms: EnvironmentForm[] = [];
  let at = from;
  for (begins.lastIndex = at; begins.test(text); begins.lastIndex = at) {
    const start = at;
    let form = forms.find((one) => (at = one.findEnd(start)) !== -1) ?? null;
    if (form === null) {
      boundary.lastIndex = start;
      at = boundary.test(text) ? boundary.lastIndex : text.length;
      form =
        forms.length < MOST_FORMS && at - start <= LONGEST
          ? EnvironmentForm.of(file, start, at, indent)
          : null;
      if (form !== null) forms.push(form);
    } else form.last = start;
    parts.push({ start, form });
  }
  return { parts, end: at };
}

function joinEnvironmentParts(
  environments: MapNode,
  parts: readonly EnvironmentSlice[],
  indent: number,
): MapNode | null {
  const read = environments.members.values();
  const members = new Map<string, Member>();
  for (const part of parts) {
    const { start, form } = part;
    let member: Member | undefined;
    if (form !== null && isRepeat(part)) member = new Repeat(form, start);
    else {
      member = read.next().value;
      if (member?.keyAt !== start + indent) return null;
      if (form?.first === start && !form.learn(member.node)) return null;
    }
    if (members.has(member.key)) return null;
    members.set(member.key, member);
  }
  return read.next().done === true ? { ...environments, members } : null;
}

/** An environment that is like the first of its form. Its node is created at each access, and not stored. */
class Repeat implements Member {
  readonly key: string;
  readonly #form: EnvironmentForm;
  readonly #start: number;

  constructor(form: EnvironmentForm, start: number) {
    this.key = form.readName(start);
    this.#form = form;
    this.#start = start;
  }

  get keyFile(): SourceFile {
    return this.#form.file;
  }

  get keyAt(): number {
    return this.#start + this.#form.indent;
  }

  get node(): Node {
    return this.#form.createNode(this.#start);
  }
}
