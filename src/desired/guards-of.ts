import { RULES, type GuardSettings, type Rule } from '../model/guard.ts';
import { member, textOf, type Node } from './node.ts';

/** The guards of a block: a rule is on by its name, or by `protected` unless its name turns it off. */
export function guardsOf(guards: Node | undefined): GuardSettings {
  const flag = (key: string): boolean | undefined => {
    const node = member(guards, key);
    return node?.kind === 'scalar' && typeof node.value === 'boolean' ? node.value : undefined;
  };
  const all = flag('protected') === true;
  const isOn = (rule: Rule): boolean => flag(rule.replaceAll('-', '_')) ?? all;
  const maxChanges = member(guards, 'max_changes');
  return {
    on: new Set(RULES.filter(isOn)),
    maxChanges:
      maxChanges?.kind === 'scalar' && typeof maxChanges.value === 'number'
        ? maxChanges.value
        : null,
    frozen: textOf(member(guards, 'frozen')) ?? null,
  };
}
