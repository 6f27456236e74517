import { dirname, resolve } from 'node:path';
import { partsWithReferences } from '../desired/blocks.ts';
import { lookUpAll } from '../desired/lookup.ts';
import { eachText, member, readNodeText, type Node } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import { parseEmbeddedAddress, isServiceAddress, urlOrigin } from '../model/address.ts';
import { SetpointError, type Warning } from '../model/error.ts';
import { SharedValues } from '../model/redactor.ts';
import { Secret } from '../model/secret.ts';
import type { DesiredState, ServerSettings } from '../model/state.ts';
import { hostProblem } from '../desired/address-travel.ts';
import { isPem, readDeclaredOrigin } from '../desired/blocks/server.ts';
import {
  createTravelPolicy,
  travelProblem,
  withinLimits,
  type TravelPolicy,
  type TravelProblem,
  secretsRead,
  variablesRead,
  whyNotAsked,
} from '../desired/key-travel.ts';
import {
  KeyUses,
  createOriginResolver,
  describeSharedKey,
  type SharedKey,
} from '../desired/key-uses.ts';
import { isHeaderValue, resolveServer, resolveSettings } from '../desired/resolve.ts';
import type { Target } from '../desired/target.ts';
import { fileIdentity } from '../host/reference-source.ts';
import { omitSkipped } from '../plan/declared.ts';
import { selectOnly, selectSkipped, MissingReferenceError, MissingReferences } from './leavable.ts';
import type { Options, PlanRequest } from './options.ts';
import { RunRedactors, createMaskingSource, type Running } from './redacting.ts';
import type { RunTargets } from './select.ts';

/** A target with all references resolved, and nothing sent. `server` is an error if it must not or cannot be reached. */
export interface PreparedTarget {
  readonly target: Target;
  readonly server: ServerSettings | SetpointError;
  readonly desired: DesiredState;
  readonly warnings: readonly Warning[];
}

/** The origin as it may be shown; null if it is not known. */
export function formatOrigin({ server }: PreparedTarget): string | null {
  return server instanceof SetpointError ? null : server.origin;
}

/** The targets of a run, each to be prepared when it is reached: only then are the references of its settings resolved. */
interface RunPreparation {
  readonly targets: readonly Target[];
  readonly prepare: (target: Target) => PreparedTarget;
  /** Gives up what was noted of a target that was prepared only to be looked at. */
  readonly release: (target: Target) => void;
}

/**
 * Checks where the keys of all targets may travel, before a request is sent to any. `judged` are those of all shards: a key that two shards
 * would send to different origins is refused in each. The values of the references of all declared targets are masked from then on, in the
 * documents of every target. Nothing else of a target is stored, so that a run over many takes hardly more memory than one over few; a
 * target is checked again when it is prepared.
 */
export async function judgeTargets(
  { targets, judged: whole, declared }: RunTargets,
  options: Running<Options & Pick<PlanRequest, 'without' | 'only'>>,
): Promise<RunPreparation> {
  await askSecrets(targets, whole, options);
  const policy = createTravelPolicy(options.env, options.checkout?.from);
  const uses = new KeyUses({
    fileOf: (path) => (options.silent.has(path) ? resolve(path) : fileIdentity(path)),
    originOf: createOriginResolver(createMaskingSource([], options)),
  });
  const note = noting(options);
  for (const target of declared) {
    note(target);
    uses.add(target);
  }
  refuseShared(uses, declared);
  return {
    targets,
    release: (target) => options.resolved.release(target.name),
    prepare: (target) => {
      const desired = withoutSkippedParts(
        resolveSettings(target, createMaskingSource([target.name], options)),
        options,
      );
      const { server, warnings } = reach(target, policy, options, uses);
      const problem =
        server instanceof SetpointError ? null : hostProblem(desired, withinLimits(policy, target));
      return {
        target,
        desired,
        warnings,
        server: problem === null ? server : travelError(problem),
      };
    },
  };
}

/** Returns a declaration without the parts that this run skips. */
export function withoutSkippedParts(
  desired: DesiredState,
  { without, only }: Pick<PlanRequest, 'without' | 'only'>,
): DesiredState {
  const limited = only === undefined ? desired : selectOnly(only, desired);
  return without === undefined ? limited : omitSkipped(limited, selectSkipped(without, limited));
}

/** Each target prepared, one at a time, to be looked at. */
export function* prepareEachTarget({
  targets,
  prepare,
  release,
}: RunPreparation): Iterable<PreparedTarget> {
  for (const target of targets) {
    yield prepare(target);
    release(target);
  }
}

/** A function that has the values of a target's references masked in the documents of every target. */
export function noting(options: Running<Options>): (target: Target) => void {
  const source = createMaskingSource([], options);
  const known = new Set<Node>();
  return (target) => {
    const shared = partsWithReferences(target.shared);
    for (const part of shared) {
      if (part === undefined || known.has(part)) continue;
      known.add(part);
      lookUpAll(part, source, undefined);
    }
    for (const [index, part] of partsWithReferences(target).entries())
      lookUpAll(part, source, shared[index]);
  };
}

/** The values of the references of targets outside of this run, except short ones, which would be found in any word. */
export function secretsOfOthers(
  declared: readonly Target[],
  targets: readonly Target[],
  options: Running<Options>,
): Secret[] {
  const known = new Set(targets);
  const values = new SharedValues();
  const note = noting({ ...options, resolved: new RunRedactors(values) });
  for (const target of declared) if (!known.has(target)) note(target);
  return values.all().map((value) => new Secret(value));
}

/** All targets, judged and prepared, for a run over few. */
export async function prepareTargets(
  { targets, declared }: Pick<RunTargets, 'targets' | 'declared'>,
  options: Running<Options>,
): Promise<readonly PreparedTarget[]> {
  const judged = await judgeTargets({ targets, judged: targets, declared }, options);
  return targets.map(judged.prepare);
}

/** Throws if files send one key to two origins that they write out. Nothing is looked up, and no file is read. */
export function refuseSharedKeys(declared: readonly Target[]): void {
  const uses = new KeyUses({
    fileOf: (path) => resolve(path),
    originOf: createOriginResolver(null),
  });
  for (const target of declared) uses.add(target);
  refuseShared(uses, declared);
}

function refuseShared(uses: KeyUses, declared: readonly Target[]): void {
  const [shared] = uses.listShared(declared);
  if (shared !== undefined) throw keyShared(shared);
}

function keyShared(shared: SharedKey): SetpointError {
  return new SetpointError('key-shared', describeSharedKey(shared));
}

/** The first reason why an apply must not begin, of any target; null if there is none. References without a value have a line each. */
export function whyNotApplied(
  targets: Iterable<PreparedTarget>,
  options: Pick<Options, 'env' | 'checkout' | 'dotenvHas'>,
): SetpointError | null {
  const missing = new MissingReferences();
  for (const { target, server, desired } of targets) {
    if (server instanceof SetpointError && server.code !== 'reference-missing') return server;
    missing.add(target.name, server instanceof SetpointError ? server : null, desired);
  }
  return missing.error(options);
}

/** The access to a target's service. */
type ServerAccess = Pick<PreparedTarget, 'server' | 'warnings'>;

function reach(
  target: Target,
  policy: TravelPolicy,
  options: Running<Options>,
  uses: KeyUses,
): ServerAccess {
  const own = resolveServer(target, createMaskingSource([target.name], options));
  if ('server' in own) notePaths(target, own.server, options.resolved);
  const address = options.server === undefined ? null : parseServerFlag(options.server);
  if (address !== null && !isSameOrigin(own, address)) {
    const { server, warnings } = redirectServer(target, address, own, options);
    const misdirected = uses.findMisdirected(target, address);
    if (misdirected !== null) return { warnings, server: keyShared(misdirected) };
    return {
      warnings,
      server:
        server instanceof SetpointError
          ? server
          : checkKeyTravel(target, server, policy, listRedirectedVariables(target, server)),
    };
  }
  const found =
    address === null || 'problems' in own
      ? own
      : { server: { ...own.server, url: address, origin: urlOrigin(address) } };
  if ('problems' in found) {
    const reasons = found.problems
      .map(({ path, reason, ref }) => `${path.join('.')} (${ref}): ${reason}.`)
      .join(' ');
    const refs = found.problems.map(({ ref }) => ref);
    return { warnings: [], server: new MissingReferenceError(reasons, refs, options) };
  }
  return { warnings: [], server: checkKeyTravel(target, found.server, policy) };
}

/** Masks the files that a server's references lead to: messages name them by their whole path. */
function notePaths(target: Target, server: ServerSettings, resolved: RunRedactors): void {
  const paths = {
    url: parseEmbeddedAddress(server.url)?.path ?? null,
    ca_file: server.caFile,
    client_cert: server.clientCert,
    client_key: server.clientKey === null ? null : String(server.clientKey.reveal()),
  };
  for (const [key, path] of Object.entries(paths)) {
    const written = readNodeText(member(target.server, key)) ?? '';
    if (path === null || path === '' || isPem(path) || !mayHoldReference(written)) continue;
    resolved.add(target.name, resolve(dirname(target.file), path), null);
  }
}

/** The variables that are sent to another address than the file's: those of its settings, and of the key for `--server`. */
function listRedirectedVariables(target: Target, { apiKey }: ServerSettings): ReadonlySet<string> {
  const parts = partsWithReferences(target).filter((part) => part !== target.server);
  const key = apiKey === null ? [] : ['SETPOINT_API_KEY'];
  return new Set([...variablesRead(parts), ...key]);
}

function checkKeyTravel(
  target: Target,
  server: ServerSettings,
  policy: TravelPolicy,
  sent?: Iterable<string>,
): ServerSettings | SetpointError {
  const problem = travelProblem(target, server, policy, sent);
  return problem === null ? server : travelError(problem);
}

export function travelError({ code, message, hint }: TravelProblem): SetpointError {
  return new SetpointError(code, message, { hint });
}

type OwnServer = ReturnType<typeof resolveServer>;

function parseServerFlag(given: string): string {
  const url = given.trim().replace(/\/+$/, '');
  if (isServiceAddress(url)) return url;
  throw new SetpointError(
    'usage',
    '--server takes an address: http, https or embedded:, without userinfo, query and fragment.',
  );
}

/** Reports whether the file's own address, if known, has the same origin as another. */
function isSameOrigin(own: OwnServer, address: string): boolean {
  const url = 'server' in own ? own.server.url : own.url;
  return (
    url !== null && url !== '' && isServiceAddress(url) && urlOrigin(url) === urlOrigin(address)
  );
}

/** `--server` with another origin than the file's: SETPOINT_API_KEY is sent there, or no key. */
function redirectServer(
  target: Target,
  url: string,
  own: OwnServer,
  { env, resolved }: Running<Options>,
): { readonly server: ServerSettings | SetpointError; readonly warnings: readonly Warning[] } {
  const origin = urlOrigin(url);
  const key = env['SETPOINT_API_KEY'] ?? '';
  if (key !== '' && !isHeaderValue(key)) {
    const message =
      'SETPOINT_API_KEY has characters that no header can carry, such as a line break.';
    return { server: new SetpointError('reference-missing', message), warnings: [] };
  }
  resolved.add(target.name, key, null);
  const apiKey = key === '' ? null : new Secret(key, '${env:SETPOINT_API_KEY}');
  const auth = 'server' in own ? own.server.auth : 'both';
  const declared = readDeclaredOrigin(target);
  const instead = declared === null ? '' : ` instead of ${declared}`;
  const sent = apiKey === null ? 'no key' : 'SETPOINT_API_KEY and not the key of the file';
  const message = `--server overrides the file: requests go to ${origin}${instead}, with ${sent}.`;
  return {
    server: {
      url,
      origin,
      apiKey,
      auth,
      dialect: 'auto',
      headers: new Map(),
      caFile: null,
      clientCert: null,
      clientKey: null,
      compareSecrets: false,
    },
    warnings: target.server === undefined ? [] : [{ code: 'key-not-used', message, path: [] }],
  };
}

/**
 * Runs the secret commands for the values that targets read, before their references are looked up. `servers` are targets whose server
 * alone is read. Values outside the lists of the environment are not requested. For targets of a cluster, requests their values.
 */
export async function askSecrets(
  targets: Iterable<Target>,
  servers: Iterable<Target>,
  { env, checkout, secrets, signal }: Running<Options>,
): Promise<void> {
  if ('request' in secrets) {
    const requests = new Map([...targets].flatMap((one) => [...(one.requests ?? [])]));
    for (const { server, requests: own } of servers)
      eachText(server, (text) => {
        const request = own?.get(text);
        if (request !== undefined) requests.set(text, request);
      });
    return secrets.request(requests);
  }
  const read = secretsRead(listReferencingNodes(targets, servers));
  if (read.length === 0) return;
  const policy = createTravelPolicy(env, checkout?.from);
  const allowed = read.filter((one) => whyNotAsked(one, policy) === null);
  await secrets.ask(allowed, signal);
}

function* listReferencingNodes(
  targets: Iterable<Target>,
  servers: Iterable<Target>,
): Iterable<Node | undefined> {
  for (const target of targets) if (target.mayReadSecrets) yield* partsWithReferences(target);
  for (const target of servers) if (target.mayReadSecrets) yield target.server;
}
