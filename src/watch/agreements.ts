import type { Agreement, LoadedPlan } from '../operations/session.ts';
import type { Target } from '../desired/target.ts';
import type { Environment } from './environment.ts';

/** Agreements of files and services, one object for all that are the same: environments of a fleet often declare the same. */
export class Agreements {
  readonly #most: number;
  readonly #known = new Map<string, Agreement>();
  /** That of the agreement that was taken last; all of a data folder have one, so that the same ones look the same. */
  salt: string | undefined;

  /** Of more than `most` that differ, the oldest are not shared any more. */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most;
  }

  of(agreement: Agreement): Agreement {
    this.salt = agreement.salt;
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
  readonly keepAgreement: (environment: Environment, agreement: Agreement) => Promise<void>;
}

/** What the file and the service of one environment agree on, on its way into the journal. */
export class AgreementOf {
  readonly #environment: Environment;
  readonly #tools: AgreementTools;
  /** What was declared when it was last looked at. */
  #declared: Target | null = null;
  /** The one that the journal has. */
  #kept: Agreement | null = null;

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

  /** Takes a read that found nothing that differs. `isNew`: the one before had found something else. */
  take(agreed: LoadedPlan['agreed'], declared: Target, isNew: boolean): void {
    if (agreed === null || (!isNew && declared === this.#declared)) return;
    const environment = this.#environment;
    const { agreements } = this.#tools;
    const now = agreements.of(agreed(environment.agreed?.salt ?? agreements.salt));
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
