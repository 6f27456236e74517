import { createHash } from 'node:crypto';

/** The subject of one of our comments or issues. */
export type Subject =
  | 'plan'
  | 'outcome'
  | 'validation'
  | 'failure'
  | 'drift'
  | 'drift-pull'
  | 'closed-drift-pull'
  | 'foreign-commits';

/** The data that a post stores for the next run, invisible to readers. */
export interface Meta {
  readonly digest: string;
  readonly commit: string | null;
  /** A digest of the owner, such as a workflow and its settings files; absent if unknown. */
  readonly keeper?: string | undefined;
}

const LONGEST_NAME = 200;

/** The first line of a post, invisible to readers. Different subjects or environments have different ones; no name can end it. */
export function createMarker(subject: Subject, environment: string | null): string {
  const about = environment === null ? '' : ` environment=${encodeMarkerName(environment)}`;
  return `<!-- setpoint:${subject}${about} -->`;
}

/** A post: its marker, what it keeps for the next run, then what people read. */
export function joinMarkedPost(
  marker: string,
  { digest, commit, keeper }: Meta,
  markdown: string,
): string {
  const known = commit !== null && /^[0-9a-f]{7,64}$/.test(commit) ? commit : null;
  const meta = JSON.stringify({ v: 1, digest, commit: known, keeper });
  return `${marker}\n<!-- setpoint-meta ${meta} -->\n\n${markdown}`;
}

export function isMarked(body: string, marker: string): boolean {
  return firstLines(body)[0] === marker;
}

/** The digest a post was written with; null if it has none. */
export function findDigest(body: string): string | null {
  const [, meta = ''] = firstLines(body);
  return /^<!-- setpoint-meta \{"v":1,"digest":"([0-9a-f]+)",.*\} -->$/.exec(meta)?.[1] ?? null;
}

/** Returns the keeper of a post; null if the post does not name one. */
export function findKeeper(body: string): string | null {
  const [, meta = ''] = firstLines(body);
  return /^<!-- setpoint-meta \{"v":1,.*,"keeper":"([0-9a-f]+)"\} -->$/.exec(meta)?.[1] ?? null;
}

/** A post without its subject: it is found by its marker, and by its digest no more. */
export function withoutMeta(body: string): string {
  return findDigest(body) === null ? body : body.replace(/^([^\n]*\n)[^\n]*\n/, '$1');
}

/** A fingerprint of a value: equal values have the same. Documents are masked, so it reveals no secret. */
export function contentDigest(content: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(content, withSortedKeys))
    .digest('hex')
    .slice(0, 32);
}

function withSortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** GitHub returns bodies with either line end. */
function firstLines(body: string): readonly string[] {
  return body.split(/\r?\n/, 2);
}

function encodeMarkerName(name: string): string {
  const text = name.replaceAll(
    /[^A-Za-z0-9._-]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (text.length <= LONGEST_NAME) return text;
  return `%sha256-${createHash('sha256').update(text).digest('hex')}`;
}
