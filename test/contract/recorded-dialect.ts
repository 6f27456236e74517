import { readFileSync } from 'node:fs';
import { isLosslessNumber, type LosslessNumber, parse } from 'lossless-json';

/** Numbers as they are written: 30.0 is not 30. */
export type Json = null | boolean | string | LosslessNumber | readonly Json[] | JsonRecord;

export interface JsonRecord {
  readonly [name: string]: Json;
}

/**
 * Exchanges recorded from a real server of a dialect, which had nothing stored when a case began. Values that change from run to run
 * read `(time)`, `(seconds)`, `(encrypted)`, `(python)` and the like.
 */
export interface RecordedDialect {
  /** The record that a server answers of which nothing was asked to be stored. */
  readonly base: JsonRecord;
  readonly cases: readonly RecordedDialectCase[];
}

export interface RecordedDialectCase {
  readonly name: string;
  /** The releases that answer so, of several that were recorded. Default: each of them. */
  readonly releases?: readonly string[];
  /** Files in the server's folder before it starts, by their names; text is a file that is not JSON. */
  readonly given?: JsonRecord;
  readonly steps: readonly RecordedDialectStep[];
  /** The server's settings.json after the last step: what is different in it from one that holds defaults alone. Null: no file. */
  readonly stored?: JsonRecord | null;
}

export type RecordedDialectStep =
  | { readonly request: RecordedRequest; readonly response: RecordedResponse }
  /** The server is started anew, with other variables. */
  | { readonly server: 'restarted'; readonly env?: Readonly<Record<string, string>> }
  /** A file is changed behind the server's back; null removes it. */
  | { readonly file: string; readonly content: Json }
  | { readonly parallel: readonly RecordedRequest[]; readonly statuses: readonly LosslessNumber[] };

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  /** Absent or true: the server's key; false: none; "wrong": another one; "bearer": the right key, as `Authorization: Bearer`. */
  readonly auth?: boolean | 'wrong' | 'bearer';
  /** The content type that is sent with a body; absent: application/json; null: none. */
  readonly type?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: Json;
  /** Sent as it is. */
  readonly raw?: string;
  /** Bytes, in hexadecimal digits. */
  readonly rawHex?: string;
}

export interface RecordedResponse {
  readonly status: LosslessNumber;
  readonly contentType: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** In place of a body that is a record: what is different in it from the base; `(absent)` for a member that it lacks. */
  readonly differs?: JsonRecord;
}

/** The settings of a dialect, or its named collections. Of a refusal, settings-v0 has each detail's type and place alone. */
export type RecordedFile =
  | 'app-server'
  | 'agent-server'
  | 'collections-settings-v0'
  | 'collections-app-server'
  | 'collections-agent-server'
  | 'more-app-server'
  | 'more-agent-server';

export function recordedDialect(file: RecordedFile): RecordedDialect {
  const text = readFileSync(new URL(`${file}.json`, import.meta.url), 'utf8');
  return parse(text) as RecordedDialect;
}

/** A record with some members different, level by level. */
export function recordThatDiffers(base: JsonRecord, differs: JsonRecord): JsonRecord {
  const record: Record<string, Json> = { ...base };
  for (const [name, value] of Object.entries(differs)) {
    const before = record[name];
    if (value === '(absent)') delete record[name];
    else record[name] = isMap(before) && isMap(value) ? recordThatDiffers(before, value) : value;
  }
  return record;
}

function isMap(value: Json | undefined): value is JsonRecord {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value)
  );
}
