import { type Answer, json } from '../http/answer.ts';
import { isJsonList, type Json, type JsonObject, memberOf, objectAt, textAt } from '../json.ts';
import { isKeySet } from '../native/profiles.ts';
import type { ServedMcp, ServedModel } from '../options.ts';

/* What a real server tries for a client, and stores nothing of. Here stand-ins answer, as the options name them. */

/** The answer to a try of an llm: a real server asks the model for one token. As there, a provider's message may repeat the key. */
export function validated(llm: JsonObject, models: readonly ServedModel[]): Answer {
  const found = models.filter(({ model }) => model === textAt(llm, 'model'));
  const key = textAt(llm, 'api_key');
  if (found.length === 0)
    return invalid('LLMServiceUnavailableError', 'OpenAIException - Connection error.');
  if (!isKeySet(llm))
    return invalid('LLMServiceUnavailableError', 'OpenAIException - Missing credentials.');
  if (found.some(({ accepts }) => key.includes(accepts)))
    return json(200, { valid: true, error: null });
  return invalid(
    'LLMAuthenticationError',
    `OpenAIException - Incorrect API key provided: Bearer ${key}`,
  );
}

function invalid(type: string, message: string): Answer {
  return json(200, { valid: false, error: { type, message: `litellm: ${message}` } });
}

/** The answer to a try of an mcp server: a real server starts the program, or connects. */
export function tested(server: JsonObject, served: readonly ServedMcp[]): Answer {
  const found = served.filter(({ at }) => at === placeOf(server));
  const isProgram = memberOf(server, 'command') !== undefined;
  if (found.length === 0)
    return failed(
      `Client failed to connect: ${isProgram ? '[Errno 2] No such file or directory' : 'All connection attempts failed'}`,
      'connection',
    );
  const secrets = secretsOf(server);
  const isTaken = found.some(
    ({ accepts }) => accepts === '' || secrets.some((one) => one.includes(accepts)),
  );
  if (isTaken) return json(200, { ok: true, tools: ['echo'] });
  return isProgram
    ? failed('McpError: Connection closed', 'unknown')
    : failed(
        `HTTPStatusError: Client error '401 Unauthorized' for url '${placeOf(server)}'`,
        'unknown',
      );
}

function failed(error: string, kind: string): Answer {
  return json(200, { ok: false, error, error_kind: kind });
}

function placeOf(server: JsonObject): string {
  const args = memberOf(server, 'args') ?? [];
  const words = [textAt(server, 'command'), ...(isJsonList(args) ? args : [])].filter(isText);
  return words.length === 0 ? textAt(server, 'url') : words.join(' ');
}

function isText(value: Json): value is string {
  return typeof value === 'string' && value !== '';
}

function secretsOf(server: JsonObject): string[] {
  const maps = ['env', 'headers', 'auth'].map((name) => objectAt(server, name));
  return maps.flatMap((map) => Object.values(map).filter(isText));
}
