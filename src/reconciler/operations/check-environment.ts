import { withoutStop, counted } from '../model/wording.ts';
import { isBlock } from '../desired/blocks.ts';
import { listIn } from '../desired/key-travel.ts';
import { member } from '../desired/node.ts';
import { referenceReports } from '../desired/lookup.ts';
import {
  failedCheck,
  passedCheck,
  skippedCheck,
  warnedCheck,
  type Check,
  type TargetCheck,
} from '../model/doctor.ts';
import type { EnvironmentHealth, ReferenceReport } from '../model/documents.gen.ts';
import { isEmbedded, isLoopback } from '../model/address.ts';
import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import { formatPath } from '../model/path.ts';
import {
  declaredItems,
  NOT_OBSERVED,
  spokenBy,
  type ServerSettings,
  type Spoken,
  type DesiredState,
  type Organization,
} from '../model/state.ts';
import type { ManagedResource } from '../reconcile/contract.ts';
import { RESOURCES } from '../resources/resources.ts';
import {
  askedRelease,
  probe,
  type Probe,
  mayHaveOrganizations,
  organizationBehind,
} from '../service/settings.ts';
import { proxyUse } from '../service/network.ts';
import { observeTarget, type OpenTarget } from './open-target.ts';
import { storedProofs, planInput } from './plan-target.ts';
import type { Checking, Options } from './options.ts';
import { shownOrigin, type Prepared } from './prepare.ts';
import { referenceError } from './leavable.ts';
import { sourceFor, type ProxyVariables, type Running } from './redacting.ts';
import { changesOf, unknownOf } from '../model/plan.ts';
import { secretsIn } from '../model/value.ts';
import { waysOf, waysSentences } from '../model/uncompared.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import {
  concernsOrganization,
  declaresSharedKey,
  organizationText,
} from '../model/organization.ts';

/** Checks one environment: what can be checked offline first, then what GETs of its settings and of its release show. */
export async function checkEnvironment(
  prepared: Prepared,
  options: Running<Options & Checking>,
): Promise<EnvironmentHealth> {
  const { checks, proofs, ...spoken } = await checkService(prepared, options);
  return {
    name: prepared.target.name,
    origin: shownOrigin(prepared),
    ...spoken,
    checks: [
      referencesCheck(prepared, options),
      policyCheck(prepared, options.env),
      proxyCheck(prepared, options.proxy),
      ...checks,
    ],
    ...(proofs === undefined ? {} : { proofs }),
  };
}

function referencesCheck(prepared: Prepared, options: Running<Options>): Check<TargetCheck> {
  const { target, server, desired } = prepared;
  const source = sourceFor([target.name], options);
  const ofServer = referenceReports(target.server, ['server'], source);
  const ofField = (name: string): ReferenceReport[] =>
    referenceReports(member(target.settings, name), ['settings', name], source);
  const ofItems = (block: string): ReferenceReport[] =>
    isBlock(block) ? referenceReports(target[block], [block], source) : [];
  const missing = [
    ...(server instanceof SetpointError && server.code === 'reference-missing'
      ? reasonsAt('server', ofServer, withoutStop(server.message))
      : []),
    ...desired.missing.map(({ path, reason }) => `${formatPath(path)}: ${reason}`),
  ];
  if (missing.length > 0) {
    return failedCheck('references', errorReport(referenceError(missing.join('; '))));
  }
  const all = [
    ...ofServer,
    ...desired.fields.flatMap(({ field }) => ofField(field.name)),
    ...[...desired.items.keys()].flatMap(ofItems),
  ];
  const count = all.filter(({ problem }) => problem === null).length;
  if (count === 0) return passedCheck('references', 'there are none');
  return passedCheck(
    'references',
    count === 1 ? '1 reference, and it has a value' : `${count} references, and all have a value`,
  );
}

/** Every variable and file that is missing; if none is, what is wrong with a value. */
function reasonsAt(path: string, reports: readonly ReferenceReport[], otherwise: string): string[] {
  const problems = reports.flatMap(({ problem }) => problem ?? []);
  return (problems.length > 0 ? problems : [otherwise]).map((why) => `${path}: ${why}`);
}

/** Where keys may be sent: SETPOINT_ALLOWED_ORIGINS and _VARIABLES, which a pipeline must set. */
function policyCheck({ server, warnings }: Prepared, env: Options['env']): Check<TargetCheck> {
  if (server instanceof SetpointError) {
    return server.code === 'reference-missing'
      ? skippedCheck('policy', whyNotReached(server))
      : failedCheck('policy', errorReport(server));
  }
  const [warning] = warnings;
  if (warning !== undefined)
    return warnedCheck(
      'policy',
      warning.message,
      'Leave --server and SETPOINT_SERVER out to use the address of the file.',
    );
  if (isOnThisMachine(server))
    return passedCheck('policy', 'loopback address: no allow-list needed');
  const lists = ['SETPOINT_ALLOWED_ORIGINS', 'SETPOINT_ALLOWED_VARIABLES'];
  const set = lists.filter((name) => listIn(env[name]) !== null);
  if (set.length === 0) return passedCheck('policy', 'CI is not set: no allow-list needed');
  return passedCheck('policy', `allowed by ${set.join(' and ')}`);
}

function proxyCheck({ server }: Prepared, { url, bypass }: ProxyVariables): Check<TargetCheck> {
  if (server instanceof SetpointError) return skippedCheck('proxy', whyNotReached(server));
  if (isEmbedded(server.url)) return passedCheck('proxy', 'embedded: needs none');
  try {
    const use = proxyUse(new URL(server.url), url, bypass);
    switch (use.kind) {
      case 'none':
        return passedCheck('proxy', 'HTTPS_PROXY is not set: reached directly');
      case 'not-https':
        return passedCheck('proxy', 'HTTPS_PROXY is for https to other machines: reached directly');
      case 'bypassed':
        return passedCheck('proxy', 'NO_PROXY names the host: reached directly');
      case 'used':
        return passedCheck('proxy', `HTTPS_PROXY is in effect: reached through ${use.via}`);
    }
  } catch (thrown) {
    return failedCheck('proxy', errorReport(asSetpointError(thrown)));
  }
}

function isOnThisMachine({ url }: ServerSettings): boolean {
  return isEmbedded(url) || isLoopback(new URL(url).hostname);
}

type Found = Pick<EnvironmentHealth, 'dialect' | 'release' | 'checks' | 'proofs' | 'organization'>;

/** What one GET of the settings shows, which release the service names, and what resources check that the file declares. */
function checkService(prepared: Prepared, options: Running<Options & Checking>): Promise<Found> {
  const declared = RESOURCES.flatMap(({ block, check }) =>
    check !== undefined && declaredItems(prepared.desired, block).length > 0 ? [check] : [],
  );
  const names: TargetCheck[] = ['key', 'dialect', 'clock', ...declared.map(({ name }) => name)];
  const unreached = (first: Check<TargetCheck>): Found => ({
    ...NOT_OBSERVED,
    checks: [first, ...names.map((name) => skippedCheck(name, 'the service was not reached'))],
  });
  const { server } = prepared;
  if (server instanceof SetpointError)
    return Promise.resolve(unreached(skippedCheck('reach', whyNotReached(server))));
  return observeTarget<Found>(prepared, options, {
    open: async (open) => {
      const found = await probe(open.connection, open.limits, options.signal);
      const { outcome, status } = found;
      if (status === null && outcome instanceof SetpointError)
        return unreached(failedCheck('reach', errorReport(outcome)));
      const sends = open.connection.sendsKey;
      const spoken = await spokenIn(found, open, options.signal);
      const shared = await organizationCheck(prepared, open, found, options.signal);
      return {
        ...spoken,
        ...(shared.organization === null ? {} : { organization: shared.organization }),
        checks: [
          passedCheck(
            'reach',
            `${open.connection.place('GET', found.path)} was answered (status ${status})`,
          ),
          keyCheck(found, sends),
          dialectCheck(found, spoken.release),
          ...shared.checks,
          clockCheck(found),
          ...(await secretsCheck(prepared, { ...open, outcome }, options)),
          ...(await Promise.all(
            declared.map((check) => resourceCheck(check, found, open, options.signal)),
          )),
        ],
        ...(options.check === true && !(outcome instanceof SetpointError)
          ? { proofs: await storedProofs(prepared, { ...open, settings: outcome }, options) }
          : {}),
      };
    },
    failed: (error) => unreached(failedCheck('reach', error)),
  });
}

/** Why nothing is sent to the service. */
function whyNotReached({ code }: SetpointError): string {
  return code === 'reference-missing'
    ? 'the address or its key is not known'
    : 'nothing may be sent to it';
}

function keyCheck({ outcome }: Probe, sends: boolean): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError))
    return passedCheck('key', sends ? 'accepted' : 'none was sent, and none is required');
  return outcome.code === 'unauthorized'
    ? failedCheck('key', errorReport(outcome))
    : skippedCheck('key', 'the answer does not show it');
}

async function spokenIn(
  { outcome }: Probe,
  { connection, limits }: OpenTarget,
  signal: AbortSignal | undefined,
): Promise<Spoken> {
  if (outcome instanceof SetpointError) return NOT_OBSERVED;
  const release = await askedRelease(connection, outcome, limits, signal);
  return { ...spokenBy(outcome), release };
}

function dialectCheck({ outcome }: Probe, release: string | null): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError)) {
    const named = release === null ? '' : `, release ${release}`;
    const empty = outcome.stored ? '' : '; nothing is stored yet';
    return passedCheck('dialect', `${outcome.dialect.name}${named}${empty}`);
  }
  return outcome.code === 'unauthorized'
    ? skippedCheck('dialect', 'the key was refused')
    : failedCheck('dialect', errorReport(outcome));
}

/** What resources judge by the time of the service. */
function timed(): string[] {
  return RESOURCES.flatMap(({ check }) => check?.timed ?? []);
}

/** Milliseconds that clocks may differ by. */
const TOLERANCE = 60_000;

function clockCheck({ ahead }: Probe): Check<TargetCheck> {
  if (ahead === null)
    return warnedCheck(
      'clock',
      `the service does not report its time; the ${timed().join(' and ')} are judged by the clock of this machine`,
      'Nothing, if the clock of this machine is right; else set it by the network (NTP).',
    );
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const differs = `this machine is ${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(ahead) <= TOLERANCE)
    return passedCheck('clock', seconds === 0 ? 'the same as that of the service' : differs);
  return failedCheck('clock', {
    code: 'bad-response',
    message: `${differs}: ${['certificates', ...timed()].join(' and ')} are judged by time.`,
    hint: 'Set the clock of this machine by the network (NTP); if it is right, that of the service is wrong.',
  });
}

async function resourceCheck(
  { name, found }: NonNullable<ManagedResource['check']>,
  { outcome }: Probe,
  { reader }: OpenTarget,
  signal: AbortSignal | undefined,
): Promise<Check<TargetCheck>> {
  if (outcome instanceof SetpointError && outcome.code === 'unauthorized')
    return skippedCheck(name, 'the key was refused');
  try {
    return passedCheck(name, await found(reader, signal));
  } catch (thrown) {
    return failedCheck(name, errorReport(asSetpointError(thrown)));
  }
}

/** That a new value of a stored secret would not be noticed; nothing if it would, or if that does not show: a plan says why. */
async function secretsCheck(
  prepared: Prepared,
  open: OpenTarget & Pick<Probe, 'outcome'>,
  options: Running<Options>,
): Promise<Check<'secrets'>[]> {
  const { server, desired } = prepared;
  const { outcome } = open;
  if (outcome instanceof SetpointError || server instanceof SetpointError) return [];
  if (!declaresSecrets(desired)) return [];
  const comparing = server.compareSecrets ? open.comparing : { observe: async () => outcome };
  const none = { rotation: [], allowed: [], baseOf: () => null };
  try {
    const { plan } = await observeAndPlan(
      await planInput(prepared, { ...open, comparing }, options, none),
    );
    const found = { dialect: outcome.dialect.name, origin: shownOrigin(prepared) };
    const ways = waysOf({ ...found, unknown: unknownOf(plan), changes: changesOf(plan) });
    if (ways.stored.length === 0) return [];
    const count = unknownOf(plan).filter(({ kind }) => kind === 'stored').length;
    const told = `${counted(count, 'stored secret')} cannot be compared`;
    return [warnedCheck('secrets', told, waysSentences(ways, 'drift').join(' '))];
  } catch {
    return [];
  }
}

function declaresSecrets({ fields, items }: DesiredState): boolean {
  const inItems = [...items.values()].flat().flatMap(({ values = [] }) => values);
  return [...fields, ...inItems].some(({ value }) => secretsIn(value).length > 0);
}

interface OrganizationFound {
  readonly checks: readonly Check<'organization'>[];
  readonly organization: Organization | null;
}

const NOT_ASKED: OrganizationFound = { checks: [], organization: null };

/** Which organisation a file would reach; nothing if it declares only what is its member's, or its service cannot have organisations. */
async function organizationCheck(
  { desired }: Prepared,
  { connection, limits }: OpenTarget,
  { outcome }: Pick<Probe, 'outcome'>,
  signal: AbortSignal | undefined,
): Promise<OrganizationFound> {
  if (outcome instanceof SetpointError || !concernsOrganization(desired)) return NOT_ASKED;
  if (!mayHaveOrganizations(connection, outcome.dialect.name)) return NOT_ASKED;
  try {
    const organization = await organizationBehind(connection, limits, signal);
    return { checks: [checkOf(organization, declaresSharedKey(desired))], organization };
  } catch (thrown) {
    const failed = failedCheck('organization', errorReport(asSetpointError(thrown)));
    return { checks: [failed], organization: null };
  }
}

function checkOf(organization: Organization | null, hasKey: boolean): Check<'organization'> {
  if (organization === null) return passedCheck('organization', 'the service has none');
  const found = organizationText(organization);
  return organization.personal || !hasKey
    ? passedCheck('organization', found)
    : warnedCheck('organization', found, REACHED);
}

const REACHED =
  'An LLM or search key of this file would reach every member; the guard shared_key refuses to write one.';
