import { RULES, type GuardSettings, type Rule } from '../../model/guard.ts';
import { member, textOf, type Node } from '../node.ts';
import type { Block } from './block.ts';
import { isNumberOrWord } from './quotable.ts';

export const guards: Block<'guards'> = {
  name: 'guards',
  pulled: false,
  isQuotable: isNumberOrWord,
};

/** Rules that are on in every file, unless their name turns them off. */
const ALWAYS_ON: ReadonlySet<Rule> = new Set(['reset-agent', 'secrets-gone']);

/** The guards that a block turns on: a rule by its name, or all by `protected` except those that are turned off by name. */
export function guardsOf(node: Node | undefined): GuardSettings {
  return node === undefined ? WITHOUT_BLOCK : readGuards(node);
}

function readGuards(node: Node | undefined): GuardSettings {
  const flag = (key: string): boolean | undefined => {
    const value = member(node, key);
    return value?.kind === 'scalar' && typeof value.value === 'boolean' ? value.value : undefined;
  };
  const all = flag('protected') === true;
  const isOn = (rule: Rule): boolean =>
    flag(rule.replaceAll('-', '_')) ?? (all || ALWAYS_ON.has(rule));
  const maxChanges = member(node, 'max_changes');
  return {
    on: new Set(RULES.filter(isOn)),
    maxChanges:
      maxChanges?.kind === 'scalar' && typeof maxChanges.value === 'number'
        ? maxChanges.value
        : null,
    frozen: textOf(member(node, 'frozen')) ?? null,
  };
}

const WITHOUT_BLOCK = readGuards(undefined);
