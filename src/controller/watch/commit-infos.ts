import { Redactor, type SharedValues } from '../../reconciler/model/redactor.ts';
import type { CommitInfo } from '../../reconciler/model/watch.ts';

type CommitInfos = ReadonlyMap<string, CommitInfo>;

/** Returns the known facts of the commits in `used`; `added` is about the first of them. The values of references are masked in it. */
export function keepCommitInfos(
  known: CommitInfos,
  used: readonly (string | null)[],
  added: CommitInfo | null | undefined,
  values: SharedValues,
): CommitInfos {
  const infos = new Map([...known].filter(([commit]) => used.includes(commit)));
  const [commit = null] = used;
  if (commit === null || added === null || added === undefined) return infos;
  const masks = new Redactor(values);
  const [author, subject] = [masks.text(added.author), masks.text(added.subject)];
  return infos.set(commit, { ...added, author, subject });
}
