import { readFileSync } from 'node:fs';

/** Exchanges recorded from a real server, which held nothing when a case began. */
export interface RecordedCase {
  readonly name: string;
  readonly steps: readonly RecordedStep[];
}

export interface RecordedStep {
  readonly request: {
    readonly method: string;
    readonly path: string;
    /** true: the server's key; false: no key header; "wrong": another key. */
    readonly auth: boolean | 'wrong';
    /** Sent as JSON. */
    readonly body?: unknown;
    /** Sent as it is. */
    readonly raw?: string;
  };
  readonly response: {
    readonly status: number;
    readonly contentType: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** Of a 422, each item of `detail` has its type and loc alone. */
    readonly body: unknown;
  };
}

export function recordedCases(file: string): readonly RecordedCase[] {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as RecordedCase[];
}
