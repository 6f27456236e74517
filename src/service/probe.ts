import { asSetpointError, type SetpointError } from '../model/error.ts';
import type { ObservedState } from '../model/state.ts';
import type { Connection } from './connect.ts';
import { headerOf } from './exchange.ts';
import type { TimeLimits } from './limits.ts';
import { look } from './look.ts';

/** What one GET of the settings tells of a service, whatever it answers. */
export interface Probe {
  /** The status of the answer; null where none came. */
  readonly status: number | null;
  /** How far the service's clock is ahead of this machine's, in milliseconds; null where the service does not say its time. */
  readonly ahead: number | null;
  /** The settings, or why they could not be read. */
  readonly outcome: ObservedState | SetpointError;
}

/** One GET of the settings, sent once and never tried again. Never throws for what a service can do. */
export async function probe(
  connection: Connection,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<Probe> {
  let seen: Pick<Probe, 'status' | 'ahead'> = { status: null, ahead: null };
  const { clock } = connection;
  const watched: Connection = {
    ...connection,
    send: async (request) => {
      const before = clock.now();
      const answer = await connection.send(request);
      if (answer.kind === 'reply') {
        const date = Date.parse(headerOf(answer.headers, 'date') ?? '');
        seen = { status: answer.status, ahead: aheadBy(date, before, clock.now()) };
      }
      return answer;
    },
  };
  const outcome = await look(watched, limits, signal).catch(asSetpointError);
  return { ...seen, outcome };
}

/** A Date header is cut off to the second, and was written at some time of the exchange: within that, clocks agree. */
function aheadBy(date: number, before: number, after: number): number | null {
  if (Number.isNaN(date)) return null;
  const [least, most] = [date - after, date + 1000 - before];
  if (least > 0) return least;
  return most < 0 ? most : 0;
}
