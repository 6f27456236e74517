import { member, type MapNode, type Node, type PlacedFinding } from '../node.ts';
import { createFindingForNode, type FilePath } from './block.ts';

/* Values of settings that every server takes, and with which something does not work. */

/** A setting, each place where a file may declare it, and what is wrong with a value of it; null if nothing is. */
interface Rule {
  readonly places: readonly FilePath[];
  readonly judge: (value: string) => readonly [message: string, hint: string] | null;
}

const RULES: readonly Rule[] = [
  {
    places: [['language'], ['misc_settings', 'app_preferences', 'language']],
    judge: (value) =>
      namesLanguage(value)
        ? null
        : ['No language has this code.', 'Write a code such as en, de or zh-CN.'],
  },
  {
    // At its native place, empty text is refused.
    places: [['llm_model']],
    judge: (value) =>
      value.trim() === ''
        ? [
            'Without a model, no agent of the server answers.',
            'Write the name of a model, or remove the key to leave it alone.',
          ]
        : null,
  },
];

/** Warns of declared values with which something does not work. */
export function findDoubtfulValues(holder: MapNode, path: FilePath): PlacedFinding[] {
  return RULES.flatMap(({ places, judge }) =>
    places.flatMap((place): PlacedFinding[] => {
      const node = findSettingsMember(member(holder, 'settings'), place);
      if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value.includes('${'))
        return [];
      const found = judge(node.value);
      if (found === null) return [];
      const [message, hint] = found;
      return [
        createFindingForNode(node, {
          severity: 'warning',
          code: 'doubtful-value',
          message,
          hint,
          path: [...path, 'settings', ...place],
        }),
      ];
    }),
  );
}

function findSettingsMember(node: Node | undefined, place: FilePath): Node | undefined {
  return place.reduce((at: Node | undefined, name) => member(at, name), node);
}

/** The codes that the user interface of the servers offers. To ask `Intl` takes longer than everything else that validate does. */
const OFFERED = new Set('en ja zh-CN zh-TW ko-KR no ar de fr it pt es ca tr uk'.split(' '));

/** Reports whether text is a code of a language, such as `en` or `zh-CN`. Empty text clears a setting. */
function namesLanguage(code: string): boolean {
  if (code === '' || OFFERED.has(code)) return true;
  try {
    const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
    return names.of(code) !== undefined;
  } catch {
    return false; // It does not have the form of one.
  }
}
