import { type Answer, detail } from '../http/answer.ts';
import { isJsonObject, type Json, type JsonObject, memberOf, objectAt } from '../json.ts';
import { mcpProblem } from '../native/class-rules.ts';
import { fit } from '../native/fit.ts';
import { bad, badValue, good, type Location, type Verdict } from '../rules.ts';
import { tested } from './stand-ins.ts';
import { changed, invalid } from './handlers.ts';
import type { Held } from './held.ts';
import { type AgentServerKind, readingOf } from './record.ts';
import type { HeldRequest } from './requests.ts';

/** /api/settings/mcp/{key}. Source: contract "/mcp/{key}: refused", "/mcp/{key}: masks". */
export function mcpEntryRequests(kind: AgentServerKind): Readonly<Record<string, HeldRequest>> {
  return {
    POST: {
      takes: (body) => sentAs(body, checkedEntry(kind, body)),
      crashes: () => invalid,
      does: (held, { sent, body, now }) => {
        if (entryOf(held, sent) !== undefined)
          return detail(409, `MCP server '${sent}' already exists`);
        return changed(kind, held, 201, diffOf(sent, body), now);
      },
    },
    // Merged into the entry; what is wrong of it alone is told, and not what is wrong of the whole.
    PATCH: {
      takes: (body) => sentAs(body, fitEntry(kind, isJsonObject(body) ? withoutNulls(body) : body)),
      crashes: () => invalid,
      does: (held, { sent, body, now }) => {
        if (entryOf(held, sent) === undefined) return notFound(sent);
        return changed(kind, held, 200, diffOf(sent, body), now);
      },
    },
    DELETE: {
      does: (held, { sent, now }) => {
        if (entryOf(held, sent) === undefined) return notFound(sent);
        return changed(kind, held, 200, diffOf(sent, null), now);
      },
    },
  };
}

/** POST /api/mcp/test. A real server starts the program, or connects. */
export function testing(kind: AgentServerKind): HeldRequest {
  return {
    takes: (body, at) => sentServer(kind, body, at),
    does: (_, { body, knobs }) =>
      tested(objectAt(isJsonObject(body) ? body : {}, 'server'), knobs.mcpServers),
  };
}

function sentServer(kind: AgentServerKind, body: Json, at: Location): Verdict {
  const server = isJsonObject(body) ? memberOf(body, 'server') : undefined;
  if (server === undefined) return bad('missing', [...at, 'server'], 'Field required', body);
  const verdict = fit(readingOf(kind), { $ref: '#/$defs/MCPServer' }, server, [...at, 'server']);
  return verdict.kind === 'good' ? good({ server: verdict.value }) : verdict;
}

/** What was sent, if it is in order: it is merged as it is. */
function sentAs(body: Json, verdict: Verdict): Verdict {
  return verdict.kind === 'good' ? { kind: 'good', value: body } : verdict;
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
  return problem === undefined ? verdict : badValue(problem, ['body'], entry);
}

export function mcpEntries({ record = {} }: Held): JsonObject {
  return objectAt(objectAt(record, 'agent_settings'), 'mcp_config');
}

function entryOf(held: Held, key: string): Json | undefined {
  return memberOf(mcpEntries(held), key);
}

function diffOf(key: string, entry: Json) {
  return { agent: { mcp_config: { [key]: entry } }, pointers: {} };
}
