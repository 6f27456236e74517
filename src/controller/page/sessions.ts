import { randomBytes } from 'node:crypto';

/** Somebody who has logged in. */
export interface Session {
  readonly id: string;
  /** What each form of this session carries, and no other site knows. */
  readonly formToken: string;
  readonly endsAt: number;
  /** What became of the last action, shown once. */
  said: string | null;
}

const LASTS = 12 * 3_600_000;
const MOST = 100;

/** Who is logged in, in memory: a restart logs everybody out. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  start(now: number): Session {
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MOST && oldest !== undefined) this.#sessions.delete(oldest);
    const session = { id: random(), formToken: random(), endsAt: now + LASTS, said: null };
    this.#sessions.set(session.id, session);
    return session;
  }

  find(id: string | undefined, now: number): Session | null {
    const found = id === undefined ? undefined : this.#sessions.get(id);
    if (found === undefined) return null;
    if (now < found.endsAt) return found;
    this.#sessions.delete(found.id);
    return null;
  }

  end(id: string): void {
    this.#sessions.delete(id);
  }
}

function random(): string {
  return randomBytes(32).toString('base64url');
}
