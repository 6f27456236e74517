import type { JournalRecord, WatchState } from '../../reconciler/model/watch.ts';
import { usageError } from '../../reconciler/model/error.ts';
import { escaped, visible } from '../../reconciler/render/visible.ts';
import { logLine, type LogFormat } from '../../controller/watch/telemetry/log.ts';
import type { ControllerNote } from '../../controller/watch/conditions.ts';
import type { ReadEnd } from '../../controller/watch/watching.ts';
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
  const format = formatOf(flags.output);
  return {
    event: (_, event) => {
      if (event.kind === 'read' || flags.quiet === true) return;
      const line = logLine(event, format);
      if (line !== null) void write(io.stdout, line);
    },
    note: ({ severity, message, environment = null }) => {
      const about = environment === null ? '' : `${environment}: `;
      const text =
        format === 'json'
          ? escaped(
              JSON.stringify({
                at: new Date().toISOString(),
                level: severity === 'info' ? 'info' : 'warn',
                environment,
                message,
              }),
            )
          : `setpoint: ${visible(about + message)}`;
      void write(io.stderr, `${text}\n`);
    },
  };
}

function formatOf(output: readonly string[] | undefined): LogFormat {
  const [format = 'text', ...others] = output ?? [];
  if (others.length === 0 && (format === 'text' || format === 'json')) return format;
  throw usageError('watch logs text or json, to stdout.', 'Write -o text or -o json.');
}
