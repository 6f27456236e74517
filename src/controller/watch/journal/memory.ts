import type { Agreement } from '../../../reconciler/model/agreement.ts';
import type { JournalRecord, WatchState } from '../../../reconciler/model/watch.ts';
import { Agreements } from '../agreements.ts';
import { beginningsAfter } from '../beginnings.ts';
import { fold, notReadState } from '../environment-state.ts';
import { ToldStates } from '../notices/told.ts';
import {
  IN_CHECKPOINT,
  type Checkpoint,
  type JournalLine,
  type JournalPlace,
} from './journal-lines.ts';

/** What a journal says, taken line by line, the oldest first. */
export class Memory {
  readonly environments = new Map<string, WatchState>();
  /** What everybody was told. */
  told = new ToldStates();
  readonly #inFlight = new Set<string>();
  readonly #agreements = new Agreements();

  /** What is known of an environment; that it was not read if nothing is. */
  of(name: string): WatchState {
    return this.environments.get(name) ?? notReadState(name);
  }

  /** As few records as tell the same. */
  get notices(): readonly JournalRecord[] {
    return this.told.records();
  }

  /** Environments to which a write has begun since the last start, and has not ended. */
  get inFlight(): readonly string[] {
    return [...this.#inFlight];
  }

  /** What a file begins with that goes on after these lines. */
  checkpoint(at: string, upTo: readonly JournalPlace[]): Checkpoint {
    const { notices, inFlight } = this;
    const places = new Map<Agreement, number>();
    const environments = [...this.environments.values()].map((state) => {
      const kept = Object.fromEntries(IN_CHECKPOINT.map((name) => [name, state[name]]));
      const of = kept as Pick<WatchState, (typeof IN_CHECKPOINT)[number]>;
      if (state.agreed === null) return { ...of, agreed: null };
      const { agreement, address } = state.agreed;
      const place = places.get(agreement) ?? places.size;
      places.set(agreement, place);
      return { ...of, agreed: place, agreedWith: address };
    });
    const agreements = [...places.keys()];
    return { v: 1, at, kind: 'checkpoint', environments, agreements, notices, inFlight, upTo };
  }

  take(line: JournalLine): void {
    switch (line.kind) {
      case 'checkpoint':
        this.#begin(line);
        return;
      case 'agreed':
        this.#fold({ ...line, agreement: this.#agreements.of(line.agreement) });
        return;
      case 'notice':
        this.told.take(line);
        return;
      case 'writing':
        this.#inFlight.add(line.environment);
        break;
      case 'write':
        if (line.by === 'watch') this.#inFlight.delete(line.environment);
        break;
      case 'started':
        // It has been said which writes the one before it had left.
        this.#inFlight.clear();
        break;
      default:
    }
    if ('environment' in line) this.#fold(line);
  }

  #fold(line: Extract<JournalLine, { readonly environment: string }>): void {
    const before = this.of(line.environment);
    const after = fold(before, line);
    if (after !== before) this.environments.set(line.environment, after);
  }

  /** Takes what a file begins with in the place of all that was known. */
  #begin({ environments, agreements, notices, inFlight }: Checkpoint): void {
    this.environments.clear();
    for (const { agreed: place, agreedWith: address = null, ...one } of environments) {
      const { name, found, plan, since, after } = one;
      const known = Object.fromEntries(
        IN_CHECKPOINT.flatMap((key) => (one[key] === undefined ? [] : [[key, one[key]]])),
      );
      const began = one.began ?? beginningsAfter([], found, plan, since, after);
      const origin = one.origin === undefined ? (plan?.origin ?? null) : one.origin;
      const agreement = agreements?.[place ?? Number.NaN] ?? null;
      const agreed =
        agreement === null ? null : { address, agreement: this.#agreements.of(agreement) };
      const state = { ...notReadState(name), ...known, began, origin, agreed, status: found };
      this.environments.set(name, state);
    }
    this.told = new ToldStates(notices);
    this.#inFlight.clear();
    for (const name of inFlight) this.#inFlight.add(name);
  }
}
