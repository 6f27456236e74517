import { type FailureDocument, splitErrorMessage } from '../../model/error.ts';
import type { OutcomeDocument, Remainder } from '../../model/outcome.ts';
import { isWithin, samePath, type Path, type Source } from '../../model/path.ts';
import { type PlanDocument, formatChangeName } from '../../model/plan.ts';
import type { DiagnosticReport, ValidationDocument } from '../../model/documents.gen.ts';
import { isDangerous, type ShownChange, inlineValue } from '../change.ts';
import { changeText } from '../section-text.ts';
import { outcomeSections, planSections, type Section, rankWarning } from '../section.ts';
import { PLAIN, visible } from '../text.ts';
import { waysSentences } from '../../model/uncompared.ts';
import { notComparedText, refusalSentence, refusalTitle } from '../wording.ts';

// Each document as annotations on the lines of the settings files, in the commands of GitHub's runner.

/** Annotates a plan. What could not be compared is one notice, or a warning if it counts. */
export function planAnnotations(document: PlanDocument): string {
  return sectionCommands(planSections(document, 'plan'), 'Plan', {
    refusal: 'error',
    change: ({ change }) => (isDangerous(change) ? 'warning' : 'notice'),
  });
}

/** Annotates drift: every difference is a warning, and so is a refusal of an apply. */
export function driftAnnotations(document: PlanDocument): string {
  return sectionCommands(planSections(document, 'drift'), 'Drift', {
    refusal: 'warning',
    change: () => 'warning',
  });
}

/** The error of an apply that was refused names the refusals. */
export function outcomeAnnotations(document: OutcomeDocument): string {
  const sections = outcomeSections(document).map((section) => ({ ...section, refusals: [] }));
  return sectionCommands(sections, 'Apply', {
    refusal: 'error',
    change: ({ result }) => (result?.mark === '✗' ? 'warning' : 'notice'),
  });
}

export function validationAnnotations({ diagnostics }: ValidationDocument): string {
  return commands(diagnostics.map(diagnosticAnnotation));
}

/** Annotates why a command could not begin. */
export function failureAnnotations({ error }: FailureDocument): string {
  const { diagnostics = [] } = error;
  return commands([
    {
      level: 'error',
      weight: 0,
      title: 'setpoint',
      lines: [...splitErrorMessage(error), error.hint],
      place: null,
    },
    ...diagnostics.map(diagnosticAnnotation),
  ]);
}

interface Levels {
  readonly refusal: Annotation['level'];
  readonly change: (shown: ShownChange) => Annotation['level'];
}

function sectionCommands(sections: readonly Section[], what: string, levels: Levels): string {
  return commands(
    sections.flatMap((section) =>
      sectionAnnotations(section, levels).map((one) => ({
        ...one,
        title: `${what}: ${section.name}`,
      })),
    ),
  );
}

/** Annotates a section. Findings without a line are placed on the file with the environment's changes. */
function sectionAnnotations(section: Section, levels: Levels): Omit<Annotation, 'title'>[] {
  const { error, refusals, remaining, warnings, changes, unknown, attention } = section;
  const counts = attention.verdict === 'unknown';
  const file = changes.find(({ change }) => change.source !== null)?.change.source?.file;
  const elsewhere = file === undefined ? null : { file };
  const placeOf = (isAbout: (path: Path) => boolean): Annotation['place'] =>
    changes.find(({ change }) => isAbout(change.path))?.change.source ?? elsewhere;
  return [
    ...(error === null ? [] : [annotation('error', 0, [error.message, error.hint], elsewhere)]),
    ...refusals.map((refusal) => {
      const line = `${refusalTitle(section)}: ${refusalSentence(refusal)}`;
      const place = placeOf((path) => isWithin(refusal.path, path));
      return annotation(levels.refusal, 0, [line], place);
    }),
    ...remaining.map((remainder) => {
      const place = placeOf((path) => samePath(path, remainder.path));
      return annotation('error', 1, remainderLines(remainder), place);
    }),
    ...warnings.map(({ code, message }) =>
      annotation('warning', rankWarning(code), [message], elsewhere),
    ),
    ...(unknown.length === 0
      ? []
      : [
          annotation(
            counts ? 'warning' : 'notice',
            3,
            [notComparedText(unknown), ...waysSentences(section.ways, section.command)],
            elsewhere,
          ),
        ]),
    ...changes.map((shown) => {
      const { change, result } = shown;
      const lines = changeText(shown, PLAIN).map((line) => line.slice(2));
      const weight = isDangerous(change) || result !== null ? 1 : 2;
      return annotation(levels.change(shown), weight, lines, change.source ?? elsewhere);
    }),
  ];
}

function annotation(
  level: Annotation['level'],
  weight: number,
  lines: readonly string[],
  place: Annotation['place'],
): Omit<Annotation, 'title'> {
  return { level, weight, lines, place };
}

function remainderLines({ reason, expected, actual, hint, ...place }: Remainder): string[] {
  return [
    `${formatChangeName(place)}: ${reason}`,
    `expected ${inlineValue(expected, PLAIN)}`,
    `found    ${inlineValue(actual, PLAIN)}`,
    hint,
  ];
}

function diagnosticAnnotation(diagnostic: DiagnosticReport): Annotation {
  const { severity, code, message, hint, file, line, column } = diagnostic;
  return {
    level: severity,
    weight: 1,
    title: code,
    lines: [message, hint],
    place: { file, line, column },
  };
}

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
