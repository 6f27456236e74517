import { isJsonList, isJsonObject, type Json } from '../json/json.ts';
import { checkObject, type Member } from '../validation/object-rule.ts';
import { stdioEntry } from './stdio-entry.ts';
import { shttpEntry, sseEntry } from './url-entries.ts';
import {
  allOf,
  bad,
  crash,
  type Location,
  type Rule,
  type Verdict,
} from '../validation/verdict.ts';

/** The three lists of `mcp_config`, in the order in which a load answers them. */
export const mcpLists = ['sse_servers', 'stdio_servers', 'shttp_servers'] as const;

const members: readonly Member[] = [
  { name: 'sse_servers', rule: listOfUrls(sseEntry), absent: [] },
  { name: 'stdio_servers', rule: stdioList, absent: [] },
  { name: 'shttp_servers', rule: listOfUrls(shttpEntry), absent: [] },
];

/** An `mcp_config` object. Source: specification 2.2; the contract cases "mcp_config: …". */
export function mcpConfig(value: Json, at: Location): Verdict {
  return checkObject(members, 'refused', value, at);
}

function listOfUrls(entry: Rule): Rule {
  return (value, at) => {
    const items = itemsOf(value);
    return items === undefined ? crash : listOf(entry, items, at);
  };
}

function stdioList(value: Json, at: Location): Verdict {
  if (isJsonList(value)) return listOf(stdioEntry, value, at);
  return bad('list_type', at, 'Input should be a valid list', value);
}

/** What the real server walks through where it expects a list: the characters of a string, the names of an object. */
function itemsOf(value: Json): readonly Json[] | undefined {
  if (isJsonList(value)) return value;
  if (typeof value === 'string') return Array.from(value);
  return isJsonObject(value) ? Object.keys(value) : undefined;
}

function listOf(entry: Rule, items: readonly Json[], at: Location): Verdict {
  return allOf(items.map((item, index) => entry(item, [...at, BigInt(index)])));
}
