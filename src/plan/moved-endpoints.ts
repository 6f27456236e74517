import { formatPath } from '../model/path.ts';
import type { Change, SettingsPlan } from '../model/plan.ts';
import { Secret } from '../model/secret.ts';
import type { ObservedState } from '../model/state.ts';
import { isRecord, type Value } from '../model/value.ts';
import { entriesOf } from '../model/mcp.ts';

const URL_LISTS = ['sse_servers', 'shttp_servers'];

/** Endpoints that move to another host while the key that is stored for them goes along, each in a sentence. */
export function movedEndpoints(plan: SettingsPlan, observed: ObservedState): string[] {
  return plan.changes.flatMap((change) => {
    const [name, list = ''] = change.path;
    if (name === 'llm_base_url') return baseUrl(change, plan, observed);
    return name === 'mcp_config' && URL_LISTS.includes(list) ? entry(change, observed) : [];
  });
}

/** The key of the model follows its address unless it is written anew in the same plan. */
function baseUrl({ before, after }: Change, plan: SettingsPlan, observed: ObservedState): string[] {
  const stored = observed.record['llm_api_key_set'] === true;
  const rewritten = plan.changes.some(({ path }) => path[0] === 'llm_api_key');
  if (!stored || rewritten || sameHost(before, after)) return [];
  return [
    'The plan moves llm_base_url to another host, and the stored llm_api_key would go there.',
  ];
}

/** An entry of another host that takes over the key of one there is: its url has moved. */
function entry({ action, path, after }: Change, { record }: ObservedState): string[] {
  if (action !== 'set' || !isRecord(after)) return [];
  const key = after['api_key'];
  if (!(key instanceof Secret) || key.isEmpty()) return [];
  const mcp = record['mcp_config'];
  const others = isRecord(mcp) ? URL_LISTS.flatMap((list) => entriesOf(mcp[list])) : [];
  const moved = others.some(
    (other) =>
      key.sameAs(other['api_key']) && !sameHost(other['url'] ?? null, after['url'] ?? null),
  );
  return moved ? [`The plan gives ${formatPath(path)} the key of an entry at another host.`] : [];
}

/** Whether two addresses have one host. Nothing of a secret one comes out but the verdict. */
function sameHost(a: Value, b: Value): boolean {
  return (
    compared(a, (one) =>
      compared(b, (other) => (hostIn(one) === hostIn(other) ? 'same' : 'other')),
    ) === 'same'
  );
}

function compared(value: Value, compare: (text: string) => 'same' | 'other'): 'same' | 'other' {
  if (value instanceof Secret) return value.compareWith(compare);
  return compare(typeof value === 'string' ? value : '');
}

/** The host with its port; nothing where there is no address, which stands for the provider's own. */
function hostIn(address: string): string {
  return URL.canParse(address.trim()) ? new URL(address.trim()).host : '';
}
