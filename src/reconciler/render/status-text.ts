import type { EnvironmentWatched, WatchedDocument } from '../model/documents.gen.ts';
import { countStatuses } from '../model/verdict.ts';
import { formatCount, groupThousands, namesListed } from '../model/wording.ts';
import { groupByCause, describeHosts, type CauseGroup } from './cause-groups.ts';
import { ageText } from './change.ts';
import { LABELS } from './section.ts';
import { paint, visible, type Style } from './text.ts';

/** The largest number of environments at which those in sync are listed, not counted. */
const FEW = 20;

/** Formats the watched environments: most urgent first, those with the same cause as one. `isNarrowed`: only some were requested. */
export function statusText(
  { controller, environments, created_at: at }: WatchedDocument,
  isNarrowed: boolean,
  style: Style,
): string {
  const isLong = environments.length > FEW && !isNarrowed && !style.verbose;
  const listed = isLong
    ? environments.filter(({ status, flapping }) => status !== 'in-sync' || flapping)
    : environments;
  const isWhole = isNarrowed || style.verbose;
  const rows = isWhole ? listed : groupByCause(listed, ({ error }) => error);
  const problems = (controller?.problems ?? []).map(({ message, since }) =>
    paint(style, 'yellow', visible(`! ${message} (since ${since})`)),
  );
  return [
    ...problems,
    ...(problems.length > 0 ? [''] : []),
    ...tableLines(rows, Date.parse(at), style),
    ...(listed.length > 0 ? [''] : []),
    `${formatStatusCounts(environments)}${rows.length < environments.length ? ' -v lists all.' : ''}`,
    '',
  ].join('\n');
}

const HEAD = ['ENVIRONMENT', 'STATE', 'FOR', 'WHAT'] as const;

function tableLines(
  listed: readonly (EnvironmentWatched | CauseGroup<EnvironmentWatched>)[],
  now: number,
  style: Style,
): readonly string[] {
  if (listed.length === 0) return [];
  const rows = listed.map((row) => {
    const isGroup = 'members' in row;
    const one = isGroup ? row.members[0] : row;
    const label = LABELS[one.status];
    const [name, what] = isGroup
      ? [formatCount(row.members.length, 'environment'), groupText(row)]
      : [one.name, whatText(one)];
    const since = isGroup ? firstMember(row.members) : findStateStart(one);
    const age = one.status === 'not-read' ? '-' : ageText(now - Date.parse(since));
    const flaps = !isGroup && row.flapping;
    const state = `${label.mark} ${label.words}${flaps ? ', flapping' : ''}`;
    const cells = [name, state, age, what].map(visible);
    return { cells, color: flaps && one.status === 'in-sync' ? ('yellow' as const) : label.color };
  });
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const padded = (cells: readonly string[]): string[] =>
    cells.map((cell, column) => (column === 3 ? cell : cell.padEnd(widths[column] ?? 0)));
  return [
    paint(style, 'dim', padded(HEAD).join('  ')),
    ...rows.map(({ cells, color }) => {
      const [name = '', state = '', since = '', what = ''] = padded(cells);
      const before = name.length + state.length + since.length + 6;
      const shown =
        style.verbose || style.width === null ? what : cutToWidth(what, style.width - before);
      return `${name}  ${paint(style, color, state)}  ${since}  ${shown}`.trimEnd();
    }),
  ];
}

/** At least some of it is shown, whatever room there is. */
const LEAST = 20;

function cutToWidth(text: string, room: number): string {
  const most = Math.max(room, LEAST);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function groupText({ cause, members }: CauseGroup<EnvironmentWatched>): string {
  const names = namesListed(members.map(({ name }) => name));
  return `${[cause, describeHosts(members)].filter(Boolean).join(', ')}: ${names}`;
}

function firstMember(members: CauseGroup<EnvironmentWatched>['members']): string {
  return members.map(({ since }) => since).toSorted()[0] ?? '';
}

function findStateStart({ suspended, since }: EnvironmentWatched): string {
  return suspended?.at ?? since;
}

function whatText({ what, not_healed: not, suspended }: EnvironmentWatched): string {
  const who = suspended?.by === undefined ? '' : `by ${suspended.by}: `;
  const why = not ?? (suspended === null ? null : `${who}${suspended.reason}`);
  return [what, ...(why === null ? [] : [`(${why})`])].filter((part) => part !== '').join(' ');
}

/** `300 environments: 12 failed, 2 drift, 286 in sync.` */
function formatStatusCounts(environments: readonly EnvironmentWatched[]): string {
  if (environments.length === 0) return 'No environments.';
  const counts = countStatuses(environments).map(
    ([status, count]) => `${groupThousands(count)} ${LABELS[status].words}`,
  );
  const flapping = environments.filter((one) => one.flapping).length;
  const also = flapping === 0 ? '' : `; ${groupThousands(flapping)} flapping`;
  return `${formatCount(environments.length, 'environment')}: ${counts.join(', ')}${also}.`;
}
