import type { DefaultsBy } from '../model/dialect.ts';
import { sameEndpoint } from '../model/endpoint.ts';
import { fieldNamed } from '../model/field.ts';
import type { Finding } from '../model/guard.ts';
import { normalPath } from '../model/path-facts.ts';
import { formatPath, isWithin, pathNamed, samePath, type Path } from '../model/path.ts';
import type { SettingsPlan } from '../model/plan.ts';
import { isSecretText, isSensitiveName } from '../model/secret-words.ts';
import { Secret, UnseenSecret } from '../model/secret.ts';
import type { ObservedState, SecretState } from '../model/state.ts';
import { isEmpty, textFits, type Value } from '../model/value.ts';
import { BROUGHT } from './active-profile.ts';
import type { Touched } from './touched.ts';

/** What is stored for an address is sent to the new one, unless the same plan writes something else in its place. */
export function movedAddress(
  { path, facts: { address }, before, after }: Touched,
  plan: SettingsPlan,
  observed: ObservedState,
): Finding[] {
  if (address === null) return [];
  const isMoved =
    address.by === 'url'
      ? !sameEndpoint(before, after)
      : isOtherProvider(before, after, plan, observed);
  if (!isMoved) return [];
  const where = address.by === 'url' ? 'another host' : 'another provider';
  if (isKeyless(path, plan)) {
    const message = `The plan moves ${formatPath(path)} to ${where} by active_profile, which brings no key: what the service finds elsewhere would go there.`;
    return [{ message, path }];
  }
  const sent = address.sends.flatMap((group) => firstSent(group, plan, observed));
  if (sent.length === 0) return [];
  const names = sent.map(formatPath);
  const isCertain = names.every((one) => observed.secrets.get(one) !== 'not-reported');
  const what = `${isCertain ? 'the' : 'any'} stored ${names.join(', ')}`;
  const message = `The plan moves ${formatPath(path)} to ${where}, and ${what} would go there.`;
  return [{ message, path }];
}

/** Whether an address comes with a profile that takes the stored key away and has none. */
function isKeyless(path: Path, { changes }: SettingsPlan): boolean {
  const brought = changes.filter(({ reason }) => reason === BROUGHT);
  return (
    brought.some((change) => samePath(change.path, path)) &&
    brought.some((change) => change.action === 'clear' && samePath(change.path, ['llm_api_key']))
  );
}

/** What is sent of credentials that stand in for each other: all that is stored of the first, unless it is written anew. */
function firstSent(group: readonly Path[], plan: SettingsPlan, observed: ObservedState): Path[] {
  for (const place of group) {
    const isReplaced = plan.changes.some(
      ({ path, action }) => action !== 'clear' && samePath(normalPath(path), place),
    );
    if (isReplaced) return [];
    const kept = storedAt(place, observed).filter(
      (path) => !plan.changes.some((change) => isWithin(normalPath(path), normalPath(change.path))),
    );
    if (kept.length > 0) return kept;
  }
  return [];
}

/** The credentials that are stored at a place, or inside it, or that may be: of some nothing shows it. */
function storedAt(place: Path, { secrets, values }: ObservedState): Path[] {
  const isHere = (name: string): boolean => isWithin(normalPath(pathNamed(name)), place);
  const reported = [...secrets].filter(([name, state]) => isHere(name) && mayBeStored(name, state));
  const shown = Object.entries(values).filter(
    ([name, value]) => isHere(name) && isCredential(pathNamed(name), value),
  );
  return [...reported, ...shown].map(([name]) => pathNamed(name));
}

/** A field that has a flag, and no flag in the answer, is not stored. */
function mayBeStored(name: string, state: SecretState): boolean {
  return state === 'stored' || (state === 'not-reported' && fieldNamed(name) === undefined);
}

/** Whether a value that the service shows, such as a header, lets somebody in. */
function isCredential(path: Path, value: Value): boolean {
  if (isEmpty(value)) return false;
  return path.slice(-1).some(isSensitiveName) || textFits(value, isSecretText);
}

/**
 * Another model, whose provider the service addresses by itself. Only services that show which address they infer are judged; with an
 * address of its own a model of any name goes to that.
 */
function isOtherProvider(
  before: Value,
  after: Value,
  plan: SettingsPlan,
  { dialect, values }: ObservedState,
): boolean {
  const inferred = dialect.fields.get('llm_base_url')?.shownAsNull;
  const isWritten = plan.changes.some(({ path }) => path[0] === 'llm_base_url');
  if (inferred === undefined || isWritten || !isEmpty(values['llm_base_url'] ?? null)) return false;
  const [from, to] = [providerOf(before, inferred), providerOf(after, inferred)];
  return from !== null && to !== null && from !== to;
}

/** What names the provider of a model: the address that is inferred for it, or what is before its slash. Null if that is not known. */
function providerOf(model: Value, { values }: DefaultsBy): string | null {
  if (isEmpty(model) || model instanceof UnseenSecret) return null;
  const named = (text: string): string => {
    const known = [...values].find(([start]) => start !== '' && text.startsWith(start));
    return known?.[1] ?? /^([^/]+)\//.exec(text)?.[1] ?? OTHER;
  };
  if (model instanceof Secret) return model.compareWith(named);
  return typeof model === 'string' ? named(model) : null;
}

const OTHER = 'another provider';
