import { formatPath } from '../../../reconciler/model/path.ts';
import { TOOL } from '../../../reconciler/model/version.ts';
import type { WatchState } from '../../../reconciler/model/watch.ts';
import { stateDigest, type Due } from './decide.ts';
import { countsOf, messageOf, OVER } from './message.ts';

/** Changes that are named of each environment. */
const MOST_PATHS = 100;

/** All notices as JSON; schemas/notices.schema.json is its schema. It has no values of settings. */
export function jsonPayload(all: readonly Due[], page: string | null, at: number): unknown {
  return jsonDocument(
    all.map((due) => noticeOf(due, page)),
    at,
  );
}

export function jsonDocument(notices: readonly unknown[], at: number): unknown {
  return {
    format_version: '1.0',
    kind: 'notices',
    tool: TOOL,
    sent_at: new Date(at).toISOString(),
    notices,
  };
}

function noticeOf(due: Due, page: string | null): unknown {
  const { event, state } = due;
  const digest = stateDigest(due.digest);
  const [item] = messageOf([due], page).items;
  const { name, labels, found, since, after, commit, plan } = state;
  const error = plan?.error ?? null;

  return {
    event,
    environment: name,
    labels,
    status: found,
    since,
    after,
    commit,
    digest,
    summary: item?.words ?? '',
    changes: countsOf(state),
    paths: (event === 'healed'
      ? (state.putBack?.paths ?? [])
      : (plan?.changes ?? []).map(({ path }) => formatPath(path))
    ).slice(0, MOST_PATHS),
    unknown: plan?.unknown.length ?? 0,
    rules: [...new Set((plan?.refusals ?? []).map(({ rule }) => rule))],
    error: error === null ? null : { code: error.code, message: error.message },
    healing: OVER.has(event) ? null : healingOf(state),
    link: item?.link ?? null,
  };
}

/** What is wrong with healing it; null if nothing is. */
function healingOf({ stopped, healFailed }: WatchState): unknown {
  if (stopped !== null) return { code: 'stopped', path: stopped.path, message: stopped.reason };
  if (healFailed === null) return null;
  return { code: healFailed.code, path: null, message: healFailed.message };
}
