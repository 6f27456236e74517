import { asSetpointError, SetpointError } from '../../reconciler/model/error.ts';
import { VERSION } from '../../reconciler/model/version.ts';
import type {
  JournalEvent,
  JournalRecord,
  NoticeEvent,
  WatchState,
} from '../../reconciler/model/watch.ts';
import type { AgreementWith } from '../../reconciler/model/agreement.ts';
import type { Conditions, ControllerNote } from './conditions.ts';
import type { DepartedEnvironments } from './fleet.ts';
import type { Journal } from './journal/journal.ts';
import type { JournalReading, SharedReading } from './journal/journal-reader.ts';
import { NotifiedStates, type NoticeJournal } from './notices/notified-states.ts';
import type { Files } from './source.ts';
import type { EnvironmentWatcher } from './watched.ts';
import type { Listener, ReadEnd } from './watching.ts';

interface WatchedByName {
  find(name: string): Pick<EnvironmentWatcher, 'keepNotice' | 'isRecorded'> | undefined;
}

/** Writes a controller's events to its journal, and passes them on to listeners. */
export class Recorder {
  readonly #journal: Journal;
  readonly #report: (note: ControllerNote) => void;
  readonly #conditions: Conditions;
  /** True if the last write of the journal succeeded. */
  #isWritten = true;
  /** True if the content of the journal at the start of the controller is known. */
  #isRead = false;
  /** The reason why the journal lacks the start of the controller; null once it has it. Until then nothing else is written. */
  #notBegun: SetpointError | null = notBegun('The journal has not been read yet.');
  readonly #restore: (reading: JournalReading) => void;
  readonly #listeners = new Set<Listener>();
  /** The notices that receivers got. */
  readonly notified = new NotifiedStates();
  /** Notices that are being stored. */
  readonly #notices = new Set<Promise<unknown>>();
  readonly #holders = new Set<string>();

  /** `restore` gets the records of the journal, once they could be read; nothing is written before. */
  constructor(
    journal: Journal,
    conditions: Conditions,
    report: (note: ControllerNote) => void,
    restore: (reading: JournalReading) => void,
  ) {
    this.#journal = journal;
    this.#conditions = conditions;
    this.#report = report;
    this.#restore = restore;
  }

  /** True if the content of the journal at the start of the controller is known. */
  get isRead(): boolean {
    return this.#isRead;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(state: WatchState, event: ReadEnd | JournalRecord): void {
    for (const listener of this.#listeners) listener(state, event);
  }

  /** Its notices, of the environments that are watched, and of those that are not any more. */
  notices(fleet: WatchedByName, departed: DepartedEnvironments): NoticeJournal {
    return {
      notified: this.notified,
      record: (event) => this.#recordNotice(event, fleet, departed),
      findDeparted: (name) => departed.of(name),
      isRecorded: (name) => fleet.find(name)?.isRecorded === true,
    };
  }

  /** Writes a notice, and passes it on if its environment is still watched. Throws if it cannot be written, or must not be begun. */
  async #recordNotice(
    event: NoticeEvent,
    fleet: WatchedByName,
    departed: DepartedEnvironments,
  ): Promise<JournalRecord> {
    const watched = fleet.find(event.environment);
    const written =
      watched === undefined
        ? departed.keep(event, (one) => this.append(one))
        : watched.keepNotice(event);
    const ended = written.then(
      (record) => this.notified.take(record),
      () => {},
    );
    this.#notices.add(ended);
    await ended;
    this.#notices.delete(ended);
    return written;
  }

  /**
   * Returns the state of an environment after another controller had its lock, by the records of others. Throws output-failed if they
   * cannot be read.
   */
  async recall(name: string, journal: SharedReading): Promise<WatchState> {
    await Promise.all(this.#notices);
    try {
      const memory = await journal.now();
      this.notified.renew(name, memory.notified);
      this.#conditions.set('journal', null, 'memory');
      return memory.of(name);
    } catch (thrown) {
      const { message } = asSetpointError(thrown);
      this.#conditions.set('journal', message, 'memory');
      throw new SetpointError('output-failed', message, { cause: thrown });
    }
  }

  /** Stores the agreement of the file and the service of an environment. Throws output-failed if it cannot be stored. */
  async keepAgreement(name: string, agreed: AgreementWith): Promise<void> {
    await this.#recordAppend(async () => {
      if (this.#notBegun !== null) throw this.#notBegun;
      await this.#journal.agree(name, agreed);
    });
  }

  /** Removes what the journal has of environments that are gone. Throws output-failed if that cannot be written. */
  async forget(names: readonly string[]): Promise<void> {
    await this.#recordAppend(async () => {
      if (this.#notBegun !== null) throw this.#notBegun;
      await this.#journal.forget(names);
    });
    for (const name of names) this.notified.forget(name);
  }

  /** Writes an event of the controller itself; a journal that cannot be written is ignored here. */
  async note(event: JournalEvent): Promise<void> {
    await this.append(event).catch(() => {});
  }

  /** Writes that the files were read again, and whether they can be used. */
  async noteFiles({ targets, commit, problemText }: Files): Promise<void> {
    await this.note({ kind: 'files', commit, environments: targets.length, problem: problemText });
  }

  /** Finds out whether the journal can be written, if it may be otherwise than is known. Begins it first, or tries again. Never throws. */
  async lookAtJournal(): Promise<void> {
    const look = (): Promise<void> =>
      this.#notBegun === null ? this.#journal.check({ well: this.#isWritten }) : this.#begin();
    await this.#recordAppend(look).catch(() => {});
  }

  /** Reads the records of the journal, and then writes that the controller has started. */
  async #begin(): Promise<void> {
    try {
      if (!this.#isRead) {
        // Later lines of other processes are read before anything is written.
        await this.#journal.mark();
        this.#restore(await this.#journal.remember());
        this.#isRead = true;
      }
      await this.#journal.append({ kind: 'started', version: VERSION });
      this.#notBegun = null;
    } catch (thrown) {
      this.#notBegun = notBegun(asSetpointError(thrown).message);
      throw thrown;
    }
  }

  /** The latest records about an environment; none while the journal cannot be read, which is a condition. */
  async history(name: string): Promise<readonly JournalRecord[]> {
    try {
      const records = await this.#journal.about(name);
      this.#conditions.set('journal', null, 'history');
      return records;
    } catch (thrown) {
      this.#conditions.set('journal', asSetpointError(thrown).message, 'history');
      return [];
    }
  }

  /** Reports each other controller that holds locks, once. */
  noteHolder(holder: string): void {
    if (this.#holders.has(holder)) return;
    this.#holders.add(holder);
    this.inform(
      `Another controller has locks: ${holder}. This controller reads the environments of these locks, but does not heal or report them.`,
    );
  }

  warn(message: string, environment?: string): void {
    const about = environment === undefined ? {} : { environment };
    this.#report({ severity: 'warning', message, ...about });
  }

  inform(message: string): void {
    this.#report({ severity: 'info', message });
  }

  /** Writes an event, of now by default; resolves once it is on the disk. Throws output-failed if it cannot be written. */
  append(event: JournalEvent, at?: number): Promise<JournalRecord> {
    return this.#recordAppend(async () => {
      if (this.#notBegun !== null) throw this.#notBegun;
      return this.#journal.append(event, at);
    });
  }

  async #recordAppend<T>(append: () => Promise<T>): Promise<T> {
    try {
      const kept = await append();
      this.#isWritten = true;
      this.#conditions.set('journal', null);
      // A request for the records shows whether they can be read.
      this.#conditions.set('journal', null, 'history');
      return kept;
    } catch (thrown) {
      this.#isWritten = false;
      this.#conditions.set('journal', asSetpointError(thrown).message);
      throw thrown;
    }
  }
}

function notBegun(message: string): SetpointError {
  return new SetpointError('output-failed', message);
}
