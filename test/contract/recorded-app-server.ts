import { readFileSync } from 'node:fs';
import type { JsonRecord } from '../fixture/store-server.ts';
import type { RecordedStep } from './recorded.ts';

/** Exchanges recorded from release 1.11.0, whose store was empty when a case began. The one time in a record is `(time)`. */
export interface RecordedAppServer {
  /** The record that a store of nothing makes. */
  readonly base: JsonRecord;
  readonly cases: readonly RecordedAppServerCase[];
}

export interface RecordedAppServerCase {
  readonly name: string;
  readonly steps: readonly {
    readonly request: RecordedStep['request'];
    readonly response: {
      readonly status: number;
      readonly contentType: string;
      /** Of a refusal it is left out. */
      readonly body?: unknown;
      /** In place of a body that is a record: what is different in it from the base. */
      readonly differs?: JsonRecord;
      /** In place of a record with masks: its mcp servers. */
      readonly mcp?: JsonRecord;
    };
  }[];
}

export function recordedAppServer(): RecordedAppServer {
  const text = readFileSync(new URL('app-server.json', import.meta.url), 'utf8');
  return JSON.parse(text) as RecordedAppServer;
}

/** A record with some members different, level by level; the map of mcp servers is one value. */
export function recordWith(base: JsonRecord, differs: JsonRecord): JsonRecord {
  const record: JsonRecord = { ...base };
  for (const [name, value] of Object.entries(differs)) {
    const before = record[name];
    const inner = isMap(before) && isMap(value) && name !== 'mcp_config';
    record[name] = inner ? recordWith(before, value) : value;
  }
  return record;
}

function isMap(value: JsonRecord[string] | undefined): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
