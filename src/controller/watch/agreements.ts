import type { Agreement, AgreementWith } from '../../reconciler/model/agreement.ts';
import type { Digests } from '../../reconciler/model/ports.ts';
import type { WatchState } from '../../reconciler/model/watch.ts';
import type { LoadedPlan } from '../../reconciler/operations/session.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { digestsUnder } from '../../reconciler/host/digests.ts';

/** Agreements of files and services, one object for all that are the same: environments of a fleet often declare the same. */
export class Agreements {
  readonly #most: number;
  readonly #known = new Map<string, Agreement>();
  /** Under the salt that was used last; all of a data folder have one, so that the same agreements look the same. */
  #digests: Digests | null = null;

  /** Shares agreements. If more than `most` differ, the oldest are no longer shared. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** Returns the digests for the next agreement of an environment. An address from a reference takes a tenth of a second, once. */
  digestsAfter(former: AgreementWith | null): Digests {
    const salt = former?.agreement.salt ?? this.#digests?.salt;
    if (this.#digests === null || this.#digests.salt !== salt) this.#digests = digestsUnder(salt);
    return this.#digests;
  }

  of(agreement: Agreement): Agreement {
    const key = JSON.stringify(agreement);
    const known = this.#known.get(key) ?? agreement;
    this.#known.delete(key);
    this.#known.set(key, known);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size > this.#most) this.#known.delete(oldest);
    return known;
  }
}

export interface AgreementTools {
  readonly agreements: Agreements;
  /** Keeps what the file and the service of an environment agree on. Throws output-failed if it cannot be. */
  readonly keepAgreement: (environment: string, agreed: AgreementWith) => Promise<void>;
}

/** The agreement of the file and the service of one environment, on its way into the journal. */
export class AgreementTracker {
  readonly #tools: AgreementTools;
  /** The declaration at the last look. */
  #declared: Target | null = null;
  /** The one that the journal has. */
  #kept: AgreementWith | null;

  constructor({ agreed }: WatchState, tools: AgreementTools) {
    this.#tools = tools;
    this.#kept = agreed;
  }

  /** Restores the state of the environment from the journal. */
  restore({ agreed }: WatchState): void {
    this.#declared = null;
    this.#kept = agreed;
  }

  /** Returns the agreement of a read, if it differs from that of the state. `isNew`: the read before had another result. */
  after(
    { agreed: before }: WatchState,
    agreed: LoadedPlan['agreed'],
    declared: Target,
    isNew: boolean,
  ): AgreementWith | null {
    if (agreed === null || (!isNew && declared === this.#declared)) return null;
    const { address, agreement } = agreed();
    const now = { address, agreement: this.#tools.agreements.of(agreement) };
    this.#declared = declared;
    return JSON.stringify(now) === JSON.stringify(before) ? null : now;
  }

  /** Keeps that of the state, unless another controller does. Throws output-failed if it cannot be. */
  async keep({ name, agreed, heldBy }: WatchState): Promise<void> {
    if (agreed === null || agreed === this.#kept || heldBy !== null) return;
    await this.#tools.keepAgreement(name, agreed);
    this.#kept = agreed;
  }
}
