import type { Knobs } from '../knobs.ts';
import { newSandboxId } from './sandbox-id.ts';
import type { StoreContents } from '../store/store-document.ts';
import type { StoredSandbox } from '../store/stored-sandbox.ts';

/** What a start or a resume leaves behind, and the sandbox as it is then. */
export interface Begun {
  readonly contents: StoreContents;
  readonly sandbox: StoredSandbox;
}

/** Begins the start of a new sandbox; room was made before. */
export function beginSandbox(
  before: StoreContents,
  specId: string,
  { becomes }: Knobs,
  now: number,
): Begun {
  const times = { createdAt: now, startedAt: now };
  const sandbox = { id: newSandboxId(), specId, becomes, ...times, paused: false };
  return { contents: { ...before, sandboxes: [...before.sandboxes, sandbox] }, sandbox };
}

/** Begins a new start of a sandbox that is paused, and does nothing to any other; room was made before. */
export function beginAgain(before: StoreContents, sandbox: StoredSandbox, now: number): Begun {
  if (!sandbox.paused) return { contents: before, sandbox };
  const begun = { ...sandbox, startedAt: now, paused: false };
  const sandboxes = before.sandboxes.map((one) => (one === sandbox ? begun : one));
  return { contents: { ...before, sandboxes }, sandbox: begun };
}
