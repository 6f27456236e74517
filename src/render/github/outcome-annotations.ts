import type { EnvironmentOutcome, OutcomeDocument, Remainder } from '../../model/outcome.ts';
import { samePath } from '../../model/path.ts';
import { changeName } from '../change-text.ts';
import { inlineValue } from '../inline-value.ts';
import { newWarnings, resultMark, resultText } from '../outcome-text.ts';
import type { Style } from '../style.ts';
import { commands, type Annotation } from './command.ts';
import { errorAnnotation, fileOf, warningAnnotations } from './target-annotations.ts';

const STYLE: Style = { color: false, width: null, verbose: false };

/** What an apply did as annotations on the lines of the settings files. */
export function outcomeAnnotations({ environments }: OutcomeDocument): string {
  return commands(environments.flatMap(annotated));
}

function annotated(environment: EnvironmentOutcome): Annotation[] {
  const { name, status, changes, remaining, error } = environment;
  const title = `Apply: ${name}`;
  const file = fileOf(changes);
  return [
    ...(error === null ? [] : [errorAnnotation(error, title, file)]),
    ...remaining.map((remainder): Annotation => {
      const change = changes.find(({ path }) => samePath(path, remainder.path));
      const place = change?.source ?? file;
      return { level: 'error', weight: 1, title, lines: remainderLines(remainder), place };
    }),
    ...warningAnnotations(newWarnings(environment), title, file),
    ...changes.map((change): Annotation => {
      const [mark] = resultMark(change, status);
      const level = mark === '✗' ? 'warning' : 'notice';
      const lines = [`${mark} ${changeName(change)}: ${resultText(change, status)}`];
      return { level, weight: 1, title, lines, place: change.source ?? file };
    }),
  ];
}

function remainderLines({ reason, expected, actual, hint, ...place }: Remainder): string[] {
  return [
    `${changeName(place)}: ${reason}`,
    `expected ${inlineValue(expected, STYLE)}`,
    `found    ${inlineValue(actual, STYLE)}`,
    hint,
  ];
}
