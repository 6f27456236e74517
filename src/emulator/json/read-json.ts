import type { Json } from './json.ts';

/** Lists and objects may stand inside each other this deep; a real server gives up at a similar depth. */
const maxDepth = 500;

/** `position` counts characters (not UTF-16 units) from 0, as the real server does in `detail[].loc`. */
export type JsonReading =
  | { readonly kind: 'json'; readonly value: Json }
  | { readonly kind: 'malformed'; readonly position: number; readonly reason: string }
  | { readonly kind: 'too-deep' };

export function readJson(text: string): JsonReading {
  try {
    return { kind: 'json', value: new Reader(text).document() };
  } catch (error) {
    if (error instanceof TooDeep) return { kind: 'too-deep' };
    if (!(error instanceof Malformed)) throw error;
    const position = Array.from(text.slice(0, error.offset)).length;
    return { kind: 'malformed', position, reason: error.message };
  }
}

class TooDeep extends Error {}

class Malformed extends Error {
  readonly offset: number;

  constructor(reason: string, offset: number) {
    super(reason);
    this.offset = offset;
  }
}

class Reader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value();
    this.#skipBlanks();
    if (this.#at < this.#text.length) throw new Malformed('Extra data', this.#at);
    return value;
  }

  #value(): Json {
    this.#skipBlanks();
    const mark = this.#text[this.#at];
    if (mark === '{') return this.#nested(() => this.#object());
    if (mark === '[') return this.#nested(() => this.#list());
    return mark === '"' ? this.#string() : this.#word();
  }

  #nested(read: () => Json): Json {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new TooDeep();
    this.#at += 1;
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #object(): Json {
    const members: [string, Json][] = [];
    if (this.#accept('}')) return {};
    for (;;) {
      this.#skipBlanks();
      if (this.#text[this.#at] !== '"') {
        throw new Malformed('Expecting property name enclosed in double quotes', this.#at);
      }
      const name = this.#string();
      if (!this.#accept(':')) throw new Malformed("Expecting ':' delimiter", this.#at);
      members.push([name, this.#value()]);
      if (this.#accept('}')) return Object.fromEntries(members);
      if (!this.#accept(',')) throw new Malformed("Expecting ',' delimiter", this.#at);
    }
  }

  #list(): Json {
    const items: Json[] = [];
    if (this.#accept(']')) return items;
    for (;;) {
      items.push(this.#value());
      if (this.#accept(']')) return items;
      if (!this.#accept(',')) throw new Malformed("Expecting ',' delimiter", this.#at);
    }
  }

  #string(): string {
    const start = this.#at;
    const special = /["\\\p{Cc}]/gu;
    special.lastIndex = start + 1;
    for (;;) {
      const found = special.exec(this.#text);
      if (found === null) throw new Malformed('Unterminated string starting at', start);
      if (found[0] === '"') break;
      if (found[0] === '\\') special.lastIndex = this.#endOfEscape(found.index, start);
      else if (found[0] < ' ') throw new Malformed('Invalid control character at', found.index);
    }
    this.#at = special.lastIndex;
    return String(JSON.parse(this.#text.slice(start, this.#at)));
  }

  #endOfEscape(backslash: number, start: number): number {
    const letter = this.#text[backslash + 1];
    if (letter === undefined) throw new Malformed('Unterminated string starting at', start);
    if ('"\\/bfnrt'.includes(letter)) return backslash + 2;
    if (letter !== 'u') throw new Malformed('Invalid \\escape', backslash);
    const digits = this.#text.slice(backslash + 2, backslash + 6);
    if (/^[\da-f]{4}$/i.test(digits)) return backslash + 6;
    throw new Malformed('Invalid \\uXXXX escape', backslash + 1);
  }

  #word(): Json {
    const word = /true|false|null/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text);
    if (found === null) return this.#number();
    this.#at = word.lastIndex;
    return found[0] === 'null' ? null : found[0] === 'true';
  }

  #number(): Json {
    const digits = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
    digits.lastIndex = this.#at;
    const found = digits.exec(this.#text);
    if (found === null) throw new Malformed('Expecting value', this.#at);
    this.#at = digits.lastIndex;
    const whole = found[1] === undefined && found[2] === undefined;
    return whole ? BigInt(found[0]) : Number(found[0]);
  }

  #accept(mark: string): boolean {
    this.#skipBlanks();
    if (this.#text[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }

  #skipBlanks(): void {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? '?')) this.#at += 1;
  }
}
