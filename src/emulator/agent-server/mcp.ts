import { type Answer, detail } from '../http/answer.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readObjectMember,
} from '../json.ts';
import { mcpProblem } from '../native/class-rules.ts';
import { fit } from '../native/fit.ts';
import { bad, refuseValue, good, type Location, type Verdict } from '../rules.ts';
import { testMcpServer } from './stand-ins.ts';
import { answerSettingsChange, invalid } from './handlers.ts';
import type { ServerContent } from './held.ts';
import { type AgentServerKind, createRecordReading } from './record.ts';
import type { HeldRequest } from './requests.ts';

/** /api/settings/mcp/{key}. Source: contract "/mcp/{key}: refused", "/mcp/{key}: masks". */
export function mcpEntryRequests(kind: AgentServerKind): Readonly<Record<string, HeldRequest>> {
  return {
    POST: {
      takes: (body) => returnBodyIfValid(body, checkMcpEntry(kind, body)),
      crashes: () => invalid,
      does: (held, { sent, body, now }) => {
        if (findMcpEntry(held, sent) !== undefined)
          return detail(409, `MCP server '${sent}' already exists`);
        return answerSettingsChange(kind, held, 201, createEntryDiff(sent, body), now);
      },
    },
    // Merged into the entry; its own faults are reported, and not those of the whole. Null removes, and inside auth says nothing.
    PATCH: {
      takes: (body) =>
        returnBodyIfValid(
          isJsonObject(body) ? withoutBlankAuth(body) : body,
          fitEntry(kind, isJsonObject(body) ? omitNulls(body) : body),
        ),
      crashes: () => invalid,
      does: (held, { sent, body, now }) => {
        if (findMcpEntry(held, sent) === undefined) return answerNoServer(sent);
        return answerSettingsChange(kind, held, 200, createEntryDiff(sent, body), now);
      },
    },
    DELETE: {
      does: (held, { sent, now }) => {
        if (findMcpEntry(held, sent) === undefined) return answerNoServer(sent);
        return answerSettingsChange(kind, held, 200, createEntryDiff(sent, null), now);
      },
    },
  };
}

/** POST /api/mcp/test. A real server starts the program, or connects. */
export function testing(kind: AgentServerKind): HeldRequest {
  return {
    takes: (body, at) => checkMcpServer(kind, body, at),
    does: (_, { body, knobs }) =>
      testMcpServer(readObjectMember(isJsonObject(body) ? body : {}, 'server'), knobs.mcpServers),
  };
}

function checkMcpServer(kind: AgentServerKind, body: Json, at: Location): Verdict {
  const server = isJsonObject(body) ? readOwnMember(body, 'server') : undefined;
  if (server === undefined) return bad('missing', [...at, 'server'], 'Field required', body);
  const verdict = fit(createRecordReading(kind), { $ref: '#/$defs/MCPServer' }, server, [
    ...at,
    'server',
  ]);
  return verdict.kind === 'good' ? good({ server: verdict.value }) : verdict;
}

/** Returns the sent body if it is valid: it is merged unchanged. */
function returnBodyIfValid(body: Json, verdict: Verdict): Verdict {
  return verdict.kind === 'good' ? { kind: 'good', value: body } : verdict;
}

function answerNoServer(key: string): Answer {
  return detail(404, `MCP server '${key}' was not found`);
}

/** An entry without its nulls, except those inside auth. */
function omitNulls(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null)
      .map(([name, one]) => [name, name !== 'auth' && isJsonObject(one) ? omitNulls(one) : one]),
  );
}

/** Source: contract "mcp auth: bearer value null, by PATCH of the server". */
function withoutBlankAuth(entry: JsonObject): JsonObject {
  const auth = readOwnMember(entry, 'auth');
  return auth !== undefined && isJsonObject(auth)
    ? { ...entry, auth: withoutBlankMembers(auth) }
    : entry;
}

function withoutBlankMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== null && one !== '')
      .map(([name, one]) => [name, isJsonObject(one) ? withoutBlankMembers(one) : one]),
  );
}

function fitEntry(kind: AgentServerKind, entry: Json): Verdict {
  return fit(createRecordReading(kind), { $ref: '#/$defs/MCPServer' }, entry, ['body']);
}

function checkMcpEntry(kind: AgentServerKind, entry: Json): Verdict {
  const verdict = fitEntry(kind, entry);
  if (verdict.kind !== 'good' || !isJsonObject(verdict.value)) return verdict;
  const problem = mcpProblem(verdict.value);
  return problem === undefined ? verdict : refuseValue(problem, ['body'], entry);
}

export function mcpEntries({ record = {} }: ServerContent): JsonObject {
  return readObjectMember(readObjectMember(record, 'agent_settings'), 'mcp_config');
}

function findMcpEntry(held: ServerContent, key: string): Json | undefined {
  return readOwnMember(mcpEntries(held), key);
}

function createEntryDiff(key: string, entry: Json) {
  return { agent: { mcp_config: { [key]: entry } }, pointers: {} };
}
