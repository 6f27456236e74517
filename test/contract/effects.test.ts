/**
 * What requests do, as src/reconciler/effects has it, against recorded exchanges of real servers: every read after a write, every stored
 * file and every refusal follows from what was stored before. Each rule has a case that is otherwise without it.
 */
import { describe, expect, it } from 'vitest';
import { listRules } from '../../src/reconciler/effects/effects.ts';
import { AGENT_SERVER_FOLD } from './effects/agent-server.ts';
import { APP_SERVER_FOLD } from './effects/app-server.ts';
import { casesOf, fold, type FoldedCase, type Folding } from './effects/fold.ts';
import { SETTINGS_V0_FOLD } from './effects/settings-v0.ts';
import { SHOWN_BY } from './effects/shown-by.ts';

const FOLDS: readonly (readonly [string, Folding])[] = [
  ['agent-server', AGENT_SERVER_FOLD],
  ['app-server', APP_SERVER_FOLD],
  ['settings-v0', SETTINGS_V0_FOLD],
];

/** Cases that do not follow, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'PATCH: a lone surrogate': 'is stored although it is answered with 500',
};

/** Refusals that no recording shows, and how they are known. */
const UNRECORDED: readonly string[] = [
  'agent-server llm_profiles: there are no more than 50', // recorded of the two other kinds of profiles
  'app-server llm_profiles: there are no more than 10', // told by the service when it refuses one
  'app-server llm_profiles: no two have one name', // recorded of an Agent Server
];

/** How many accepted requests of a case are setpoint's, so that it is compared to its end. */
const LEAST: Readonly<Record<string, number>> = {
  'agent-server': 1500,
  'app-server': 500,
  'settings-v0': 100,
};

function foldAll(folding: Folding) {
  return folding.files.flatMap((file) => {
    const { base, cases } = casesOf(file);
    return cases.map((one) => fold(folding, file, base, one));
  });
}

/** What is wrong of a case: the reads that are not as expected, and the refusals. */
function wrongIn({ files, ...folding }: Folding, name: string, without?: string): number {
  const found = files.flatMap((file) => {
    const { base, cases } = casesOf(file);
    return cases.flatMap((one: FoldedCase) =>
      one.name === name ? fold({ files, ...folding }, file, base, one, without) : [],
    );
  });
  expect(found.length, name).toBeGreaterThan(0);
  return found.flatMap(({ compared, misjudged }) => [
    ...compared.flatMap(({ wrong }) => wrong),
    ...misjudged,
  ]).length;
}

describe.each(FOLDS)('the effects of requests to an %s', (dialect, folding) => {
  it('predict every later read and every stored file', () => {
    const all = foldAll(folding).flatMap(({ compared }) => compared);
    const wrong = all.filter((one) => one.wrong.length > 0 && EXCEPTIONS[one.name] === undefined);
    expect(wrong).toEqual([]);
    console.log(`${dialect}: ${all.length} reads and files follow from what was stored`);
    expect(all.length).toBeGreaterThan(LEAST[dialect] ?? 0);
  });

  it('predict what is refused because of what is stored', () => {
    expect(foldAll(folding).flatMap(({ misjudged }) => misjudged)).toEqual([]);
  });

  it('have a recorded refusal, of the same status, for each rule of them', () => {
    const refused = foldAll(folding).flatMap((one) => one.refused);
    const shown = new Set(refused.flatMap(([rule, isSame]) => (isSame ? [rule] : [])));
    const rules = folding.effects.refusals.map(({ rule }) => rule);
    const open = rules.filter((rule) => !shown.has(rule)).map((rule) => `${dialect} ${rule}`);
    expect(open).toEqual(UNRECORDED.filter((one) => one.startsWith(dialect)));
    expect(new Set(rules).size).toBe(rules.length);
  });

  it('have a case for each rule', () => {
    expect(Object.keys(SHOWN_BY[dialect] ?? {}).toSorted()).toEqual(
      listRules(folding.effects).toSorted(),
    );
  });

  it.each(Object.entries(SHOWN_BY[dialect] ?? {}))('%s: %s', (rule, name) => {
    expect(wrongIn(folding, name)).toBe(0);
    expect(wrongIn(folding, name, rule)).toBeGreaterThan(0);
  });
});
