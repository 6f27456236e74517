import { isJsonList, isJsonObject, type Json, type JsonObject } from '../json.ts';
import { pythonType } from '../native/refusal-text.ts';
import { refuseValue, checkObject, flagRule, good, type Location, type Member } from '../rules.ts';
import { nullable, textRule, type Verdict } from '../rules.ts';

/** The stored list of marketplaces, or the reason why it is refused. */
export type WrittenMarketplaces =
  | { readonly kind: 'list'; readonly value: Json }
  | { readonly kind: 'refused'; readonly reason: string }
  /** The server's own code fails. */
  | { readonly kind: 'failed' };

/**
 * The list that a body has, each of it checked and the user's own. Null is stored unchanged, and the record cannot be read from then on.
 * Source: contract "marketplaces: refused", "marketplaces: a blank around a name, upper case"; else as read in release 1.11.0.
 */
export function checkMarketplaces(sent: Json): WrittenMarketplaces {
  if (sent === null) return { kind: 'list', value: null };
  const items = iterateMarketplaces(sent);
  if (items === undefined) return { kind: 'failed' };
  const entries: JsonObject[] = [];
  for (const [index, item] of items.entries()) {
    if (!isJsonObject(item))
      return refuseMarketplaces(
        `Expected dict or MarketplaceRegistration, got ${pythonType(item)}`,
      );
    const verdict = checkObject(MEMBERS, 'ignored', item, []);
    if (verdict.kind === 'crash') return { kind: 'failed' };
    if (verdict.kind === 'bad')
      return refuseMarketplaces(
        `Invalid marketplace at index ${index}: ${verdict.problems[0]?.msg}`,
      );
    entries.push({ ...verdict.value, scope: 'personal' });
  }
  const names = entries.map(({ name }) => (typeof name === 'string' ? name : ''));
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  if (twice.length === 0) return { kind: 'list', value: entries };
  const listed = [...new Set(twice)].toSorted().join(', ');
  return refuseMarketplaces(`Marketplace name(s) already in use or duplicated: ${listed}`);
}

function refuseMarketplaces(reason: string): WrittenMarketplaces {
  return { kind: 'refused', reason };
}

/** Returns the items that the server iterates over: a list, the characters of a text, or the names of an object. */
function iterateMarketplaces(sent: Json): readonly Json[] | undefined {
  if (isJsonList(sent)) return sent;
  if (typeof sent === 'string') return Array.from(sent);
  return isJsonObject(sent) ? Object.keys(sent) : undefined;
}

const MEMBERS: readonly Member[] = [
  { name: 'name', rule: createTrimmedRule(findMarketplaceNameProblem) },
  { name: 'source', rule: createTrimmedRule(sourceProblem) },
  { name: 'ref', rule: nullable(textRule), absent: null },
  { name: 'repo_path', rule: nullable(textWhere(pathProblem)), absent: null },
  { name: 'auto_load', rule: flagRule, absent: false },
];

/** A text that no sentence speaks against. */
function textWhere(problem: (text: string) => string | undefined) {
  return (value: Json, at: Location): Verdict => {
    if (typeof value !== 'string') return textRule(value, at);
    const sentence = problem(value);
    return sentence === undefined ? good(value) : refuseValue(sentence, at, value);
  };
}

function createTrimmedRule(problem: (text: string) => string | undefined) {
  const rule = textWhere((text) => problem(text.trim()));
  return (value: Json, at: Location): Verdict => {
    const verdict = rule(value, at);
    return verdict.kind === 'good' && typeof value === 'string' ? good(value.trim()) : verdict;
  };
}

function findMarketplaceNameProblem(name: string): string | undefined {
  if (name === '') return 'name cannot be empty';
  if (/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(name)) return undefined;
  return 'name must start with a letter and contain only letters, numbers, hyphens, and underscores';
}

/** A repository on GitHub, an address of git, or a path below the server's folder. */
function sourceProblem(source: string): string | undefined {
  if (source === '') return 'source cannot be empty';
  if (/^github:[\w.-]+\/[\w.-]+$/.test(source)) return undefined;
  if (/^(?:https?:\/\/|git@|ssh:\/\/|git:\/\/)[\w.-]+[:/][\w./-]+$/.test(source)) return undefined;
  if (source.startsWith('/')) return 'local path source must be relative, not absolute';
  if (source.includes('..')) return "source cannot contain '..' (parent directory traversal)";
  if (/^\w[\w./-]*$/.test(source)) return undefined;
  return "source must be 'github:owner/repo', a git URL (https/git/ssh), or a relative local path";
}

function pathProblem(path: string): string | undefined {
  if (path.includes('://'))
    return 'repo_path must be a subdirectory within the repository, not a URL';
  if (path.startsWith('/')) return 'repo_path must be relative, not absolute';
  return path.includes('..')
    ? "repo_path cannot contain '..' (parent directory traversal)"
    : undefined;
}
