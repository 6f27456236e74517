import type { DialectName } from './dialect.ts';
import type { SchemaNode } from './json-schema.ts';
import { isWithin, samePath, type Path } from './path.ts';
import type { Json } from './value.ts';

/** The types that servers name in the schemas of their settings. */
export const MEMBER_TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'] as const;

/** A member of the native parts that a server has and that the release known here lacks. */
export interface LockedMember {
  /** From the top of the settings. */
  readonly path: Path;
  readonly type: (typeof MEMBER_TYPES)[number];
  /** Null of a secret, and of a member that is null if nobody has set it. */
  readonly default: Json;
  /** Empty if the server takes any value of the type. */
  readonly choices: readonly Json[];
  readonly secret: boolean;
}

/** What the servers of one release have told of their settings. Without members they have none that is new. */
export interface LockedRelease {
  readonly dialect: DialectName;
  /** Null if the server does not name its release. */
  readonly release: string | null;
  readonly members: readonly LockedMember[];
}

/** The file beside a settings file with what the schemas of its servers have besides the known ones. */
export interface SchemaLock {
  readonly releases: readonly LockedRelease[];
  /** Whether every member passes: while a lock is made, there is none to judge by. */
  readonly open?: boolean;
}

export const OPEN_LOCK: SchemaLock = { releases: [], open: true };

/** What a lock has at a path, of one dialect or of any; none if it has nothing there. References are not in it. */
export function lockedNodes(
  { releases }: SchemaLock,
  path: Path,
  dialect: DialectName | null = null,
): readonly SchemaNode[] {
  return releases
    .filter((one) => dialect === null || one.dialect === dialect)
    .flatMap(({ members }) => members.flatMap((member) => nodeOf(member, path)));
}

function nodeOf(member: LockedMember, path: Path): SchemaNode[] {
  if (samePath(member.path, path)) return [ownNode(member)];
  if (isWithin(path, member.path))
    return member.type === 'object' || member.type === 'array' ? [{}] : [];
  // A part that only its members are known of.
  const key = isWithin(member.path, path) ? member.path[path.length] : undefined;
  return key === undefined ? [] : [{ type: 'object', properties: { [key]: {} } }];
}

function ownNode({ type, choices, secret, default: otherwise }: LockedMember): SchemaNode {
  return {
    type: [type, 'null'],
    ...(choices.length === 0 ? {} : { enum: [...choices, null] }),
    ...(secret ? { format: 'password', writeOnly: true } : {}),
    ...(secret || otherwise === null ? {} : { default: otherwise }),
  };
}

/** The secrets of a lock, in the servers of one dialect. */
export function lockedSecrets({ releases }: SchemaLock, dialect: DialectName): readonly Path[] {
  return releases
    .filter((one) => one.dialect === dialect)
    .flatMap(({ members }) => members.filter(({ secret }) => secret).map(({ path }) => path));
}
