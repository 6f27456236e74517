import { createHash } from 'node:crypto';

/** What a comment or an issue of ours is about: it stands in its first line, which nobody sees. */
export type Subject = 'plan' | 'outcome' | 'validation' | 'failure' | 'drift';

export interface Meta {
  readonly digest: string;
  readonly commit: string | null;
}

const LONGEST = 200;

/** The first line of a post. Two subjects or two targets never have the same; no name can end it. */
export function markerOf(subject: Subject, target: string | null): string {
  return `<!-- setpoint:${subject}${target === null ? '' : ` target=${encoded(target)}`} -->`;
}

/** Marker, what is to be known at the next run, and then what people read. */
export function marked(marker: string, { digest, commit }: Meta, markdown: string): string {
  const known = commit !== null && /^[0-9a-f]{7,64}$/.test(commit) ? commit : null;
  const meta = JSON.stringify({ v: 1, digest, commit: known });
  return `${marker}\n<!-- setpoint-meta ${meta} -->\n\n${markdown}`;
}

export function isMarked(body: string, marker: string): boolean {
  return linesOf(body)[0] === marker;
}

/** The digest a post was written with; null where it does not say one. */
export function digestIn(body: string): string | null {
  const [, meta = ''] = linesOf(body);
  return /^<!-- setpoint-meta \{"v":1,"digest":"([0-9a-f]+)",.*\} -->$/.exec(meta)?.[1] ?? null;
}

/** The marker and the meta line; GitHub hands bodies out with either line end. */
function linesOf(body: string): readonly string[] {
  return body.split(/\r?\n/, 2);
}

function encoded(name: string): string {
  const text = name.replaceAll(
    /[^A-Za-z0-9._-]/g,
    (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  if (text.length <= LONGEST) return text;
  return `%sha256-${createHash('sha256').update(text).digest('hex')}`;
}
