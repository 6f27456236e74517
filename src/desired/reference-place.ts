import { fieldNamed } from '../model/field.ts';
import { isSensitiveName } from '../model/secret-words.ts';

/**
 * What a place in the file takes where text stands: `secret`: one whole reference; `typed`: a number or boolean, or one whole
 * reference; `text`: text with references inside; `pairs`: a line A=1,B=2; `words`: a line of arguments; `plain`: no reference
 * has a meaning there.
 */
export type Place = 'secret' | 'typed' | 'text' | 'pairs' | 'words' | 'plain';

/** The path without the environment it stands in, so that every block has the same paths. */
export function inBlock(path: readonly string[]): readonly string[] {
  return path[0] === 'environments' ? path.slice(2) : path;
}

export function placeOf(path: readonly string[]): Place {
  const [block, key, ...rest] = inBlock(path);
  if (block === 'server') return serverPlace(key);
  if (block !== 'settings' || key === undefined) return 'plain';
  if (key === 'secrets_store') return 'secret';
  if (key === 'mcp_config') return mcpPlace(rest);
  const field = fieldNamed(key);
  if (field === undefined) return isSensitiveName(key) ? 'secret' : 'text';
  if (field.secret) return 'secret';
  return field.type === 'string' ? 'text' : 'typed';
}

function serverPlace(key: string | undefined): Place {
  if (key === 'api_key' || key === 'headers') return 'secret';
  return key === 'url' || key === 'ca_file' ? 'text' : 'plain';
}

function mcpPlace([, , memberName, key]: readonly string[]): Place {
  if (memberName === 'api_key') return 'secret';
  if (memberName === 'timeout') return 'typed';
  if (memberName === 'args' && key === undefined) return 'words';
  if (memberName !== 'env') return 'text';
  if (key === undefined) return 'pairs';
  return isSensitiveName(key) ? 'secret' : 'text';
}
