import { isRecord, type ValueRecord } from '../../model/value.ts';

/** A record without the time that the server answers anew at each read until somebody has written. */
export function withoutClock(record: ValueRecord): ValueRecord {
  const settings = record['agent_settings'];
  const context = isRecord(settings) ? settings['agent_context'] : undefined;
  if (!isRecord(settings) || !isRecord(context)) return record;
  const { current_datetime: _, ...kept } = context;
  return { ...record, agent_settings: { ...settings, agent_context: kept } };
}
