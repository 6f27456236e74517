import type { Call } from '../call.ts';
import { type Answer, json, unauthorized } from '../http/answer.ts';
import { isJsonObject, type Json } from '../json.ts';
import { answerIn } from '../native/data.ts';
import { AGENT_SCHEMA, CONVERSATION_SCHEMA, SERVER_INFO } from './data.gen.ts';

const RELEASE = '1.57.0';
const PYTHON = '3.12.0';

/** What the server says of itself; no key is needed. Source: contract "detection: no key is needed". */
export async function getServerInfo({ service }: Call): Promise<Answer> {
  const info = answerIn(SERVER_INFO);
  const uptime = (service.now() - service.startedAt) / 1000;
  const now = { uptime, idle_time: uptime, python_version: PYTHON };
  return json(200, isJsonObject(info) ? { ...info, ...now } : info);
}

export async function getAlive(): Promise<Answer> {
  return json(200, { status: 'ok' });
}

export async function getReady(): Promise<Answer> {
  return json(200, { status: 'ready' });
}

/** The paths that this service has, with their methods. */
export function getOpenApi(paths: Json): () => Promise<Answer> {
  const info = {
    title: 'OpenHands Agent Server',
    description: 'OpenHands Agent Server - REST/WebSocket interface for OpenHands AI Agent',
    version: RELEASE,
  };
  return async () => json(200, { openapi: '3.1.0', info, paths });
}

export async function getAgentSchema({ authorized }: Call): Promise<Answer> {
  return authorized ? json(200, answerIn(AGENT_SCHEMA)) : unauthorized;
}

export async function getConversationSchema({ authorized }: Call): Promise<Answer> {
  return authorized ? json(200, answerIn(CONVERSATION_SCHEMA)) : unauthorized;
}
