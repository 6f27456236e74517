import { fields } from '../model/field.ts';

const STRUCK = '•••';

/** Keys whose values are no secrets, so that a line may be shown whole. Every other value is struck out. */
const OPEN_KEYS: ReadonlySet<string> = new Set([
  'version',
  'name',
  'extends',
  'server',
  'url',
  'auth',
  'ca_file',
  'settings',
  'sandboxes',
  'guards',
  'environments',
  'unmanaged',
  'mcp_config',
  'sse_servers',
  'stdio_servers',
  'shttp_servers',
  'timeout',
  'command',
  'spec',
  'running',
  'surplus',
  'id',
  'state',
  'when_busy',
  'max_changes',
  'protected',
  ...fields()
    .filter((field) => field.readable)
    .map((field) => field.name),
]);

const LINE = /^(\s*(?:- +)*)(?:(["']?)([A-Za-z_][A-Za-z0-9_.-]{0,63})\2(\s*:)(?=\s|$))?(.*)$/s;
const REFERENCE = /^(["']?)\$\{(env:[A-Za-z_][A-Za-z0-9_]*|file:[^}:]+)\}\1$/;

/**
 * A line of the file as a diagnostic quotes it: the key stays, the value stays only where its key is known to hold no
 * secret, and what may be one is struck out in a fixed way.
 */
export function excerpt(line: string): string {
  const [, indent = '', quote = '', key, colon = '', rest = ''] = LINE.exec(line) ?? [];
  const blank = /^\s*/.exec(rest)?.[0] ?? '';
  const value = rest.trim();
  if (key === undefined) return value === '' ? indent : indent + STRUCK;
  const head = `${indent}${quote}${key}${quote}${colon}`;
  if (value === '') return head;
  return head + blank + (isOpen(key, value) ? value : STRUCK);
}

function isOpen(key: string, value: string): boolean {
  if (REFERENCE.test(value)) return true;
  if (!OPEN_KEYS.has(key)) return false;
  // A flow collection, a comment, a url's userinfo or query may hold one; a default in a reference may be one.
  return !/[{[#@?]|:-/.test(value.replaceAll(/\$\{env:[A-Za-z0-9_]+\}/g, ''));
}
