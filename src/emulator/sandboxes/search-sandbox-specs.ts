import { answerPage } from '../http/answer-page.ts';
import { unauthorized, type Answer } from '../http/answer.ts';
import type { Call, Service } from '../call.ts';
import type { JsonObject } from '../json/json.ts';

/**
 * GET /api/v1/sandbox-specs/search, the default spec first.
 * Source: specification 4.1; behaviour 3.3: `created_at` is when the service was started.
 */
export async function searchSandboxSpecs(call: Call): Promise<Answer> {
  if (!call.authorized) return unauthorized;
  const { service } = call;
  return answerPage(call, async () => service.knobs.specs.map((id) => specRecord(id, service)));
}

function specRecord(id: string, { startedAt }: Service): JsonObject {
  return {
    id,
    command: null,
    created_at: new Date(startedAt).toISOString(),
    initial_env: {},
    working_dir: '/workspace/project',
  };
}
