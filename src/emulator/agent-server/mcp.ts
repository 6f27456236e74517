import type { Call } from '../call.ts';
import { type Answer, detail, unauthorized, unprocessable } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  objectAt,
} from '../json.ts';
import { fit } from '../native/fit.ts';
import type { Verdict } from '../rules.ts';
import { readSentBody } from './body.ts';
import { change, invalid } from './handlers.ts';
import { patched } from './patch.ts';
import { type AgentServerKind, readingOf } from './record.ts';
import { mcpProblem } from '../native/class-rules.ts';

/** POST /api/settings/mcp/{key}: one more entry. Source: contract "/mcp/{key}: refused", "/mcp/{key}: masks". */
export async function addEntry(kind: AgentServerKind, call: Call): Promise<Answer> {
  const body = readSentBody(call);
  if (body.kind === 'refused') return body.answer;
  const verdict = checkedEntry(kind, body.value);
  if (verdict.kind !== 'good') return problemsOf(verdict);
  return change(kind, call, 201, (record, now) => {
    if (memberOf(mcpEntryMap(record), call.id) !== undefined)
      return detail(409, `MCP server '${call.id}' already exists`);
    return patched(kind, record, diffOf(call.id, body.value), now) ?? invalid;
  });
}

/** PATCH /api/settings/mcp/{key}: merged into the entry; what is wrong of it alone is told, and not what is wrong of the whole. */
export async function changeEntry(kind: AgentServerKind, call: Call): Promise<Answer> {
  const body = readSentBody(call);
  if (body.kind === 'refused') return body.answer;
  const { value } = body;
  const verdict = fitEntry(kind, isJsonObject(value) ? withoutNulls(value) : value);
  if (verdict.kind !== 'good') return problemsOf(verdict);
  return change(kind, call, 200, (record, now) => {
    if (memberOf(mcpEntryMap(record), call.id) === undefined) return notFound(call.id);
    return patched(kind, record, diffOf(call.id, value), now) ?? invalid;
  });
}

export async function removeEntry(kind: AgentServerKind, call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  return change(kind, call, 200, (record, now) => {
    if (memberOf(mcpEntryMap(record), call.id) === undefined) return notFound(call.id);
    return patched(kind, record, diffOf(call.id, null), now) ?? invalid;
  });
}

function notFound(key: string): Answer {
  return detail(404, `MCP server '${key}' was not found`);
}

function withoutNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, isJsonObject(one) ? withoutNulls(one) : one]),
  );
}

function fitEntry(kind: AgentServerKind, entry: Json): Verdict {
  return fit(readingOf(kind), { $ref: '#/$defs/MCPServer' }, entry, ['body']);
}

function checkedEntry(kind: AgentServerKind, entry: Json): Verdict {
  const verdict = fitEntry(kind, entry);
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return verdict;
  const problem = mcpProblem(verdict.value);
  if (problem === undefined) return verdict;
  const msg = `Value error, ${problem}`;
  const found = { type: 'value_error', loc: ['body'], msg, input: entry, ctx: { error: problem } };
  return { kind: 'bad', problems: [found] };
}

function problemsOf(verdict: Verdict): Answer {
  if (verdict.kind !== 'bad') return invalid;
  return unprocessable(
    verdict.problems.map((problem) => ({ ...problem, input: redacted(problem.input) })),
  );
}

/** Names under which an echoed value is not told; under others it is, a secret too. */
const SECRET_NAME = /authorization|cookie|password|secret|token|key/i;

function redacted(input: Json): Json {
  if (isJsonList(input)) return input.map(redacted);
  if (!isJsonObject(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, one]) => [
      name,
      typeof one === 'string' && SECRET_NAME.test(name) ? '<redacted>' : redacted(one),
    ]),
  );
}

function mcpEntryMap(record: JsonObject): JsonObject {
  return objectAt(objectAt(record, 'agent_settings'), 'mcp_config');
}

function diffOf(key: string, entry: Json) {
  return { agent: { mcp_config: { [key]: entry } }, pointers: {} };
}
