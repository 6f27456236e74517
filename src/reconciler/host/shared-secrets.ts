import {
  secretName,
  type Clock,
  type SecretPath,
  type SecretResolver,
  type Variables,
} from '../model/ports.ts';
import { SecretValues, type SecretAnswers } from './reference-source.ts';

/** The longest round, in milliseconds: a rotated secret is seen within it. */
const LONGEST_ROUND = 300_000;
/** The time in which an unavailable secret is not requested again. */
const ASKED_AGAIN = 60_000;

/** One round: what was asked for, and since when something of it could not be had. */
interface Round {
  readonly values: SecretValues;
  readonly ends: number;
  readonly failed: Map<string, number>;
  readonly asked: Map<string, SecretPath>;
}

/**
 * The values of secret commands, or of a program's own function, for the runs of a controller: each is requested once in a round, however many environments read it, and
 * forgotten when the round ends. A batch command is asked at once for all that the round before needed of it. `interval` is the round, in
 * milliseconds; `signal` stops started commands, which no single run does: others wait for them.
 */
export class SharedSecrets {
  readonly #env: Variables;
  readonly #resolver: SecretResolver | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #length: number;
  readonly #signal: AbortSignal | undefined;
  #round: Round | null = null;
  #before: readonly SecretPath[] = [];

  constructor(
    env: Variables,
    clock: Pick<Clock, 'monotonic'>,
    interval: number,
    signal: AbortSignal | undefined,
    resolver?: SecretResolver,
  ) {
    this.#env = env;
    this.#resolver = resolver;
    this.#clock = clock;
    this.#length = Math.min(interval, LONGEST_ROUND);
    this.#signal = signal;
  }

  /** The secrets of one run, which keeps those of the round in which it asks, however long it takes. */
  forRun(): SecretAnswers {
    let own: SecretValues | null = null;
    return {
      ask: async (secrets) => {
        const wanted = [...secrets];
        if (wanted.length > 0) own = await this.#ask(wanted);
      },
      of: (secret) => own?.of(secret),
    };
  }

  async #ask(wanted: readonly SecretPath[]): Promise<SecretValues> {
    const round = this.#current();
    const { values, asked, failed } = round;
    const now = this.#clock.monotonic();
    for (const one of wanted) {
      const at = failed.get(secretName(one));
      if (at === undefined || now - at < ASKED_AGAIN) continue;
      failed.delete(secretName(one));
      values.forget(one);
    }
    for (const one of wanted) asked.set(secretName(one), one);
    const along = this.#before.filter(({ command }) => values.isBatch(command));
    const isOf = new Set(wanted.map(({ command }) => command));
    await values.ask(
      [...wanted, ...along.filter(({ command }) => isOf.has(command))],
      this.#signal,
    );
    for (const one of wanted)
      if (isProblem(values, one) && !failed.has(secretName(one)))
        failed.set(secretName(one), this.#clock.monotonic());
    return values;
  }

  #current(): Round {
    const now = this.#clock.monotonic();
    if (this.#round !== null && now < this.#round.ends) return this.#round;
    const round: Round = {
      values: new SecretValues(this.#env, this.#resolver),
      ends: now + this.#length,
      failed: new Map(),
      asked: new Map(),
    };
    this.#before = [...(this.#round?.asked.values() ?? this.#before)];
    this.#round = round;
    // Values without readers are dropped before the next reader comes.
    setTimeout(() => this.#end(round), this.#length).unref();
    return round;
  }

  #end(round: Round): void {
    if (this.#round !== round) return;
    this.#before = [...round.asked.values()];
    this.#round = null;
  }
}

function isProblem(values: SecretValues, secret: SecretPath): boolean {
  const found = values.of(secret);
  return found !== undefined && 'problem' in found;
}
