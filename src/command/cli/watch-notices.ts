import { asSetpointError } from '../../reconciler/model/error.ts';
import type { Clock, Variables } from '../../reconciler/model/ports.ts';
import { referenceSource, SecretValues } from '../../reconciler/host/reference-source.ts';
import {
  Notices,
  type IssueKeeper,
  type NoticeOptions,
} from '../../controller/watch/notices/notices.ts';
import { notifySecrets, readNotify } from '../../controller/watch/notices/notify-file.ts';
import { httpSender } from '../../controller/watch/notices/send.ts';

/** Creates the notices of a controller from a file of --notify, which is read at once. Throws NotifyInvalid, or file-unreadable. */
export async function loadNoticesFactory(
  path: string,
  env: Variables,
  clock: Clock,
): Promise<(options: Pick<NoticeOptions, 'watching' | 'journal' | 'report'>) => Notices> {
  const secrets = new SecretValues(env);
  await secrets.ask(notifySecrets(path));
  const settings = readNotify(path, referenceSource(env, new Set(), secrets));
  const issues = issueKeeper(clock);
  return (options) =>
    new Notices({ ...options, settings, clock, issues, sender: httpSender(env, clock) });
}

/** Keeps issues by the client for GitHub, which is loaded for the first of them. */
function issueKeeper(clock: Clock): IssueKeeper {
  return async ({ repository: full, token, apiUrl }, open, closed) => {
    const { gitHub } = await import('../github/client.ts');
    const { keepWatchIssues } = await import('../github/watch-issues.ts');
    const [owner = '', repository = ''] = full.split('/');
    const access = {
      apiUrl: apiUrl ?? 'https://api.github.com',
      token: String(token.reveal()),
      owner,
      repository,
    };
    try {
      await keepWatchIssues(gitHub(access, clock), open, closed, clock.now());
      return { kind: 'sent' };
    } catch (thrown) {
      const { code, message } = asSetpointError(thrown);
      return { kind: 'not-taken', again: code !== 'unauthorized', after: null, problem: message };
    }
  };
}
