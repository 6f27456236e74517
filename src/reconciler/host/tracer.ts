import type { Tracer } from '../model/ports.ts';

/** Where @opentelemetry/api keeps what an SDK has registered: one place for all copies of the API of the same major version. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Whether an SDK of OpenTelemetry in this process takes spans. */
export function isTraced(): boolean {
  const registered = (globalThis as { readonly [REGISTERED]?: { readonly trace?: unknown } })[
    REGISTERED
  ];
  return registered?.trace !== undefined;
}

/** Tells the SDK of this process what is done. Without one nothing is loaded, and nothing is told. */
export async function findTracer(): Promise<Tracer> {
  if (!isTraced()) return UNTRACED;
  const { SPANS } = await import('./spans.ts');
  return SPANS;
}

export const UNTRACED: Tracer = {
  command: (_name, _env, work) => work(),
  turn: (_state, _commit, work) => work(),
  environment: (_task, _name, work) => work(),
  read: (_what, _name, work) => work(),
  write: (_what, _name, work) => work(),
  failed: () => {},
  revision: () => {},
  flush: () => Promise.resolve(),
};
