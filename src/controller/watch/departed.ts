import { SetpointError } from '../../reconciler/model/error.ts';
import type { Clock } from '../../reconciler/model/ports.ts';
import type { JournalRecord, NoticeEvent } from '../../reconciler/model/watch.ts';
import type { Memory } from './journal/memory.ts';
import { isRefused, type Locks } from './locks/locks.ts';
import type { Gone, ToldStates } from './notices/told.ts';
import type { Fleet } from './fleet.ts';

/** How long one that the files still declare has to be unwatched, in milliseconds: another controller may be about to take it. */
const ELSEWHERE = 20_000;
/** How long it is left alone after somebody else was found to have its lock. */
const HELD = 60_000;

interface Tools {
  readonly locks: Pick<Locks, 'take'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly fleet: Pick<Fleet, 'leftBehind'> & { readonly find: (name: string) => unknown };
  /** The names that the files declare, also of other shards and of those that were not chosen; null as long as there are no files. */
  readonly declared: () => ReadonlySet<string> | null;
  /** What the journal says by now. */
  readonly recall: { readonly now: () => Promise<Pick<Memory, 'told'>> };
  readonly told: ToldStates;
}

/**
 * Environments that this controller does not watch any more: they left the files, or belong to another shard or choice. Whoever can take the lock of
 * one tells its end: then nobody watches it.
 */
export class Departed {
  readonly #tools: Tools;
  /** From when on something is said of each, on the monotonic clock. */
  readonly #from = new Map<string, number>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  /** One of which receivers were told; null as long as it is watched, or may be. */
  of(name: string): Gone | null {
    const { fleet, clock, declared } = this.#tools;
    if (fleet.find(name) !== undefined) {
      this.#from.delete(name);
      return null;
    }
    const names = declared();
    if (names === null) return null;
    const isDeclared = names.has(name);
    const now = clock.monotonic();
    const from = this.#from.get(name) ?? now + (isDeclared ? ELSEWHERE : 0);
    this.#from.set(name, from);
    if (now < from) return null;
    return { state: fleet.leftBehind(name), end: isDeclared ? 'not-watched' : 'left-files' };
  }

  /** Keeps a notice about one. Throws lock-lost if somebody else watches it, or has told its end. */
  keep(
    event: NoticeEvent,
    append: (event: NoticeEvent) => Promise<JournalRecord>,
  ): Promise<JournalRecord> {
    const kept = this.#last.then(() =>
      event.result === 'begun' ? this.#begun(event, append) : append(event),
    );
    this.#last = kept.catch(() => {});
    return kept;
  }

  async #begun(
    event: NoticeEvent,
    append: (event: NoticeEvent) => Promise<JournalRecord>,
  ): Promise<JournalRecord> {
    const { locks, recall, told, clock } = this.#tools;
    const { environment, receiver } = event;
    const lock = await locks.take(environment);
    if (isRefused(lock)) {
      this.#from.set(environment, clock.monotonic() + HELD);
      throw new SetpointError('lock-lost', `${environment} is watched by ${lock.heldBy}.`);
    }
    try {
      told.renew(environment, (await recall.now()).told);
      if (!told.openOf(receiver).includes(environment))
        throw new SetpointError('lock-lost', `The end of ${environment} was told elsewhere.`);
      return await append(event);
    } finally {
      await lock.release();
    }
  }
}
