/** A sandbox that is waited for. */
export interface SandboxProgress {
  /** The change that is waited for; `watch`: it reads as failed, and may be starting. */
  readonly action: 'start' | 'resume' | 'pause' | 'watch';
  /** Its id; null until the service has named it. */
  readonly id: string | null;
  /** The spec that it is made from. */
  readonly spec: string | null;
  /** Its status; null until it is listed. */
  readonly status: string | null;
  /** Whether it has reached its state. */
  readonly done: boolean;
}
