import { fileURLToPath } from 'node:url';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { type Json, type JsonRecord, recordThatDiffers } from './recorded-dialect.ts';

/** The folder of skills and plugins, which recordings name `(work)`. */
const WORK = fileURLToPath(new URL('.', import.meta.url)).replace(/\/$/, '');

const ID = /^\(id \d+\)$/;

/** What a recording writes in place of ids and folders, and what stands for it in one run. */
export class Placeholders {
  readonly #values = new Map<string, string>([['(work)', WORK]]);

  readonly #shown: string | undefined;

  /** `store`: the folder of the server's store; `shown`: the one that it tells of. */
  constructor(store: string | null, shown?: string) {
    if (store !== null) this.#values.set('(store)', store);
    this.#shown = shown;
  }

  /** Anything, with what stands for each placeholder that is known. */
  filled<T>(recorded: T): T {
    let text = stringify(recorded) ?? '';
    for (const [placeholder, value] of this.#values) text = text.replaceAll(placeholder, value);
    return parse(text) as T;
  }

  /** A text with the placeholders. */
  put(text: string): string {
    let written = this.#shown === undefined ? text : text.replaceAll(this.#shown, '(store)');
    for (const [placeholder, value] of this.#values)
      written = written.replaceAll(value, placeholder);
    return written;
  }

  /** Learns the ids in an answer from where the recording has placeholders of ids that are not known yet. */
  learn(seen: unknown, recorded: Json | undefined): void {
    if (typeof recorded === 'string' && ID.test(recorded) && !this.#values.has(recorded)) {
      if (typeof seen === 'string') this.#values.set(recorded, seen);
    } else if (Array.isArray(recorded) && Array.isArray(seen)) {
      for (const [index, one] of recorded.entries()) this.learn(seen[index], one as Json);
    } else if (isMembers(recorded) && isMembers(seen)) {
      for (const [name, one] of Object.entries(recorded)) this.learn(seen[name], one);
    }
  }
}

/** A recorded body in which some records are told by what is different in them from those of an empty store. */
export function fromEmpty(body: Json | undefined, base: JsonRecord): Json | undefined {
  if (Array.isArray(body)) return body.map((one: Json) => fromEmpty(one, base) ?? null);
  if (!isMembers(body)) return body;
  const agent = base['agent_settings'] as JsonRecord;
  const { $llmFromEmpty: llm, $agentSettingsFromEmpty: settings } = body;
  if (isMembers(llm)) return recordThatDiffers(agent['llm'] as JsonRecord, llm);
  if (isMembers(settings)) return recordThatDiffers(agent, settings);
  return Object.fromEntries(
    Object.entries(body).map(([name, one]) => [name, fromEmpty(one, base) ?? null]),
  );
}

function isMembers(value: unknown): value is JsonRecord {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}
