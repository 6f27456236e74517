import type { Change, EnvironmentPlan, PlanDocument } from '../../model/plan.ts';
import type { Json } from '../../model/value.ts';
import { changeText, isDangerous } from '../change-text.ts';
import type { Style } from '../style.ts';
import { commands, type Annotation } from './command.ts';
import {
  errorAnnotation,
  fileOf,
  refusalAnnotations,
  warningAnnotations,
} from './target-annotations.ts';

const STYLE: Style = { color: false, width: null, verbose: false };

/** A plan as annotations on the lines of the settings files; what could not be compared has none. */
export function planAnnotations({ environments }: PlanDocument): string {
  return commands(
    environments.flatMap((environment) =>
      annotated(environment, 'Plan', {
        change: (change) => (isDangerous(change) ? 'warning' : 'notice'),
        refusal: 'error',
      }),
    ),
  );
}

/** The same as a finding: every difference is a warning, and so is that an apply would be refused. */
export function driftAnnotations({ environments }: PlanDocument): string {
  return commands(
    environments.flatMap((environment) =>
      annotated(environment, 'Drift', { change: () => 'warning', refusal: 'warning' }),
    ),
  );
}

interface Levels {
  readonly change: (change: Change<Json>) => Annotation['level'];
  readonly refusal: Annotation['level'];
}

function annotated(
  { name, changes, warnings, refusals, error }: EnvironmentPlan,
  what: 'Plan' | 'Drift',
  levels: Levels,
): Annotation[] {
  const title = `${what}: ${name}`;
  const file = fileOf(changes);
  return [
    ...(error === null ? [] : [errorAnnotation(error, title, file)]),
    ...refusalAnnotations(refusals, changes, { title, place: file, level: levels.refusal }),
    ...warningAnnotations(warnings, title, file),
    ...changes.map((change) => ({
      level: levels.change(change),
      weight: isDangerous(change) ? 1 : 2,
      title,
      lines: changeText(change, STYLE, what === 'Plan' ? 'plan' : 'drift').map((line) =>
        line.slice(2),
      ),
      place: change.source ?? file,
    })),
  ];
}
