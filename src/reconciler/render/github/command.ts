import type { Source } from '../../model/path.ts';
import { visible } from '../text.ts';

export interface Annotation {
  readonly level: 'error' | 'warning' | 'notice';
  /** The lowest of a level comes first. */
  readonly weight: number;
  readonly title: string;
  /** Lines of text. */
  readonly lines: readonly string[];
  /** A file, or a position in it; null if there is none. */
  readonly place: Pick<Source, 'file'> | Source | null;
}

const LEVELS = ['error', 'warning', 'notice'] as const;

/** Annotations as commands of the runner, one a line, the gravest first: GitHub shows ten per level and step. */
export function commands(annotations: readonly Annotation[]): string {
  const sorted = LEVELS.flatMap((level) =>
    annotations
      .filter((one) => one.level === level)
      .toSorted((one, other) => one.weight - other.weight),
  );
  return sorted.map((one) => `${formatRunnerCommand(one)}\n`).join('');
}

function formatRunnerCommand({ level, title, lines, place }: Annotation): string {
  const properties = Object.entries({ ...position(place), title })
    .map(([name, value]) => `${name}=${property(value)}`)
    .join(',');
  return `::${level} ${properties}::${escapeCommandText(lines.map(visible).join('\n'))}`;
}

function position(place: Annotation['place']): Readonly<Record<string, string>> {
  if (place === null) return {};
  if (!('line' in place)) return { file: place.file };
  return { file: place.file, line: String(place.line), col: String(place.column) };
}

function escapeCommandText(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return escapeCommandText(visible(text)).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
