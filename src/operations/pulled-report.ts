import { identityOf, isMcpList } from '../model/mcp.ts';
import type { Path } from '../model/path.ts';
import type { EnvironmentPull, PulledValue } from '../model/pulled.ts';
import type { Source } from '../model/source.ts';
import type { DesiredState } from '../model/state.ts';
import { isRecord, masked, secretsIn } from '../model/value.ts';
import { filledSource } from '../edit/filled-look.ts';
import { lenientState } from '../edit/lenient-state.ts';
import { entriesOf } from '../model/mcp.ts';
import type { PullTools } from '../edit/pulled-target.ts';
import type { PullEdits } from './pull-edits.ts';

/** A target's part of the document: what a plan would do to the service, told the other way round. */
export function pulledReport(
  name: string,
  origin: string | null,
  { targets, stubs, edited }: PullEdits,
  tools: PullTools,
  written: boolean,
): EnvironmentPull {
  const pull = targets.get(name);
  const target = edited.get(name);
  const own = stubs.get(name) ?? [];
  const desired =
    target === undefined ? null : lenientState(target, filledSource(tools.source, own)).desired;
  const pulled = (pull?.made ?? []).map(([action, { path, before, after, sensitive }]) => ({
    path,
    action,
    before: masked(after),
    after: masked(before),
    sensitive,
    source: action === 'remove' ? null : placeOf(desired, path),
  }));
  const adopted = (pull?.adopted ?? []).map(({ path, value }): PulledValue => ({
    path,
    action: 'adopt',
    before: null,
    after: masked(value),
    sensitive: secretsIn(value).length > 0 || own.some((stub) => stub.path[0] === path[0]),
    source: placeOf(desired, path),
  }));
  const some = pulled.length + adopted.length > 0;
  return {
    name,
    origin,
    status: !some ? 'in-sync' : written ? 'pulled' : 'differs',
    pulled: [...pulled, ...adopted],
    left: pull?.left ?? [],
    unknown: pull?.unknown ?? [],
    variables: own.map(({ name: variable, path }) => ({ name: variable, path })),
    error: null,
  };
}

/** Where a value stands in the edited file. */
function placeOf(desired: DesiredState | null, [name = '', list, segment]: Path): Source | null {
  const field = desired?.fields.find((one) => one.field.name === name);
  if (field === undefined) return null;
  if (!isMcpList(list)) return field.source();
  const entries = isRecord(field.value) ? entriesOf(field.value[list]) : [];
  const index = entries.findIndex((entry) => identityOf(list, entry).shown === segment);
  return field.source(index === -1 ? [list] : [list, String(index)]);
}
