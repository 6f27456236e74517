import type { InitDocument, NewVariable } from '../model/pulled.ts';
import type { ObservedState } from '../model/state.ts';
import type { Options } from './options.ts';

export interface InitRequest extends Omit<Options, 'targets' | 'text'> {
  /** The environment to be added to the file there is; absent: the file is written anew. */
  readonly environment?: string | undefined;
}

/** What an init found, before anything is written. */
export interface Initial {
  /** The text of the settings file that was read; null where there is none yet. */
  readonly before: string | null;
  readonly text: string;
  readonly origin: string | null;
  readonly observed: ObservedState;
  /** What the settings read that the file did not read before, keys first. */
  readonly variables: readonly NewVariable[];
  readonly left: InitDocument['left'];
}
