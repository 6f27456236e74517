import type { Conversing, StartTask } from '../../model/ports.ts';
import { isList } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { startTaskIn } from './records.ts';
import { ambiguous, sendOnce } from '../send.ts';
import { ServiceError } from '../service-error.ts';
import { getV1, listLimits, startTimeout } from './request.ts';

const CONVERSATIONS = '/api/v1/app-conversations';
const TASKS = `${CONVERSATIONS}/start-tasks`;

/** Starts conversations, one POST for each call, and reads how far a start has come. Source: specification 4.1; behaviour 3.4. */
export function conversing(connection: Connection): Conversing {
  return {
    start: async (message) => {
      const timeout = startTimeout(connection);
      const content = [{ type: 'text', text: message }];
      const answer = await sendOnce(connection, {
        method: 'POST',
        path: CONVERSATIONS,
        body: JSON.stringify({ initial_message: { role: 'user', content, run: true } }),
        timeout,
        headersTimeout: timeout,
      });
      if (answer.kind !== 'done') return answer;
      const task = startTaskIn(answer.answer);
      if (task !== null) return { kind: 'begun', task };
      const place = connection.place('POST', CONVERSATIONS);
      return ambiguous(
        new ServiceError('bad-response', `${place} was answered without the id of a task.`),
      );
    },
    task: (id, signal) => task(connection, id, signal),
  };
}

async function task(
  connection: Connection,
  id: string,
  signal: AbortSignal | undefined,
): Promise<StartTask> {
  const path = `${TASKS}?ids=${encodeURIComponent(id)}`;
  const { json } = await getV1(connection, path, listLimits(connection), signal);
  const [first] = isList(json) ? json : [];
  const found = first === undefined ? null : startTaskIn(first);
  if (found !== null) return found;
  const place = connection.place('GET', TASKS);
  throw new ServiceError('bad-response', `${place} was answered without the requested task.`);
}
