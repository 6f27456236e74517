import type { SandboxActuator, StartAnswer, WriteAnswer } from '../model/ports.ts';
import type { Connection } from './connect.ts';
import { sandboxIn } from './decode-v1.ts';
import { ambiguous, post } from './post.ts';
import { ServiceError } from './service-error.ts';
import { startTimeout } from './v1-request.ts';

const SANDBOXES = '/api/v1/sandboxes';

/**
 * Starts, resumes and pauses the sandboxes of a service: one POST for each call. The spec of a start goes into the query:
 * in a body it would be ignored, and the default be started. Source: specification 4.1; behaviour 3.2.
 */
export function sandboxActuator(connection: Connection): SandboxActuator {
  return {
    start: (spec) => start(connection, spec),
    resume: (id) => change(connection, id, 'resume'),
    pause: (id) => change(connection, id, 'pause'),
  };
}

async function start(connection: Connection, spec: string | null): Promise<StartAnswer> {
  const query = spec === null ? '' : `?sandbox_spec_id=${encodeURIComponent(spec)}`;
  const timeout = startTimeout(connection);
  const answer = await post(connection, {
    path: `${SANDBOXES}${query}`,
    body: null,
    timeout,
    headersTimeout: timeout,
  });
  if (answer.kind !== 'done') return answer;
  const sandbox = sandboxIn(answer.answer);
  if (sandbox !== null) return { kind: 'started', id: sandbox.id };
  const place = connection.place('POST', SANDBOXES);
  return ambiguous(
    new ServiceError('bad-response', `${place} was answered without the id of a sandbox.`),
  );
}

async function change(
  connection: Connection,
  id: string,
  what: 'pause' | 'resume',
): Promise<WriteAnswer> {
  const answer = await post(connection, {
    path: `${SANDBOXES}/${encodeURIComponent(id)}/${what}`,
    body: null,
    timeout: connection.timeout,
    headersTimeout: connection.timeout,
  });
  return answer.kind === 'done' ? { kind: 'stored' } : answer;
}
