import { fails, notChecked, works, type TrialResult } from '../../model/proof.ts';
import { formatCount, withoutStop } from '../../model/wording.ts';
import { isList, isRecord, createRecord, type Value, type ValueRecord } from '../../model/value.ts';
import { createFaultError } from '../fault-error.ts';
import { encode } from '../json.ts';
import type { ResourceReader } from '../port.ts';
import { notInSnapshot } from '../port.ts';
import { readJsonReply } from '../request.ts';
import { isMissingPath } from '../dialects.ts';

/* What an Agent Server tries on request, without storing anything. Nothing of what it answers is shown: a provider's message may have the key in it. */

export interface Checks {
  /** Has the service ask the model for one token. It sends the key to the address of the model. */
  readonly model: (name: string, llm: ValueRecord) => Promise<TrialResult>;
  /** Has the service reach the mcp server, or start its program, and list its tools. */
  readonly server: (name: string, server: ValueRecord) => Promise<TrialResult>;
  /** Has the service put together an agent: the profile that is sent, or else the stored one. What `coming` names is not missed. */
  readonly agent: (
    name: string,
    profile: ValueRecord | null,
    coming: ReadonlySet<string>,
  ) => Promise<TrialResult>;
}

/** Milliseconds that an answer may take. The service itself gives a model and a server 15 s. */
const ANSWER_MS = 40_000;
const SERVICE_MS = 15_000;

export const CHECKS: ResourceReader<Checks> = {
  open: ({ connection, read }) => {
    const { clock } = connection;
    const ask = (path: string, body: ValueRecord): Promise<CheckAnswer> =>
      read('check', () => sendCheck(connection, path, body), 'aside');
    return {
      model: async (name, llm) => {
        const begun = clock.monotonic();
        const path = `/api/profiles/${encodeURIComponent(name)}/validate`;
        const answer = await ask(path, createRecord({ llm }));
        if ('tried' in answer) return answer.tried;
        if (answer.json['valid'] !== true) return fails(modelFault(answer.json['error']));
        // The service does not treat a provider that does not answer in time as a fault of the profile.
        if (clock.monotonic() - begun >= readCheckTimeout(llm) - 100)
          return notChecked('the model did not answer in time');
        return works('the service asked the model, and found no fault');
      },
      server: async (name, server) => {
        const body = createRecord({ name, server, timeout: SERVICE_MS / 1000 });
        const answer = await ask('/api/mcp/test', body);
        if ('tried' in answer) return answer.tried;
        const { ok, tools } = answer.json;
        if (ok !== true) return fails(serverFault(answer.json));
        return works(`it lists ${formatCount(isList(tools) ? tools.length : 0, 'tool')}`);
      },
      agent: async (name, profile, coming) => {
        const path = `/api/agent-profiles/${encodeURIComponent(name)}/materialize`;
        const answer = await ask(
          path,
          profile === null ? createRecord({}) : createRecord({ profile }),
        );
        return 'tried' in answer ? answer.tried : agentVerdict(answer.json, coming);
      },
    };
  },
  saved: () => {
    throw notInSnapshot('A snapshot tries nothing.');
  },
};

type CheckAnswer = { readonly json: ValueRecord } | { readonly tried: TrialResult };

/** Sends one request that tries something, once. */
async function sendCheck(
  connection: Parameters<(typeof CHECKS)['open']>[0]['connection'],
  path: string,
  body: ValueRecord,
): Promise<CheckAnswer> {
  const place = connection.place('POST', path);
  const limited = connection.turns.write(place);
  if (limited !== null) return { tried: notChecked(withoutStop(limited.message)) };
  const reply = await connection.send({
    method: 'POST',
    path,
    body: encode(body),
    timeout: ANSWER_MS,
    headersTimeout: ANSWER_MS,
    wantsBody: (status) => status === 200 || status === 404,
  });
  if (reply.kind === 'fault')
    return {
      tried: notChecked(
        withoutStop(createFaultError(place, reply.fault, connection.proxied).message),
      ),
    };
  const { status } = reply;
  if (isMissingPath(place, reply))
    return { tried: notChecked('this release of the service does not try it') };
  if (status === 404) return { tried: notChecked('the service does not have it yet') };
  if (status === 422 || status === 400)
    return { tried: fails(`the service refuses it as invalid (status ${status})`) };
  if (status !== 200)
    return { tried: notChecked(`the service answered with status ${status} to it`) };
  const read = readJsonReply(place, reply);
  if ('error' in read) return { tried: notChecked(withoutStop(read.error.message)) };
  return isRecord(read.json)
    ? { json: read.json }
    : { tried: notChecked('the service answered with something else than a result') };
}

function readCheckTimeout({ timeout }: ValueRecord): number {
  const seconds = Number(timeout ?? Number.NaN);
  return seconds > 0 ? Math.min(seconds * 1000, SERVICE_MS) : SERVICE_MS;
}

/** The service's names of model faults, and their meanings. */
const MODEL_FAULTS: Readonly<Record<string, string>> = {
  LLMAuthenticationError:
    'the provider refuses the key: check the value of its variable, then apply with --rotate',
  LLMRateLimitError: 'the budget or quota of the key is used up: raise it, or use another key',
  LLMTimeoutError: 'the budget or quota of the key is used up: raise it, or use another key',
  LLMServiceUnavailableError:
    '(1) there is no key: set api_key; (2) the address is wrong: check base_url; (3) the provider is down, or the server may not reach it: ask it from the machine of the server',
  LLMBadRequestError: 'the provider refuses the request: check the name of the model',
  NotFoundError:
    '(1) the provider has no such model: check its name; (2) there is nothing at that address: check base_url',
  PermissionDeniedError:
    'the key may not use this model: allow it at the provider, or use another model',
};

function modelFault(error: Value | undefined): string {
  const type = isRecord(error) ? error['type'] : undefined;
  const known = typeof type === 'string' && Object.hasOwn(MODEL_FAULTS, type);
  if (known) return MODEL_FAULTS[type] ?? '';
  const named = typeof type === 'string' && /^[A-Za-z]{1,40}$/.test(type) ? ` (${type})` : '';
  return `the service cannot use it${named}`;
}

/** Only a status of HTTP is used from the answer of the service: the rest may be a program's own words. */
function serverFault({ error, error_kind: kind }: ValueRecord): string {
  const status = typeof error === 'string' ? /\berror '([45]\d\d) /.exec(error)?.[1] : undefined;
  if (status === '401' || status === '403')
    return `the server refuses the key (status ${status}): check the value of its variable, with Bearer before it where the server wants that, then apply with --rotate`;
  if (status !== undefined) return `the server answers with status ${status}`;
  if (kind === 'timeout') return `it did not answer within ${SERVICE_MS / 1000} s`;
  if (kind === 'connection')
    return '(1) nothing answers at its url: check it; (2) the machine of the server may not reach it; (3) of a program: its command is not installed there';
  return 'it was started or reached, and does not answer as an mcp server';
}

function agentVerdict(answer: ValueRecord, coming: ReadonlySet<string>): TrialResult {
  if (answer['valid'] === true)
    return works(
      answer['llm_api_key_set'] === false && typeof answer['llm_profile_ref'] === 'string'
        ? 'the service can put the agent together, and its LLM profile has no key'
        : 'the service can put the agent together',
    );
  const missing = [
    ...(answer['llm_profile_resolved'] === false ? readNameList(answer['llm_profile_ref']) : []),
    ...readNameList(answer['dangling_mcp_server_refs']),
    ...readNameList(answer['dangling_meta_profile_ref']),
    ...readNameList(answer['dangling_meta_profile_llm_refs']),
  ];
  const left = missing.filter((name) => !coming.has(name));
  if (left.length > 0) return fails(`it names what the service does not have: ${left.join(', ')}`);
  if (missing.length > 0)
    return notChecked(`it names what is stored by the same apply: ${missing.join(', ')}`);
  const unusable = readNameList(answer['unusable_tools']);
  if (unusable.length > 0)
    return fails(`it has tools that the service cannot run: ${unusable.join(', ')}`);
  return fails('the service cannot put the agent together');
}

/** Names that an answer has, of the profiles, servers and tools that the request named. */
function readNameList(value: Value | undefined): readonly string[] {
  const all = isList(value) ? value : [value];
  return all.filter((one) => typeof one === 'string' && one !== '') as readonly string[];
}
