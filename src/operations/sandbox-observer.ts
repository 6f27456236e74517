import type { SandboxObserver } from '../model/ports.ts';
import { sandboxObserver } from '../service/v1/sandboxes.ts';
import type { OpenTarget } from './open-target.ts';

/** Reads a target's sandboxes; the time that takes is not taken from its settings. */
export function sandboxObserverOf({ connection, aside }: OpenTarget): SandboxObserver {
  const observer = sandboxObserver(connection);
  return {
    sandboxes: (signal, within) => aside(() => observer.sandboxes(signal, within)),
    specs: (signal) => aside(() => observer.specs(signal)),
    conversations: (signal) => aside(() => observer.conversations(signal)),
  };
}
