/** What makes a text not worth parsing: brackets nested deeper than that, or two members of one object alike. */
export type Excess = 'too-deep' | 'duplicate-key';

const DEEPEST = 64;

/**
 * Looks through a JSON text before it is parsed, without recursion: a parser may not survive what is nested deep enough, and
 * of members alike it keeps one in silence. A text that is not JSON at all is left to the parser to refuse.
 */
export function prescan(text: string): Excess | null {
  const keys: (Set<string> | null)[] = [];
  let atKey = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '{':
      case '[':
        if (keys.length === DEEPEST) return 'too-deep';
        atKey = text[index] === '{';
        keys.push(atKey ? new Set() : null);
        break;
      case '}':
      case ']':
        keys.pop();
        atKey = false;
        break;
      case ',':
        atKey = keys.at(-1) instanceof Set;
        break;
      case '"': {
        const end = endOfString(text, index);
        if (atKey) {
          const key = unescaped(text.slice(index, end + 1));
          const seen = keys.at(-1);
          if (key !== null && seen?.has(key) === true) return 'duplicate-key';
          if (key !== null) seen?.add(key);
        }
        atKey = false;
        index = end;
        break;
      }
      default:
    }
  }
  return null;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1;
  return index;
}

function unescaped(token: string): string | null {
  try {
    const key: unknown = JSON.parse(token);
    return typeof key === 'string' ? key : null;
  } catch {
    return null;
  }
}
