import { describe, expect, it } from 'vitest';
import { readLabels } from '../../../src/reconciler/desired/blocks/about.ts';
import { createDeclaredData } from '../../../src/reconciler/desired/declared-data.ts';
import { selectTargetsByLabel, labelPairs } from '../../../src/reconciler/operations/select.ts';
import { read, SERVER, settings, target } from './reading.ts';

const BASE = 'version: 1\nlabels: { region: eu, tier: standard, team: agents }\n';
const FILE = `version: 1
extends: base.yaml
${SERVER}
labels: { tier: gold, ring: "2" }
environments:
  first: { labels: { ring: "0" } }
  second: { labels: { ring: "1", tier: "" } }
  third: {}
`;

const labels = (text: string, name?: string, base?: string) =>
  Object.fromEntries(readLabels(target(text, name, base).labels));

describe('labels', () => {
  it('are merged by key: the environment over the file over its base', () => {
    expect(labels(FILE, 'first', BASE)).toEqual({
      region: 'eu',
      tier: 'gold',
      team: 'agents',
      ring: '0',
    });
    expect(labels(FILE, 'second', BASE)).toMatchObject({ ring: '1', tier: '', team: 'agents' });
    expect(labels(FILE, 'third', BASE)).toMatchObject({ ring: '2', tier: 'gold' });
  });

  it('of a file without environments are those of its one environment', () => {
    expect(labels(`version: 1\n${SERVER}\nlabels: { ring: "0" }\n`)).toEqual({ ring: '0' });
    expect(labels(`version: 1\n${SERVER}\n`)).toEqual({});
  });

  it('are part of what a policy judges, and of nothing that is planned', () => {
    const [with_, without] = [FILE, FILE.replaceAll(/ ?labels: \{[^}]*\}/g, '')].map((text) =>
      target(text, 'first', BASE),
    );
    if (with_ === undefined || without === undefined) throw new Error('two targets');
    expect(createDeclaredData(with_).data).toMatchObject({ labels: { ring: '0', team: 'agents' } });
    expect(settings(with_)).toEqual(settings(without));
  });
});

const { targets } = read(FILE, BASE);
const chosen = (selector: string | string[], named?: string[]) => {
  const among = targets.filter(({ name }) => named?.includes(name) ?? true);
  return selectTargetsByLabel(among, { selector, selectorFrom: undefined, targets: named }).map(
    ({ name }) => name,
  );
};
const refused = (selector: string, named?: string[]) => {
  try {
    return chosen(selector, named).join(' ');
  } catch (thrown) {
    const { message, hint } = thrown as { message: string; hint: string };
    return `${message} ${hint}`;
  }
};

describe('choosing by labels', () => {
  it('several selectors hold together', () => {
    expect(chosen('ring')).toEqual(['first', 'second', 'third']);
    expect(chosen(['ring in (0,1)', 'tier=gold'])).toEqual(['first']);
    expect(chosen([])).toEqual(['first', 'second', 'third']);
  });

  it('if none fits, the message says why and what there is', () => {
    expect(refused('ring=7')).toBe(
      'No environment has labels that match "ring=7". Available: ring=0, ring=1, ring=2.',
    );
    expect(refused('rnig=0')).toBe(
      'No environment has labels that match "rnig=0": none has rnig. Did you mean ring?',
    );
    expect(refused('ring=0,stage')).toBe(
      'No environment has labels that match "ring=0,stage": none has stage. Available: region, tier, team, ring.',
    );
    expect(refused('ring=1,tier=gold')).toContain(
      'Available: ring=0, ring=1, ring=2, tier=, tier=gold.',
    );
    expect(refused('!region')).toContain('Available: region=eu.');
    expect(refused('ring=0', ['second'])).toBe(
      'None of the environments named has labels that match "ring=0". Available: ring=1.',
    );
  });

  it('if there are no labels at all, the message shows how to declare some', () => {
    const [plain] = read(`version: 1\n${SERVER}\n`).targets;
    if (plain === undefined) throw new Error('no target');
    expect(() =>
      selectTargetsByLabel([plain], {
        selector: 'ring=0',
        selectorFrom: 'the input selector',
        targets: undefined,
      }),
    ).toThrow(
      expect.objectContaining({
        message:
          'No environment has labels that match "ring=0" (from the input selector): there are no labels.',
        hint: 'Declare some: labels: { ring: "0" }.',
      }),
    );
  });

  it('of many labels 20 are listed', () => {
    const many = Array.from(
      { length: 300 },
      (_, at) => `  e${at}: { labels: { customer: c${at} } }`,
    );
    const fleet = read(`version: 1\n${SERVER}\nenvironments:\n${many.join('\n')}\n`).targets;
    expect(labelPairs(fleet)).toHaveLength(300);
    expect(() =>
      selectTargetsByLabel(fleet, {
        selector: 'customer=x',
        selectorFrom: undefined,
        targets: undefined,
      }),
    ).toThrow(
      expect.objectContaining({
        hint: expect.stringMatching(/^Available: (?:customer=c\d+(?:, )?){20} and 280 more\.$/),
      }),
    );
  });
});
