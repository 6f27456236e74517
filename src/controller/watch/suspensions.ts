import { asSetpointError } from '../../reconciler/model/error.ts';
import type { JournalRecord, Suspension } from '../../reconciler/model/watch.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { NONE_YET, type Conditions } from './conditions.ts';
import type { EnvironmentRecords } from './environment-records.ts';
import type { Fleet } from './fleet.ts';
import type { Recorder } from './recorder.ts';
import type { WatchOptions } from './watch-options.ts';

/** Keeps the suspensions of environments up to date: from the file of suspensions, and from the page. */
export class Suspensions {
  readonly #options: Pick<WatchOptions, 'suspensions' | 'clock'>;
  readonly #fleet: Fleet;
  readonly #recorder: Recorder;
  readonly #conditions: Conditions;
  readonly #assumed: Suspension;
  /** The suspensions that renamed environments have taken over from their former names, as long as the file does not have them. */
  readonly #moved = new Map<
    string,
    { readonly from: readonly string[]; readonly suspension: Suspension }
  >();
  /** Environments whose suspension was reported to apply to nothing. */
  readonly #ended = new Set<string>();
  /** Environments that were given the server of a suspended one: each is suspended for that once. */
  readonly #given = new Set<string>();
  /** What the files declared last; null before they were read. */
  #declared: ReadonlySet<string> | null = null;
  /** The suspensions that are known, in JSON; null before the first look. */
  #known: ReadonlyMap<string, string> | null = null;

  constructor(
    options: Pick<WatchOptions, 'suspensions' | 'clock'>,
    fleet: Fleet,
    recorder: Recorder,
    conditions: Conditions,
  ) {
    this.#options = options;
    this.#fleet = fleet;
    this.#recorder = recorder;
    this.#conditions = conditions;
    const at = new Date(options.clock.now()).toISOString();
    this.#assumed = { at, reason: 'It cannot be read who is suspended.', until: null };
  }

  async suspend(all: readonly EnvironmentRecords[], what: Omit<Suspension, 'at'>): Promise<void> {
    const { suspensions, clock } = this.#options;
    const now = clock.now();
    const names = all.map(({ state }) => state.name);
    await suspensions.change(names, { at: new Date(now).toISOString(), ...what }, now);
    for (const [index, records] of all.entries())
      records.know({ kind: 'set', suspended: this.#of(names[index] ?? '') });
    this.#known = this.#inFile();
    for (const [index, records] of all.entries())
      await records.now({ kind: 'suspended', environment: names[index] ?? '', ...what }, now);
  }

  /** The names of those that were suspended or stopped; for others nothing is written. */
  async resume(all: readonly EnvironmentRecords[], by?: string): Promise<readonly string[]> {
    const resumable: EnvironmentRecords[] = [];
    for (const records of all) {
      await this.lookAgain(records);
      const { suspended, stopped } = records.state;
      if (suspended !== null || stopped !== null) resumable.push(records);
    }
    const names = resumable.map(({ state }) => state.name);
    if (names.length === 0) return names;
    const now = this.#options.clock.now();
    const who = by === undefined ? {} : { by };
    for (const records of resumable)
      await records.now({ kind: 'resumed', environment: records.state.name, ...who }, now);
    await this.#options.suspensions.change(names, null, now, by);
    this.#known = this.#inFile();
    for (const records of resumable) records.know({ kind: 'set', suspended: null });
    return names;
  }

  /** Suspends the environments of the file as last read: new ones before any notice about them can be sent. */
  mark(): void {
    this.#fleet.suspend((name) => this.#of(name));
  }

  /** The suspension of an environment. While it is unknown which are suspended, all are. */
  #of(name: string): Suspension | null {
    const { suspensions, clock } = this.#options;
    if (!suspensions.isKnown) return this.#assumed;
    return suspensions.of(name, clock.now()) ?? this.#moved.get(name)?.suspension ?? null;
  }

  /**
   * Takes what the files declare: an environment that is new at the server of a suspended one which is gone is that one by another name, and stays suspended.
   * Where there are several, all of them do. One that is given the server of a suspended one, which has another server now, is suspended, too.
   * A suspension that applies to nothing any more is reported.
   */
  async follow(declared: ReadonlySet<string>): Promise<void> {
    this.#declared = declared;
    this.#findHeirs(declared);
    this.mark();
    await this.#keepMoved().catch((thrown: unknown) => {
      this.#conditions.set('suspensions', asSetpointError(thrown).message);
    });
  }

  #findHeirs(declared: ReadonlySet<string>): void {
    const { suspensions, clock } = this.#options;
    const now = clock.now();
    const gone = suspensions.names.filter((name) => !declared.has(name));
    for (const name of this.#ended) if (!gone.includes(name)) this.#ended.delete(name);
    const found = new Map<string, string[]>();
    for (const name of gone) {
      if (suspensions.of(name, now) === null || isMoved(this.#moved, name)) continue;
      const heirs = this.#fleet.listNewAtSameServer(name);
      for (const heir of heirs) found.set(heir, [...(found.get(heir) ?? []), name]);
      if (heirs.length > 0 || this.#ended.has(name)) continue;
      this.#ended.add(name);
      this.#recorder.warn(
        'It is suspended, but the settings files no longer declare it. The suspension has no effect.',
        name,
      );
    }
    for (const [heir, from] of found) {
      const suspension = suspensions.of(from[0] ?? '', now);
      if (suspension === null || suspensions.of(heir, now) !== null) continue;
      this.#moved.set(heir, { from, suspension });
      this.#recorder.warn(
        `It is at the server of ${namesListed(from)}, which was suspended and is no longer declared. It stays suspended until you run setpoint resume.`,
        heir,
      );
    }
    this.#followServers(declared, now);
  }

  #followServers(declared: ReadonlySet<string>, now: number): void {
    const { suspensions } = this.#options;
    for (const name of suspensions.names) {
      const suspension = suspensions.of(name, now);
      if (suspension === null || !declared.has(name)) continue;
      for (const heir of this.#fleet.movedToServerOf(name)) {
        const key = JSON.stringify([name, heir, this.#fleet.find(heir)?.declaredOrigin]);
        if (this.#given.has(key) || suspensions.of(heir, now) !== null) continue;
        this.#given.add(key);
        this.#moved.set(heir, { from: [], suspension });
        this.#recorder.warn(
          `It has the server of ${name} now, which is suspended and has another one: it is suspended, too. setpoint resume ends that.`,
          heir,
        );
      }
    }
  }

  /** Writes what renamed environments have taken over. Throws if it cannot be written; it stays in effect all the same. */
  async #keepMoved(): Promise<void> {
    const { suspensions, clock } = this.#options;
    for (const [heir, { from, suspension }] of this.#moved) {
      const now = clock.now();
      await suspensions.change([heir], suspension, now);
      if (from.length > 0) await suspensions.change(from, null, now);
      this.#moved.delete(heir);
      this.#known = this.#inFile();
      const { at: _at, ...what } = suspension;
      const records = this.#fleet.find(heir)?.records;
      await records?.now({ kind: 'suspended', environment: heir, ...what }, now);
    }
  }

  /** Reads the file again if it has changed. If it cannot be read, the known suspensions stay in effect. Never throws. */
  async look(): Promise<void> {
    const { suspensions } = this.#options;
    let resumed: readonly string[] = [];
    try {
      resumed = await suspensions.refresh();
      this.#fleet.resume(resumed);
      for (const name of resumed) this.#moved.delete(name);
      // One that a command has suspended may have been renamed in the meantime.
      if (this.#declared !== null) this.#findHeirs(this.#declared);
      await this.#keepMoved();
      this.#conditions.set('suspensions', null);
      this.#conditions.set('suspensions', null, NONE_YET);
    } catch (thrown) {
      const { message } = asSetpointError(thrown);
      this.#conditions.set('suspensions', message, suspensions.isKnown ? '' : NONE_YET);
    }
    this.mark();
    this.#tell(resumed);
  }

  /** Reads the file again for an environment that is about to be written. Throws if it cannot be read. */
  async lookAgain(records: EnvironmentRecords): Promise<void> {
    const { suspensions } = this.#options;
    const resumed = await suspensions.refresh();
    this.#fleet.resume(resumed);
    records.know({ kind: 'set', suspended: this.#of(records.state.name) });
    this.#tell(resumed);
  }

  /** Passes on what commands have suspended and resumed since the last look; they have written it to the journal. */
  #tell(resumed: readonly string[]): void {
    const { suspensions, clock } = this.#options;
    const before = this.#known;
    this.#known = this.#inFile();
    const at = new Date(clock.now()).toISOString();
    for (const name of resumed) {
      const by = suspensions.findResumer(name);
      const who = by === undefined ? {} : { by };
      this.#pass({ v: 1, at, kind: 'resumed', environment: name, ...who });
    }
    if (before === null) return;
    for (const [name, text] of this.#known) {
      const found = before.get(name) === text ? null : suspensions.of(name, clock.now());
      if (found !== null) this.#pass({ v: 1, kind: 'suspended', environment: name, ...found });
    }
  }

  #pass(record: JournalRecord & { readonly environment: string }): void {
    const state = this.#fleet.find(record.environment)?.state;
    if (state !== undefined) this.#recorder.tell(state, record);
  }

  #inFile(): ReadonlyMap<string, string> {
    const { suspensions } = this.#options;
    // At the beginning of time none has ended.
    return new Map(
      suspensions.names.map((name) => [name, JSON.stringify(suspensions.of(name, 0))]),
    );
  }
}

function isMoved(
  moved: ReadonlyMap<string, { readonly from: readonly string[] }>,
  name: string,
): boolean {
  return [...moved.values()].some(({ from }) => from.includes(name));
}
