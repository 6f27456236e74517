import type { Heal, JournalRecord, WriteEvent } from '../../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../../reconciler/model/verdict.ts';
import type { Agreement, AgreementWith } from '../../../reconciler/operations/session.ts';
import { Agreements } from '../agreements.ts';
import { beginningsAfter, firstOf } from '../beginnings.ts';
import type { Remembered } from '../environment.ts';
import { failedAfter, healsAfter, moved, putBackAfter, recent } from '../healing.ts';
import { ToldStates } from '../notices/told.ts';
import type { Checkpoint, JournalLine, Place } from './journal-lines.ts';

/** What the lines of a journal say of each environment. */
export interface Restored {
  readonly environments: ReadonlyMap<string, Remembered>;
  /** Environments to which a write has begun since the last start, and has not ended. */
  readonly inFlight: readonly string[];
}

/** What a journal says, taken line by line, the oldest first. */
export class Memory implements Restored {
  readonly environments = new Map<string, Remembered>();
  /** What everybody was told. */
  told = new ToldStates();
  readonly #inFlight = new Set<string>();
  readonly #agreements = new Agreements();

  /** What is known of an environment; that it was not read if nothing is. */
  of(name: string): Remembered {
    return this.environments.get(name) ?? unknown(name);
  }

  /** As few records as tell the same. */
  get notices(): readonly JournalRecord[] {
    return this.told.records();
  }

  get inFlight(): readonly string[] {
    return [...this.#inFlight];
  }

  /** What a file begins with that goes on after these lines. */
  checkpoint(at: string, upTo: readonly Place[]): Checkpoint {
    const { environments, notices, inFlight } = this;
    const places = new Map<Agreement, number>();
    const all = [...environments.values()].map((one) => {
      const { agreed, ...known } = { ...one, putBack: undefined };
      if (agreed === null) return { ...known, agreed: null };
      const { agreement, address } = agreed;
      const place = places.get(agreement) ?? places.size;
      places.set(agreement, place);
      return { ...known, agreed: place, agreedWith: address };
    });
    const agreements = [...places.keys()];
    return { v: 1, at, kind: 'checkpoint', environments: all, agreements, notices, inFlight, upTo };
  }

  take(line: JournalLine): void {
    switch (line.kind) {
      case 'checkpoint':
        this.environments.clear();
        for (const one of line.environments) {
          const { agreed, agreedWith = null, began, healFailed, ...known } = one;
          const { name, found, plan, since, after } = known;
          this.environments.set(name, {
            ...known,
            healFailed: healFailed ?? null,
            putBack: null,
            began: began ?? beginningsAfter([], found, plan, since, after),
            agreed: this.#placed(line, agreed, agreedWith),
          });
        }
        this.told = new ToldStates(line.notices);
        this.#inFlight.clear();
        for (const name of line.inFlight) this.#inFlight.add(name);
        break;
      case 'agreed':
        this.#change(line.environment, {
          agreed: {
            address: line.address ?? null,
            agreement: this.#agreements.of(line.agreement),
          },
        });
        break;
      case 'state': {
        const { status, plan, at, after } = line;
        const known = this.of(line.environment).began;
        const began = beginningsAfter(known, status, plan, at, after);
        this.#change(line.environment, {
          began,
          found: line.status,
          ...firstOf(began, status, plan),
          digest: line.digest,
          plan: line.plan,
          lastRead: line.at,
          ...(line.status === 'in-sync' ? { lastInSync: line.at, healFailed: null } : {}),
        });
        break;
      }
      case 'writing':
        this.#change(line.environment, {
          lastApply: line.at,
          heals: [
            ...recent(this.#healsOf(line.environment), line),
            { at: line.at, up: line.up, paths: line.paths },
          ],
        });
        this.#inFlight.add(line.environment);
        break;
      case 'write':
        this.#written(line);
        break;
      case 'clock-set':
        this.#change(line.environment, { heals: moved(this.#healsOf(line.environment), line.by) });
        break;
      case 'healing-stopped':
        this.#change(line.environment, {
          stopped: { at: line.at, path: line.path, reason: line.reason },
        });
        break;
      case 'resumed':
        this.#change(line.environment, { stopped: null, healFailed: null, heals: [] });
        break;
      case 'notice':
        this.told.take(line);
        break;
      case 'started':
        // It has been said which writes the one before it had left.
        this.#inFlight.clear();
        break;
      case 'stopped':
      case 'files':
      case 'suspended':
        break;
    }
  }

  #written({ environment, by, at, outcome }: WriteEvent & { readonly at: string }): void {
    if (by === 'apply') {
      this.#change(environment, { lastApply: at });
      return;
    }
    this.#inFlight.delete(environment);
    const known = this.of(environment);
    const heals = healsAfter(known.heals, outcome);
    this.#change(environment, {
      ...(outcome.requests.post > 0 ? { lastApply: at } : {}),
      heals,
      putBack: putBackAfter({ ...known, heals }, outcome, at),
      healFailed: failedAfter(known.healFailed, outcome, at),
    });
  }

  #placed(
    { agreements }: Checkpoint,
    place: number | null | undefined,
    address: string | null,
  ): AgreementWith | null {
    const agreement = agreements?.[place ?? Number.NaN] ?? null;
    return agreement === null ? null : { address, agreement: this.#agreements.of(agreement) };
  }

  #healsOf(name: string): readonly Heal[] {
    return this.of(name).heals;
  }

  #change(name: string, part: Partial<Remembered>): void {
    this.environments.set(name, { ...this.of(name), ...part });
  }
}

function unknown(name: string): Remembered {
  const found: WatchStatus = 'not-read';
  return {
    name,
    found,
    since: new Date(0).toISOString(),
    digest: '',
    after: null,
    plan: null,
    lastRead: null,
    lastInSync: null,
    lastApply: null,
    began: [],
    heals: [],
    stopped: null,
    healFailed: null,
    putBack: null,
    agreed: null,
  };
}
