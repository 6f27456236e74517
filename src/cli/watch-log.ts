import type { JournalRecord, WatchState } from '../model/watch.ts';
import { visible } from '../render/visible.ts';
import type { ControllerNote } from '../watch/controller.ts';
import type { ReadEnd } from '../watch/watching.ts';
import type { FlagValues } from './flag-table.ts';
import { write, type Io } from './io.ts';

/** The folder of a controller that --data does not name. */
export const DEFAULT_DATA = '.setpoint/watch';

/** What a controller prints: a line for each change of state and each write, to stdout; warnings to stderr. */
export interface WatchLog {
  readonly event: (state: WatchState, event: ReadEnd | JournalRecord) => void;
  readonly note: (note: ControllerNote) => void;
}

export function watchLog(flags: FlagValues<'--output' | '--quiet'>, io: Io): WatchLog {
  const isJson = flags.output?.includes('json') === true;
  return {
    event: (_, event) => {
      if (event.kind === 'read' || flags.quiet === true) return;
      void write(io.stdout, isJson ? `${JSON.stringify(event)}\n` : `${textOf(event)}\n`);
    },
    note: ({ severity, message, environment }) => {
      const about = environment === undefined ? '' : `${visible(environment)}: `;
      void write(io.stderr, `setpoint: ${severity}: ${about}${message}\n`);
    },
  };
}

function textOf(record: JournalRecord): string {
  const name = 'environment' in record ? `${visible(record.environment)}: ` : '';
  const what = record.kind === 'state' ? `${record.before} -> ${record.status}` : record.kind;
  return `${record.at} ${name}${what}`;
}
