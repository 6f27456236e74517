import { type Json, readJson } from '../json.ts';
import type { Snapshot } from './schema.ts';

/** The schema in a generated module. */
export function snapshotIn(text: string): Snapshot {
  return JSON.parse(text) as Snapshot;
}

/** An answer in a generated module. */
export function answerIn(text: string): Json {
  const reading = readJson(text);
  if (reading.kind !== 'json') throw new Error('The generated answer is not JSON.');
  return reading.value;
}
