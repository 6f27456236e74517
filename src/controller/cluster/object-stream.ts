/** A member of an object, as JSON. Its text is null if it has more bytes than it may have. */
export interface RawMember {
  readonly text: string | null;
  readonly bytes: number;
  /** Commas, colons and brackets outside of texts. */
  readonly tokens: number;
  /** Levels of brackets in brackets. */
  readonly depth: number;
}

/** An object of the API server whose members are not parsed yet. */
export type RawObject = ReadonlyMap<string, RawMember>;

interface ObjectStreamOptions {
  /** The depth of the objects that are cut out: 1 in an event of a watch, 2 in a list. */
  readonly depth: 1 | 2;
  /** Bytes that are stored of a member; above that it has no text. */
  readonly most: (member: string) => number;
  readonly onObject: (object: RawObject) => void;
  /** Called with a whole answer, in which each object is replaced by 0. */
  readonly onAnswer: (text: string) => void;
}

/** Bytes of an answer without its objects. */
const LONGEST_REST = 1024 * 1024;
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Cuts objects out of JSON while it arrives, one member after the other, so that no more than one object is in memory, and nothing of a member that is too large.
 */
export class ObjectStream {
  readonly #options: ObjectStreamOptions;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The destination of bytes: the answer, a key or a member of an object. */
  #sink: Sink = new Sink(LONGEST_REST);
  #rest = this.#sink;
  #object: Map<string, RawMember> | null = null;
  #key: string | null = null;

  constructor(options: ObjectStreamOptions) {
    this.#options = options;
  }

  /** Throws a SyntaxError for anything other than JSON of an API server. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) this.#isText = false;
      } else if (byte === QUOTE) this.#isText = true;
      else if (byte === COMMA || byte === COLON) {
        this.#sink.tokens += 1;
        if (this.#object !== null && this.#depth === this.#options.depth + 1) {
          this.#sink.add(bytes.subarray(from, at));
          from = at + 1;
          if (byte === COMMA) this.#endMember();
          else if (this.#key === null) this.#beginMember();
        }
      } else if (byte === OPEN_MAP || byte === OPEN_LIST) {
        this.#sink.tokens += 1;
        if (byte === OPEN_MAP && this.#object === null && this.#depth === this.#options.depth) {
          this.#sink.add(bytes.subarray(from, at));
          from = at + 1;
          this.#beginObject();
        }
        this.#depth += 1;
        this.#sink.depth = Math.max(this.#sink.depth, this.#depth - this.#options.depth - 1);
      } else if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
        this.#depth -= 1;
        if (this.#depth < 0) throw new SyntaxError('Unexpected bracket.');
        if (this.#object !== null && this.#depth === this.#options.depth) {
          this.#sink.add(bytes.subarray(from, at));
          from = at + 1;
          this.#endObject(this.#object);
        } else if (this.#depth === 0) {
          this.#sink.add(bytes.subarray(from, at + 1));
          from = at + 1;
          this.#endAnswer();
        }
      }
    }
    this.#sink.add(bytes.subarray(from));
  }

  #beginObject(): void {
    this.#rest.add(Buffer.from('0'));
    this.#object = new Map();
    this.#key = null;
    this.#sink = new Sink(LONGEST_KEY);
  }

  #beginMember(): void {
    const text = this.#sink.text ?? '';
    const key: unknown = JSON.parse(text);
    this.#key = String(key);
    this.#sink = new Sink(this.#options.most(this.#key));
  }

  #endMember(): void {
    const { text, bytes, tokens, depth } = this.#sink;
    if (this.#key !== null) this.#object?.set(this.#key, { text, bytes, tokens, depth });
    this.#key = null;
    this.#sink = new Sink(LONGEST_KEY);
  }

  #endObject(object: RawObject): void {
    this.#endMember();
    this.#object = null;
    this.#sink = this.#rest;
    this.#options.onObject(object);
  }

  #endAnswer(): void {
    const { text } = this.#rest;
    this.#rest = new Sink(LONGEST_REST);
    this.#sink = this.#rest;
    if (text === null) throw new SyntaxError('The answer is too long.');
    this.#options.onAnswer(text);
  }
}

const LONGEST_KEY = 1024;

class Sink {
  readonly #most: number;
  #parts: Buffer[] = [];
  bytes = 0;
  tokens = 0;
  depth = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.bytes += part.length;
    if (this.bytes <= this.#most) this.#parts.push(part);
    else this.#parts = [];
  }

  get text(): string | null {
    return this.bytes > this.#most ? null : Buffer.concat(this.#parts).toString('utf8');
  }
}
