export {
  openController,
  type Controller,
  type ControllerRequest,
  type WatchRequest,
} from './watch/library.ts';
export type { ControllerNote } from './watch/conditions.ts';
export type { Health, Listener, ReadEnd, RequestCount, Watching } from './watch/watching.ts';
export type { JournalRecord, Suspension, WatchState } from '../reconciler/model/watch.ts';
