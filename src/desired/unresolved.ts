/** A reference that could not be looked up, or whose value does not fit. */
export class Unresolved {
  readonly reason: string;
  readonly ref: string;

  constructor(reason: string, ref: string) {
    this.reason = reason;
    this.ref = ref;
  }
}
