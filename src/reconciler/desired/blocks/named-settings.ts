import { NATIVE_SERVERS } from '../../model/field.ts';
import { isPlainWord, type Block } from './block.ts';
import { namesAlike } from './collections.ts';
import { nativeTextKind } from './settings.ts';

/*
 * Blocks that name what is kept inside the settings: they are another spelling of fields there, and are planned and written with the
 * settings.
 */

export const MARKETPLACES_FIELD = 'registered_marketplaces';

export const mcpServers: Block<'mcp_servers'> = {
  name: 'mcp_servers',
  pulled: true,
  ofSettings: true,
  textKind: (path) => (path.length < 2 ? 'plain' : nativeTextKind([...NATIVE_SERVERS, ...path])),
  check: (holder, path) => namesAlike('mcp_servers', holder, path),
  keyForm: ([, ...inner]) =>
    inner.length > 0
      ? ['This is not a valid key.', 'Write the name of a variable or header.']
      : ['This is no name of an mcp server.', 'Write one without a blank at either end.'],
};

export const marketplaces: Block<'marketplaces'> = {
  name: 'marketplaces',
  pulled: true,
  ofSettings: true,
  textKind: ([name, ...inner]) =>
    name === undefined || inner.length === 0
      ? 'plain'
      : nativeTextKind([MARKETPLACES_FIELD, '0', ...inner]),
  check: (holder, path) => namesAlike('marketplaces', holder, path),
  keyForm: () => [
    'This is no name of a marketplace that every server takes.',
    'Use letters, digits, _ and -, and begin with a letter.',
  ],
};

export const disabledSkills: Block<'disabled_skills'> = {
  name: 'disabled_skills',
  pulled: true,
  ofSettings: true,
  textKind: (path) => (path.length === 0 ? 'plain' : 'text'),
  isQuotable: isPlainWord,
};
