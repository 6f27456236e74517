import { stringify } from 'yaml';
import type { Json } from '../model/value.ts';

/** A value as YAML, every scalar on one line: no text from elsewhere begins a line of ours. */
export function yamlText(value: Json): string {
  return stringify(value, {
    lineWidth: 0,
    blockQuote: false,
    singleQuote: false,
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}
