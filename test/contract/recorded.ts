import { readFileSync } from 'node:fs';
import type { Json } from './recorded-dialect.ts';

/** Exchanges recorded from a real server, which held nothing when a case began. */
export interface RecordedCase {
  readonly name: string;
  readonly steps: readonly RecordedStep[];
}

/** A case that may begin with files of the server's own, by their names, and restart it. */
export interface RecordedSecretsCase {
  readonly name: string;
  readonly given?: Readonly<Record<string, Json>>;
  readonly steps: readonly (RecordedStep | { readonly server: 'restarted' })[];
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
  return read(file) as RecordedCase[];
}

export function recordedSecrets(): readonly RecordedSecretsCase[] {
  return read('secrets.json') as RecordedSecretsCase[];
}

function read(file: string): unknown {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}
