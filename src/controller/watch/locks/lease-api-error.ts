import { SetpointError } from '../../../reconciler/model/error.ts';
import type { Method, WireAnswer } from '../../../reconciler/service/exchange.ts';
import type { WireFault } from '../../../reconciler/service/wire-fault.ts';

const RULE =
  'Bind a Role to it with apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update, delete]; examples/kubernetes/watch has one.';

/** Milliseconds until a request is sent again; null if that would not help. */
export function pauseOf(
  answer: WireAnswer,
  retryAfter: string | undefined,
  tries: number,
): number | null {
  const usual = 100 * 2 ** tries;
  if (answer.kind === 'fault') return answer.fault.kind === 'tls' ? null : usual;
  const { status } = answer;
  // A token that has just been replaced is read anew.
  if (status === 401) return tries === 1 ? usual : null;
  if (status !== 429 && status !== 410 && status < 500) return null;
  const seconds = Number(retryAfter ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.max(usual, seconds * 1000) : usual;
}

/** The error of a status. What the answer says besides is not repeated. */
export function refusal(method: Method, status: number, namespace: string): SetpointError {
  const because = ` (${status}).`;
  switch (status) {
    case 401:
      return failed(
        `The API server refuses the token of this service account${because}`,
        'Check that the service account exists, and that the pod mounts its token.',
      );
    case 403:
      return failed(
        `The API server does not let this service account ${VERBS[method] ?? 'use'} leases in the namespace ${namespace}${because}`,
        RULE,
      );
    case 404:
      return failed(
        `The API server has no namespace ${namespace}, or no leases in it${because}`,
        'Check the namespace that is mounted beside the token, and that the cluster offers coordination.k8s.io/v1.',
      );
    case 429:
      return failed(
        `The API server refuses requests because there are too many${because}`,
        'Watch fewer environments with one controller, or more seldom.',
      );
    default:
      return failed(
        `The API server cannot keep the locks${because}`,
        'Check the API server; nothing is written without a lock.',
      );
  }
}

const VERBS: Partial<Record<Method, string>> = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  DELETE: 'delete',
};

export function unreached(fault: WireFault): SetpointError {
  if (fault.kind === 'tls') {
    return failed(
      'The certificate of the API server cannot be trusted.',
      'ca.crt beside the token must be the authority of the cluster.',
      fault.cause,
    );
  }
  return failed(
    fault.kind === 'timeout'
      ? 'The API server did not answer in time.'
      : 'The API server cannot be reached.',
    'Check that the network policy lets this pod reach the API server.',
    fault.cause,
  );
}

function failed(message: string, hint: string, cause?: Error): SetpointError {
  return new SetpointError('lock-failed', message, { hint, cause });
}
