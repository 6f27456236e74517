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

/** Words of each kind, as the pattern of a form finds them. None has a character with which it could end, or be something else. */
const WORDS = {
  name: String.raw`([A-Za-z0-9][\w.-]{0,200})`,
  double: String.raw`([ !#-\[\]-~]{0,400})`,
  single: String.raw`([ -&(-~]{0,400})`,
  number: String.raw`(\d{1,15})`,
  plain: String.raw`((?![Nn]ull\b|NULL\b|[Tt]rue\b|TRUE\b|[Ff]alse\b|FALSE\b)[A-Za-z](?:[\w./-]|:(?=[\w/])){0,400})`,
} as const;

/** A comment, or a value on the line of its key. */
const VALUE = new RegExp(
  String.raw`(?<=\s)#.*|(?<=: )(?:"${WORDS.double}"|'${WORDS.single}'|${WORDS.number}|${WORDS.plain})(?=\s*(?:[,}\r\n]|$))`,
  'g',
);
const KINDS = ['double', 'single', 'number', 'plain'] as const;

/** A difference between environments of a form. */
interface Word {
  readonly kind: keyof typeof WORDS;
  readonly text: string;
  /** The offset of the word, and that of its value: of the quote before it, if there is one. */
  readonly start: number;
  readonly at: number;
}

/**
 * The form of environments that differ only in words. One of this form has the same lines as the first, with other words in places where
 * that has a whole value, and words that YAML reads as nothing else: it is the first one's node with those values.
 */
class EnvironmentForm {
  readonly file: SourceFile;
  readonly indent: number;
  /** The start of the first and of the last environment. */
  readonly first: number;
  last: number;
  readonly #words: readonly Word[];
  readonly #pattern: RegExp;
  #node: Node | null = null;
  /** The number of words before each place of the first one's node. */
  readonly #before = new Map<number, number>();

  private constructor(file: SourceFile, indent: number, words: readonly Word[], end: number) {
    this.file = file;
    this.indent = indent;
    this.first = (words[0] as Word).at - indent;
    this.last = this.first;
    this.#words = words;
    const { text } = file;
    let source = '';
    let from = this.first;
    for (const { kind, start, text: word } of words) {
      source += escapeRegExp(text.slice(from, start)) + WORDS[kind];
      from = start + word.length;
    }
    source += escapeRegExp(text.slice(from, end));
    this.#pattern = new RegExp(`${source}(?=$| {0,${indent}}[^\\s#])`, 'y');
  }

  /** The form of the environment between two offsets; null if its name is not a plain word. */
  static of(file: SourceFile, first: number, end: number, indent: number): EnvironmentForm | null {
    const at = first + indent;
    const name = new RegExp(`${WORDS.name}:(?=\\s)`, 'y');
    name.lastIndex = at;
    const named = name.exec(file.text)?.[1];
    if (named === undefined) return null;
    const words: Word[] = [{ kind: 'name', text: named, start: at, at }];
    for (const { 0: value, index, ...found } of file.text.slice(first, end).matchAll(VALUE)) {
      const group = KINDS.findIndex((_, one) => found[one + 1] !== undefined);
      const kind = KINDS[group];
      if (kind === undefined) continue;
      const text = found[group + 1] ?? '';
      const quote = value.length > text.length ? 1 : 0;
      words.push({ kind, text, start: first + index + quote, at: first + index });
    }
    return new EnvironmentForm(file, indent, words, end);
  }

  /** Returns the end of an environment that starts at an offset; -1 if it has another form. */
  findEnd(start: number): number {
    this.#pattern.lastIndex = start;
    return this.#pattern.test(this.file.text) ? this.#pattern.lastIndex : -1;
  }

  /** Uses the first one as it was read. False if one of the words is not a separate value. */
  learn(node: Node): boolean {
    const values = new Map<number, unknown>();
    const count = (at: number): void => {
      this.#before.set(at, this.#words.filter((word) => word.at < at).length);
    };
    const visit = (inner: Node): void => {
      count(inner.at);
      if (inner.kind === 'scalar') values.set(inner.at, inner.value);
      else if (inner.kind === 'list') inner.items.forEach(visit);
      else
        for (const { keyAt, node: value } of inner.members.values()) {
          count(keyAt);
          visit(value);
        }
    };
    visit(node);
    this.#node = node;
    return this.#words.every(
      (word) => word.kind === 'name' || values.get(word.at) === parseWordValue(word, word.text),
    );
  }

  readName(start: number): string {
    return this.#readWords(start)[0] ?? '';
  }

  /** The node of the environment that starts at an offset. */
  createNode(start: number): Node {
    const words = this.#readWords(start);
    // The distance that it moves, by the number of words before it.
    const moves = [start - this.first];
    for (let index = 0; index < words.length; index += 1)
      moves.push(
        (moves[index] ?? 0) +
          countCharacters(words[index]) -
          countCharacters(this.#words[index]?.text),
      );
    const placeOf = (at: number): number => at + (moves[this.#before.get(at) ?? 0] ?? 0);
    const copy = (node: Node): Node => {
      const { kind, file, reported } = node;
      const at = placeOf(node.at);
      if (kind === 'scalar') {
        const index = this.#before.get(node.at) ?? 0;
        const word = this.#words[index];
        const isWord = !node.bare && word?.at === node.at;
        const value = isWord ? parseWordValue(word, words[index] ?? '') : node.value;
        return { kind, file, at, reported, value, bare: node.bare };
      }
      if (kind === 'list') return { kind, file, at, reported, items: node.items.map(copy) };
      const members = new Map<string, Member>();
      for (const { key, keyFile, keyAt, node: value } of node.members.values())
        members.set(key, { key, keyFile, keyAt: placeOf(keyAt), node: copy(value) });
      return { kind, file, at, reported, members };
    };
    return copy(this.#node as Node);
  }

  #readWords(start: number): readonly string[] {
    this.#pattern.lastIndex = start;
    return this.#pattern.exec(this.file.text)?.slice(1) ?? [];
  }
}

function countCharacters(text = ''): number {
  return text.length;
}

function parseWordValue({ kind }: Word, text: string): string | number {
  return kind === 'number' ? Number(text) : text;
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
