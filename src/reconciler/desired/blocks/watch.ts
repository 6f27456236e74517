import type { WatchSettings, Window } from '../../model/watch.ts';
import {
  isTrue,
  member,
  readNodeText,
  type MapNode,
  type Node,
  type PlacedFinding,
} from '../node.ts';
import { createFindingForNode, type Block, type FilePath, isNumberOrWord } from './block.ts';

export const watch: Block<'watch'> = {
  name: 'watch',
  pulled: false,
  isQuotable: (value) => isNumberOrWord(value) || INTERVAL.test(value),
  textForm: ([key = '']) => FORMS[key] ?? null,
  check: checkWatchBlock,
};

const FORMS: Readonly<Record<string, readonly [phrase: string, hint: string]>> = {
  interval: ['a number with s, m or h', 'Write it as in 30s, 5m or 1h.'],
  windows: [
    'days, hours and a time zone',
    'Write them as in Mon-Fri 08:00-18:00 Europe/Berlin. Without days it is every day, without a zone UTC.',
  ],
};

const INTERVAL = /^(["']?)[1-9]\d{0,4}[smh]\1$/;
const SHORTEST = 10_000;
const LONGEST = 24 * 3_600_000;

/**
 * Returns the watch settings of an environment; the defaults without a block. `strict` applies to values that could not be compared if
 * the block does not specify it.
 */
export function readWatchSettings(node: Node | undefined, strict = false): WatchSettings {
  const windows = member(node, 'windows');
  const heals = member(node, 'max_heals_per_hour');
  const counts = member(node, 'strict');
  return {
    mode: readNodeText(member(node, 'mode')) === 'heal' ? 'heal' : 'detect',
    interval: milliseconds(readNodeText(member(node, 'interval'))),
    windows:
      windows?.kind === 'list' ? windows.items.flatMap((item) => parseWindow(item) ?? []) : null,
    maxHealsPerHour: heals?.kind === 'scalar' && typeof heals.value === 'number' ? heals.value : 3,
    strict: counts?.kind === 'scalar' && typeof counts.value === 'boolean' ? counts.value : strict,
    removes: isTrue(member(node, 'remove')),
  };
}

/** The time that a number with s, m or h is, as the schemas of files let it be written, in milliseconds; null for any other text. */
export function milliseconds(text = ''): number | null {
  return /^\d{1,5}[smh]$/.test(text) ? parseDuration(text) : null;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Reports whether environments may be read at this interval, in milliseconds: from 10s to 24h. */
export function isInterval(every: number): boolean {
  return every >= SHORTEST && every <= LONGEST;
}

/** A window as the schema lets it be written; null for any other text. */
export function parseWindow(node: Node): Window | null {
  const text = readNodeText(node) ?? '';
  const match = /^(?:([A-Za-z,-]+) )?(\d\d):(\d\d)-(\d\d):(\d\d)(?: (\S+))?$/.exec(text);
  if (match === null) return null;
  const [, days = 'Sun-Sat', fromHour, fromMinute, toHour, toMinute, zone = 'UTC'] = match;
  return {
    text,
    days: new Set(days.split(',').flatMap(parseDays)),
    from: Number(fromHour) * 60 + Number(fromMinute),
    to: Number(toHour) * 60 + Number(toMinute),
    zone,
  };
}

/** The days of `Fri-Mon`, or of one day; the week goes on after Saturday. */
function parseDays(part: string): number[] {
  const [first = '', last = first] = part.split('-');
  const from = DAYS.indexOf(first);
  const count = ((DAYS.indexOf(last) - from + 7) % 7) + 1;
  return Array.from({ length: count }, (_, index) => (from + index) % 7);
}

/**
 * Checks the rules that the schema cannot express: an existing zone, hours that are not empty, an interval that is neither too short nor
 * too long.
 */
function checkWatchBlock(holder: MapNode, path: FilePath): PlacedFinding[] {
  const block = member(holder, 'watch');
  const windows = member(block, 'windows');
  const items = windows?.kind === 'list' ? windows.items : [];
  const findings = items.flatMap((item, index) => {
    const window = parseWindow(item);
    const problem = window === null ? null : windowProblem(window);
    return problem === null
      ? []
      : [
          createFindingForNode(item, {
            code: 'bad-value',
            ...problem,
            path: [...path, 'watch', 'windows', String(index)],
          }),
        ];
  });
  const interval = member(block, 'interval');
  const every = milliseconds(readNodeText(interval));
  if (interval !== undefined && every !== null && !isInterval(every)) {
    findings.push(
      createFindingForNode(interval, {
        code: 'bad-value',
        message: 'An interval is from 10s to 24h.',
        hint: 'Write 10s, 5m or 24h.',
        path: [...path, 'watch', 'interval'],
      }),
    );
  }
  return findings;
}

/** Returns why a window is not valid; null if it is. */
export function windowProblem({
  from,
  to,
  zone,
}: Window): { message: string; hint: string } | null {
  if (from === to)
    return {
      message: 'This window is empty.',
      hint: 'Write another end: 00:00-24:00 is a whole day.',
    };
  if (isZone(zone)) return null;
  return {
    message: 'Unknown time zone.',
    hint: 'Write a name of the IANA list, such as Europe/Berlin, or leave it out for UTC.',
  };
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format(0) !== '';
  } catch {
    return false;
  }
}

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The milliseconds of a time such as 500ms, 1.5s, 30m, 24h or 7d; null for any other text. `bare` is the unit of a number without
 * one; if it is left out, a number needs its unit.
 */
export function parseDuration(text: string, bare?: keyof typeof UNITS): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text);
  const unit = (match?.[2] as keyof typeof UNITS | undefined) ?? bare;
  if (match === null || unit === undefined) return null;
  const time = Number(match[1]) * UNITS[unit];
  return time <= Number.MAX_SAFE_INTEGER ? time : null;
}
