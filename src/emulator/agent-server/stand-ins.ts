import { type Answer, createJsonAnswer } from '../http/answer.ts';
import {
  isJsonList,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
  readTextMember,
} from '../json.ts';
import { isKeySet } from '../native/profile-record.ts';
import type { ServedMcp, ServedModel } from '../options.ts';

/* What a real server tries for a client, and stores nothing of. Here stand-ins answer, as the options name them. */

/** The answer to a try of an llm: a real server asks the model for one token. As there, a provider's message may repeat the key. */
export function validateLlm(llm: JsonObject, models: readonly ServedModel[]): Answer {
  const found = models.filter(({ model }) => model === readTextMember(llm, 'model'));
  const key = readTextMember(llm, 'api_key');
  if (found.length === 0)
    return invalid('LLMServiceUnavailableError', 'OpenAIException - Connection error.');
  if (!isKeySet(llm))
    return invalid('LLMServiceUnavailableError', 'OpenAIException - Missing credentials.');
  if (found.some(({ accepts }) => key.includes(accepts)))
    return createJsonAnswer(200, { valid: true, error: null });
  return invalid(
    'LLMAuthenticationError',
    `OpenAIException - Incorrect API key provided: Bearer ${key}`,
  );
}

function invalid(type: string, message: string): Answer {
  return createJsonAnswer(200, { valid: false, error: { type, message: `litellm: ${message}` } });
}

/** The answer to a try of an mcp server: a real server starts the program, or connects. */
export function testMcpServer(server: JsonObject, served: readonly ServedMcp[]): Answer {
  const found = served.filter(({ at }) => at === formatMcpPlace(server));
  const isProgram = readOwnMember(server, 'command') !== undefined;
  if (found.length === 0)
    return createTestFailure(
      `Client failed to connect: ${isProgram ? '[Errno 2] No such file or directory' : 'All connection attempts failed'}`,
      'connection',
    );
  const secrets = listMcpSecrets(server);
  const isTaken = found.some(
    ({ accepts }) => accepts === '' || secrets.some((one) => one.includes(accepts)),
  );
  if (isTaken) return createJsonAnswer(200, { ok: true, tools: ['echo'] });
  return isProgram
    ? createTestFailure('McpError: Connection closed', 'unknown')
    : createTestFailure(
        `HTTPStatusError: Client error '401 Unauthorized' for url '${formatMcpPlace(server)}'`,
        'unknown',
      );
}

function createTestFailure(error: string, kind: string): Answer {
  return createJsonAnswer(200, { ok: false, error, error_kind: kind });
}

function formatMcpPlace(server: JsonObject): string {
  const args = readOwnMember(server, 'args') ?? [];
  const words = [readTextMember(server, 'command'), ...(isJsonList(args) ? args : [])].filter(
    isNonEmptyText,
  );
  return words.length === 0 ? readTextMember(server, 'url') : words.join(' ');
}

function isNonEmptyText(value: Json): value is string {
  return typeof value === 'string' && value !== '';
}

function listMcpSecrets(server: JsonObject): string[] {
  const maps = ['env', 'headers', 'auth'].map((name) => readObjectMember(server, name));
  return maps.flatMap((map) => Object.values(map).filter(isNonEmptyText));
}
