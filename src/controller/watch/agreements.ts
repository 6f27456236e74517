import type { Digests } from '../../reconciler/model/ports.ts';
import type { Agreement, AgreementWith, LoadedPlan } from '../../reconciler/operations/session.ts';
import type { Target } from '../../reconciler/desired/target.ts';
import { digestsUnder } from '../../reconciler/host/digests.ts';
import type { Environment } from './environment.ts';

/** Agreements of files and services, one object for all that are the same: environments of a fleet often declare the same. */
export class Agreements {
  readonly #most: number;
  readonly #known = new Map<string, Agreement>();
  /** Under the salt that was used last; all of a data folder have one, so that the same agreements look the same. */
  #digests: Digests | null = null;

  /** Of more than `most` that differ, the oldest are not shared any more. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  /** What the next agreement of an environment is made with. An address from a reference takes a tenth of a second, once. */
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
  readonly keepAgreement: (environment: Environment, agreed: AgreementWith) => Promise<void>;
}

/** What the file and the service of one environment agree on, on its way into the journal. */
export class AgreementOf {
  readonly #environment: Environment;
  readonly #tools: AgreementTools;
  /** What was declared when it was last looked at. */
  #declared: Target | null = null;
  /** The one that the journal has. */
  #kept: AgreementWith | null = null;

  constructor(environment: Environment, tools: AgreementTools) {
    this.#environment = environment;
    this.#tools = tools;
    this.restored();
  }

  /** Takes that the environment is as the journal says. */
  restored(): void {
    this.#declared = null;
    this.#kept = this.#environment.agreed;
  }

  /** Takes what a read compared. `isNew`: the one before had found something else. */
  take(agreed: LoadedPlan['agreed'], declared: Target, isNew: boolean): void {
    if (agreed === null || (!isNew && declared === this.#declared)) return;
    const environment = this.#environment;
    const { agreements } = this.#tools;
    const { address, agreement } = agreed();
    const now = { address, agreement: agreements.of(agreement) };
    if (JSON.stringify(now) !== JSON.stringify(environment.agreed)) environment.agreed = now;
    this.#declared = declared;
  }

  /** Keeps it, unless another controller does. Throws output-failed if it cannot be. */
  async keep(): Promise<void> {
    const { agreed, heldBy } = this.#environment;
    if (agreed === null || agreed === this.#kept || heldBy !== null) return;
    await this.#tools.keepAgreement(this.#environment, agreed);
    this.#kept = agreed;
  }
}
