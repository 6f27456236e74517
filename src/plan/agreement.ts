import { callNames, entriesOf, isMcpList, MCP_LISTS, segmentsIn } from '../model/mcp.ts';
import { pathKey, type Path } from '../model/path.ts';
import type { Change, ChangeClass } from '../model/plan.ts';
import type { Digests } from '../model/ports.ts';
import type { DesiredSandboxes } from '../model/sandbox.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ObservedState } from '../model/state.ts';
import { isEmpty, isList, isRecord, secretsIn, type Value } from '../model/value.ts';
import { formOf } from './declared-form.ts';
import { shownAt } from './native-fields.ts';
import { classedBy, declarations, withoutPlaces, type Since } from './three-way.ts';

/**
 * What a file declared and its service showed when the two were last the same, as digests under a salt. It tells which of them has changed
 * since. Of a reference it holds the digest of how it is written, and of what the service shows in its place only whether something is there.
 */
export interface Agreement {
  readonly salt: string;
  /** By the digest of a path. */
  readonly places: Readonly<Record<string, Agreed>>;
  /** The digests of the paths that were unmanaged. */
  readonly unmanaged: readonly string[];
  readonly sandboxes: string;
}

/**
 * The digests of what was declared and shown at a path. If a secret was declared in it, `plain` is where in it something else was: only
 * there what is shown counts.
 */
type Agreed = readonly [declared: string, shown: string, plain?: readonly string[]];

/** What is agreed on if a plan has found that nothing differs. */
export function agreementOf(
  desired: DesiredState,
  observed: ObservedState,
  { salt, quick }: Pick<Digests, 'salt' | 'quick'>,
): Agreement {
  const digest = short(quick);
  const declaredAt = declarations(desired);
  const shown = shownBy(observed);
  const places = placesOf(desired).flatMap((path): [string, Agreed][] => {
    const value = declaredAt(path);
    if (value === undefined) return [];
    const plain = secretsIn(value).length === 0 ? undefined : plainIn(value);
    const of = [digest(formOf(value, quick)), digest(formOfShown(shown(path), plain))] as const;
    return [[digest(path), plain === undefined ? of : [...of, plain]]];
  });
  return {
    salt,
    places: Object.fromEntries(places),
    unmanaged: desired.unmanaged.map(digest),
    sandboxes: sandboxesDigest(desired.sandboxes, digest),
  };
}

/** Classifies changes by what has changed since an agreement, as `classified` does with an earlier file. `quick` is under its salt. */
export function sinceAgreement(agreement: Agreement, { quick }: Pick<Digests, 'quick'>): Since {
  const digest = short(quick);
  return {
    classify: (plan, desired, observed) => {
      const declaredAt = declarations(desired);
      const shown = shownBy(observed);
      const classOf = ({ path }: Change): ChangeClass => {
        const value = declaredAt(path);
        const found = agreedAt(path, agreement, digest);
        if (found === null) return value === undefined ? 'drift' : 'pending';
        const [declared, was, plain] = found.agreed;
        if (value !== undefined && digest(formOf(value, quick)) === declared) return 'drift';
        return digest(formOfShown(shown(found.place), plain)) === was ? 'pending' : 'conflict';
      };
      const sandboxesMoved = sandboxesDigest(desired.sandboxes, digest) !== agreement.sandboxes;
      return classedBy(plan, classOf, sandboxesMoved);
    },
  };
}

type Digest = (form: unknown) => string;

/** 64 bits: enough to tell that something has changed, and little to try guesses with. */
function short(quick: Digests['quick']): Digest {
  return (form) => quick(JSON.stringify(['agreement', form])).slice(-16);
}

/** What an agreement says of the path of a change, and of which place; null if nothing was declared there, or it was unmanaged. */
function agreedAt(
  path: Path,
  { places, unmanaged }: Agreement,
  digest: Digest,
): { readonly agreed: Agreed; readonly place: Path } | null {
  const place = placeOf(path);
  const left = new Set(unmanaged);
  const isLeft = [path, place].some((one) =>
    one.some((_, index) => left.has(digest(one.slice(0, index + 1)))),
  );
  if (isLeft) return null;
  for (const one of isEntry(path) ? [place] : [place, path.slice(0, 1)]) {
    const agreed = places[digest(one)];
    if (agreed !== undefined) return { agreed, place: one };
  }
  return null;
}

function isEntry([name = '', list = '', identity]: Path): boolean {
  return name === 'mcp_config' && identity !== undefined && isMcpList(list);
}

/** The path that a change is compared at: of a second entry alike, that of the first. */
function placeOf(path: Path): Path {
  const [name = '', list = '', identity = ''] = path;
  return isEntry(path) ? [name, list, identity.replace(/#\d+$/, '')] : path;
}

/** The paths under which a file declares something: fields, native values, and entries of lists. */
function placesOf({ fields }: DesiredState): readonly Path[] {
  return fields.flatMap(({ field, value }) => {
    if (field.isNative) return [field.path];
    if (field.name !== 'mcp_config' || !isRecord(value)) return [[field.name]];
    const entries = MCP_LISTS.flatMap((list) =>
      segmentsIn(list, entriesOf(value[list])).map((segment) => [field.name, list, segment]),
    );
    return [[field.name], ...entries];
  });
}

/** What a service shows at a path. */
function shownBy(observed: ObservedState): (path: Path) => Value | undefined {
  const { values, secrets } = observed;
  return (path) => {
    const [name = '', list = '', identity = ''] = path;
    if (isEntry(path) && isMcpList(list)) {
      const config = values[name];
      const entries = isRecord(config) ? entriesOf(config[list]) : [];
      return entries.find((entry) => callNames(list, entry).includes(identity));
    }
    return shownAt(observed, path) ?? values[name] ?? secrets.get(name);
  };
}

/** The places of what is no secret and holds none, as keys of their paths. */
function plainIn(value: Value, at: Path = []): readonly string[] {
  if (secretsIn(value).length === 0) return [pathKey(at)];
  if (isList(value)) return value.flatMap((item, index) => plainIn(item, [...at, String(index)]));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => plainIn(member, [...at, key]));
}

/** What a service shows, without its secrets; with `plain`, nothing but whether something is there outside of these places. */
function formOfShown(shown: Value | undefined, plain?: readonly string[]): unknown {
  const open = plain === undefined ? null : new Set(plain);
  const form = (value: Value, at: Path, isOpen: boolean): unknown => {
    const isPlain = isOpen || open?.has(pathKey(at)) === true;
    if (isList(value))
      return value.map((item, index) => form(item, [...at, String(index)], isPlain));
    if (isRecord(value))
      return Object.entries(value)
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([key, member]) => [key, form(member, [...at, key], isPlain)]);
    if (value instanceof Secret || !isPlain) return [isEmpty(value)];
    return value;
  };
  return shown === undefined ? null : form(shown, [], open === null);
}

function sandboxesDigest(items: readonly DesiredSandboxes[], digest: Digest): string {
  return digest(withoutPlaces(items));
}
