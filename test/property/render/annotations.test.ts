import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commands, type Annotation } from '../../../src/reconciler/render/github/annotations.ts';
import {
  driftAnnotations,
  failureAnnotations,
  outcomeAnnotations,
  planAnnotations,
  validationAnnotations,
} from '../../../src/reconciler/render/github/annotations.ts';
import { renderJson } from '../../../src/reconciler/render/json.ts';
import { outcomeText, planText } from '../../../src/reconciler/render/section-text.ts';
import { visible } from '../../../src/reconciler/render/text.ts';
import { hostile, refilled, twins } from '../../fixture/hostile.ts';
import { commandsIn } from '../../fixture/runner-command.ts';
import { OUTCOMES, PLANS, renderedBy } from '../../fixture/scenarios.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

const annotation: fc.Arbitrary<Annotation> = fc.record({
  level: fc.constantFrom('error', 'warning', 'notice'),
  weight: fc.integer({ min: 0, max: 2 }),
  title: hostile,
  lines: fc.array(hostile, { minLength: 1, maxLength: 4 }),
  place: fc.oneof(
    fc.constant(null),
    fc.record({ file: hostile }),
    fc.record({ file: hostile, line: fc.nat(), column: fc.nat() }),
  ),
});

describe('an annotation', () => {
  // A runner drops blanks at the end of the last property.
  it('is read by a runner as it was meant, whatever is in it', () => {
    fc.assert(
      fc.property(annotation, (one) => {
        const { level, title, lines, place } = one;
        const at =
          place !== null && 'line' in place
            ? { line: String(place.line), col: String(place.column) }
            : {};
        const properties = {
          ...(place === null ? {} : { file: visible(place.file) }),
          ...at,
          title: visible(title).trimEnd(),
        };
        expect(commandsIn(commands([one]))).toEqual([
          {
            name: level,
            properties: Object.fromEntries(
              Object.entries(properties).filter(([, value]) => value !== ''),
            ),
            data: lines.map(visible).join('\n'),
          },
        ]);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  it('comes before those that matter less', () => {
    fc.assert(
      fc.property(fc.array(annotation, { maxLength: 20 }), (all) => {
        const order = commandsIn(commands(all)).map((command) =>
          ['error', 'warning', 'notice'].indexOf(command?.name ?? ''),
        );
        expect(order).toEqual(order.toSorted((one, other) => one - other));
        expect(order).toHaveLength(all.length);
      }),
    );
  });
});

const DOCUMENTS = renderedBy({
  plan: planAnnotations,
  drift: driftAnnotations,
  apply: outcomeAnnotations,
  validate: validationAnnotations,
  failure: failureAnnotations,
});

describe('a document of hostile strings', () => {
  it.each(DOCUMENTS)('makes the commands of a harmless one (%s)', (_, document, render) => {
    const renderAny = render as (document: object) => string;
    const namesOf = (text: string) => commandsIn(text).map((command) => command?.name);
    fc.assert(
      fc.property(fc.infiniteStream(hostile), (strings) => {
        const [filled, twin] = twins(document, () => String(strings.next().value));
        const text = renderAny(filled);
        expect(namesOf(text)).toEqual(namesOf(renderAny(twin)));
        expect(text).toMatch(/^(::(notice|warning|error) \S.*\n)*$/);
      }),
      { numRuns: propertyRuns(20) },
    );
  });
});

const STYLE = { color: false, width: null, verbose: true };

describe('the log of a runner', () => {
  it.each([...Object.entries(PLANS), ...Object.entries(OUTCOMES)])(
    'holds no command of a document, as text or as JSON (%s)',
    (_, document) => {
      fc.assert(
        fc.property(fc.infiniteStream(hostile), (strings) => {
          const filled = refilled(document, () => String(strings.next().value));
          const text =
            filled.kind === 'plan' ? planText(filled, STYLE) : outcomeText(filled, STYLE);
          expect(commandsIn(text).filter((command) => command !== null)).toEqual([]);
          expect(commandsIn(renderJson(filled)).filter((command) => command !== null)).toEqual([]);
        }),
        { numRuns: propertyRuns(20) },
      );
    },
  );
});
