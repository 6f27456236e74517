import { isJsonObject, type Json, type JsonObject, memberOf } from '../json.ts';

/** The address of a model's provider, by what the model's name begins with. */
const PROVIDERS: readonly (readonly [string, string])[] = [
  ['anthropic/', 'https://api.anthropic.com'],
  ['claude-', 'https://api.anthropic.com'],
  ['openai/', 'https://api.openai.com'],
  ['gpt-', 'https://api.openai.com'],
  ['openhands/', 'https://llm-proxy.app.all-hands.dev'],
  ['mistral/', 'https://api.mistral.ai/v1'],
  ['deepseek/', 'https://api.deepseek.com/beta'],
  ['groq/', 'https://api.groq.com/openai/v1'],
  ['xai/', 'https://api.x.ai/v1'],
];

/** The address of the provider of an llm's model; null if it is not known. */
export function addressOf(llm: JsonObject): string | null {
  const model = memberOf(llm, 'model');
  const name = typeof model === 'string' ? model : '';
  return PROVIDERS.find(([start]) => name.startsWith(start))?.[1] ?? null;
}

/**
 * Agent settings as they are stored: where no address is set, with that of the model's provider.
 * Source: contract "llm: another model after the inferred address", "llm.base_url: null after a value".
 */
export function withAddress(agent: JsonObject): JsonObject {
  return onLlm(agent, (llm) => {
    const address = memberOf(llm, 'base_url') ?? null;
    if (address === null) return addressOf(llm);
    return address === '' ? null : address;
  });
}

/** Agent settings as they are answered: the address of the present model's provider reads null. */
export function withoutAddress(agent: JsonObject): JsonObject {
  return onLlm(agent, (llm) => {
    const address = memberOf(llm, 'base_url') ?? null;
    return address === addressOf(llm) ? null : address;
  });
}

function onLlm(agent: JsonObject, readdressed: (llm: JsonObject) => Json): JsonObject {
  const llm = memberOf(agent, 'llm') ?? null;
  if (!isJsonObject(llm) || memberOf(llm, 'base_url') === undefined) return agent;
  return { ...agent, llm: { ...llm, base_url: readdressed(llm) } };
}
