import { type Json, type JsonObject, memberOf } from '../json.ts';

/** The address that is not kept, because it is that of OpenAI's own models. */
const OPENAI = /^https:\/\/api\.openai\.com\/?$/;
const AZURE_VERSION = '2024-12-01-preview';

/** Models whose context is too small to work with. */
const SMALL_MODELS = new Set(['gpt-4', 'openai/gpt-4', 'ollama/llama2']);
const LEAST_WINDOW = 16_384n;

/** What the server makes of an llm, or undefined if it refuses it. `sent` is the merged diff, before defaults were filled in. */
export function settledLlm(llm: JsonObject, sent: JsonObject): JsonObject | undefined {
  const window = memberOf(llm, 'max_input_tokens') ?? null;
  if (typeof window === 'bigint' && window < LEAST_WINDOW) return undefined;
  const text = (name: string): string => {
    const value = memberOf(llm, name) ?? null;
    return typeof value === 'string' ? value : '';
  };
  const model = text('model');
  const settled: Record<string, Json> = { ...llm };
  if (SMALL_MODELS.has(model)) return undefined;
  if (model.startsWith('azure') && memberOf(llm, 'api_version') === null)
    settled['api_version'] = AZURE_VERSION;
  if (model.startsWith('openai/') && OPENAI.test(text('base_url'))) settled['base_url'] = null;
  const timeout = memberOf(llm, 'timeout') ?? null;
  const idle = memberOf(llm, 'stream_idle_timeout');
  if (idle !== undefined && memberOf(sent, 'stream_idle_timeout') === undefined && timeout !== null)
    settled['stream_idle_timeout'] = Number(timeout);
  return settled;
}
