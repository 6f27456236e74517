import type { SetpointError } from '../model/error.ts';
import { MCP_DEFAULTS, MCP_LISTS, type McpList } from '../model/mcp.ts';
import type { ObservedState } from '../model/state.ts';
import { isList, isRecord, recordOf, type Value, type ValueRecord } from '../model/value.ts';
import { conceal } from './conceal.ts';
import { ServiceError } from './service-error.ts';

/** Where the dialect settings-v0 has its settings. */
export const SETTINGS_PATH = '/api/settings';

/**
 * The observed state in the body of a 200, or an error that says what else answered. No other request is needed to tell:
 * settings-v0 has `llm_api_key_set` and no `agent_settings`, which the later dialect has; the agent server inside a sandbox
 * has `llm_api_key_is_set` under the same path.
 */
export function settingsIn(place: string, body: Value): ObservedState | SetpointError {
  if (!isRecord(body)) {
    return new ServiceError(
      'not-this-service',
      `${place} was answered with JSON that is no object, so it is not the settings of this service.`,
    );
  }
  if ('llm_api_key_is_set' in body) {
    return new ServiceError(
      'not-this-service',
      `${place} was answered by an agent server, the one inside a sandbox (it tells llm_api_key_is_set).`,
      { hint: 'Set server.url to the service that runs the sandboxes.' },
    );
  }
  if ('agent_settings' in body) {
    return new ServiceError(
      'dialect-not-spoken',
      `${place} was answered in the later dialect, of /api/v1/settings (it tells agent_settings), which this version of setpoint does not speak.`,
    );
  }
  if (typeof body['llm_api_key_set'] !== 'boolean') {
    return new ServiceError(
      'not-this-service',
      `${place} was answered with an object that does not tell llm_api_key_set, so it is not the settings of this service.`,
    );
  }
  const long = longList(body['mcp_config']);
  if (long !== undefined) {
    return new ServiceError(
      'response-too-large',
      `${place} was answered with more than ${MOST_ENTRIES} entries in mcp_config.${long}.`,
      { hint: 'Remove entries that nobody needs on the service; setpoint reads no more.' },
    );
  }
  return { dialect: 'settings-v0', stored: true, record: conceal(spelledOut(body)) };
}

/** An mcp entry written as a bare url is the entry of that url with its defaults. Source: behaviour 1.3. */
function spelledOut(record: ValueRecord): ValueRecord {
  const config = record['mcp_config'];
  if (!isRecord(config)) return record;
  const lists = URL_LISTS.flatMap((list) => {
    const entries = config[list];
    return isList(entries)
      ? [
          [
            list,
            entries.map((entry) => (typeof entry === 'string' ? entryOf(list, entry) : entry)),
          ] as const,
        ]
      : [];
  });
  const spelled = recordOf([...Object.entries(config), ...lists]);
  return recordOf([...Object.entries(record), ['mcp_config', spelled]]);
}

const URL_LISTS = ['sse_servers', 'shttp_servers'] as const;

function entryOf(list: McpList, url: string): ValueRecord {
  return recordOf([['url', url], ...Object.entries(MCP_DEFAULTS[list])]);
}

/** Entries that one mcp list may have. */
const MOST_ENTRIES = 2000;

function longList(config: Value | undefined): string | undefined {
  if (!isRecord(config)) return undefined;
  return MCP_LISTS.find((list) => {
    const entries = config[list];
    return isList(entries) && entries.length > MOST_ENTRIES;
  });
}

/** What a 404 means by its body: an empty store says so. */
export function isEmptyStore(body: Value): boolean {
  return isRecord(body) && body['error'] === 'Settings not found';
}

export const EMPTY_STORE: ObservedState = {
  dialect: 'settings-v0',
  stored: false,
  record: recordOf([]),
};
