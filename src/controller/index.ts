export { openController, type ControllerRequest } from './watch/open-controller.ts';
export type { Controller } from './watch/controller.ts';
export type { Health, Listener, ReadEnd, RequestCount, Watching } from './watch/watching.ts';
export type { JournalRecord, WatchState } from '../reconciler/model/watch.ts';
