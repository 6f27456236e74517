import type { Dialect, DialectName } from '../model/dialect.ts';
import type { SetpointError } from '../model/error.ts';
import type { SettingsWrite } from '../model/plan.ts';
import type { WriteAnswer } from '../model/ports.ts';
import type { ObservedState } from '../model/state.ts';
import type { ValueRecord } from '../model/value.ts';
import * as appServer from './app-server/dialect.ts';
import * as appServerRead from './app-server/read.ts';
import * as appServerWrite from './app-server/write.ts';
import type { Ask } from './ask.ts';
import type { Connection } from './connect.ts';
import type { Reply } from './json-reply.ts';
import type { TimeLimits } from './retry.ts';
import { SETTINGS_PATH, SETTINGS_V0 } from './settings-v0/dialect.ts';
import { EMPTY_STORE, observedState, settingsIn } from './settings-v0/read.ts';
import { storeSettings } from './settings-v0/write.ts';

/** How to read and write the settings of one dialect. Each dialect is a folder here, and an entry of the registry below. */
export interface DialectModule {
  readonly dialect: Dialect;
  /** The path of the GET that reads the settings. */
  readonly path: string;
  /** The observed state in a reply to that GET, or an error that names what answered instead. */
  read(
    connection: Connection,
    place: string,
    reply: Reply,
    ask: Ask,
  ): ObservedState | SetpointError | Promise<ObservedState | SetpointError>;
  /** The observed state in an answer that a snapshot holds; null: the store was empty. */
  saved(answer: ValueRecord | null): ObservedState;
  /** Sends one write. Never throws for what a service can do. */
  write(connection: Connection, write: SettingsWrite, limits: TimeLimits): Promise<WriteAnswer>;
}

/** Every dialect, in the order in which a service is asked which one it speaks. */
export const DIALECTS: Readonly<Record<DialectName, DialectModule>> = {
  'settings-v0': {
    dialect: SETTINGS_V0,
    path: SETTINGS_PATH,
    read: settingsIn,
    saved: (answer) =>
      answer === null ? { ...EMPTY_STORE, saved: true } : observedState(answer, true),
    write: storeSettings,
  },
  'app-server': {
    dialect: appServer.APP_SERVER,
    path: appServer.SETTINGS_PATH,
    read: appServerRead.settingsIn,
    saved: (answer) =>
      answer === null
        ? { ...appServerRead.EMPTY_STORE, saved: true }
        : appServerRead.observedState(answer, true),
    write: appServerWrite.storeSettings,
  },
};
