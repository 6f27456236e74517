import { withoutStop, formatCount } from '../model/wording.ts';
import { isBlockName } from '../desired/blocks.ts';
import { parseEnvironmentList } from '../desired/key-travel.ts';
import { member } from '../desired/node.ts';
import { referenceReports } from '../desired/lookup.ts';
import {
  createFailedCheck,
  createPassedCheck,
  createSkippedCheck,
  createWarnedCheck,
  type Check,
  type TargetCheck,
} from '../model/doctor.ts';
import type { EnvironmentHealth, ReferenceReport } from '../model/documents.gen.ts';
import { isEmbedded, isLoopbackHost } from '../model/address.ts';
import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import { formatPath } from '../model/path.ts';
import {
  listBlockItems,
  NOT_OBSERVED,
  describeDialectVersion,
  type ServerSettings,
  type ServiceDialect,
  type DesiredState,
  type Organization,
} from '../model/state.ts';
import type { ManagedResource } from '../reconcile/contract.ts';
import { RESOURCES } from '../resources/resources.ts';
import {
  findExactRelease,
  probe,
  type Probe,
  mayHaveOrganizations,
  organizationBehind,
} from '../service/settings.ts';
import { proxyUse, type ProxyVariables } from '../service/network.ts';
import { checkLogins } from './logins.ts';
import { observeTarget, type OpenTarget } from './open-target.ts';
import { proveStoredState, planInput } from './plan-target.ts';
import type { Checking, Options } from './options.ts';
import { formatOrigin, type PreparedTarget } from './prepare.ts';
import { MissingReferenceError } from './leavable.ts';
import { createMaskingSource, type Running } from './redacting.ts';
import { listPlanChanges, listPlanUnknowns } from '../model/plan.ts';
import { collectSecrets } from '../model/value.ts';
import { listComparisonWays, waysSentences } from '../model/uncompared.ts';
import { observeAndPlan } from '../reconcile/observe-and-plan.ts';
import {
  concernsOrganization,
  declaresSharedKey,
  organizationText,
} from '../model/organization.ts';

/** Checks one environment: what can be checked offline first, then what GETs of its settings and of its release show. */
export async function checkEnvironment(
  prepared: PreparedTarget,
  options: Running<Options & Checking>,
): Promise<EnvironmentHealth> {
  const { checks, proofs, ...spoken } = await checkService(prepared, options);
  return {
    name: prepared.target.name,
    origin: formatOrigin(prepared),
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

function referencesCheck(prepared: PreparedTarget, options: Running<Options>): Check<TargetCheck> {
  const { target, server, desired } = prepared;
  const source = createMaskingSource([target.name], options);
  const ofServer = referenceReports(target.server, ['server'], source);
  const ofField = (name: string): ReferenceReport[] =>
    referenceReports(member(target.settings, name), ['settings', name], source);
  const ofItems = (block: string): ReferenceReport[] =>
    isBlockName(block) ? referenceReports(target[block], [block], source) : [];
  const missing = [
    ...(server instanceof SetpointError && server.code === 'reference-missing'
      ? listFailureReasons('server', ofServer, withoutStop(server.message))
      : []),
    ...desired.missing.map(({ path, reason }) => `${formatPath(path)}: ${reason}`),
  ];
  if (missing.length > 0) {
    const refs = [
      ...ofServer.flatMap(({ ref, problem }) => (problem === null ? [] : [ref])),
      ...desired.missing.map(({ ref }) => ref),
    ];
    const error = new MissingReferenceError(missing.join('; '), refs, options);
    return createFailedCheck('references', errorReport(error));
  }
  const all = [
    ...ofServer,
    ...desired.fields.flatMap(({ field }) => ofField(field.name)),
    ...[...desired.items.keys()].flatMap(ofItems),
  ];
  const count = all.filter(({ problem }) => problem === null).length;
  if (count === 0) return createPassedCheck('references', 'there are none');
  return createPassedCheck(
    'references',
    count === 1 ? '1 reference, and it has a value' : `${count} references, and all have a value`,
  );
}

/** Every variable and file that is missing; if none is, what is wrong with a value. */
function listFailureReasons(
  path: string,
  reports: readonly ReferenceReport[],
  otherwise: string,
): string[] {
  const problems = reports.flatMap(({ problem }) => problem ?? []);
  return (problems.length > 0 ? problems : [otherwise]).map((why) => `${path}: ${why}`);
}

/** Checks the permitted destinations of keys: SETPOINT_ALLOWED_ORIGINS and _VARIABLES, which a pipeline must set. */
function policyCheck(
  { server, warnings }: PreparedTarget,
  env: Options['env'],
): Check<TargetCheck> {
  if (server instanceof SetpointError) {
    return server.code === 'reference-missing'
      ? createSkippedCheck('policy', whyNotReached(server))
      : createFailedCheck('policy', errorReport(server));
  }
  const [warning] = warnings;
  if (warning !== undefined)
    return createWarnedCheck(
      'policy',
      warning.message,
      'Leave --server out to use the address of the file.',
    );
  if (isOnThisMachine(server))
    return createPassedCheck('policy', 'loopback address: no allow-list needed');
  const lists = ['SETPOINT_ALLOWED_ORIGINS', 'SETPOINT_ALLOWED_VARIABLES'];
  const set = lists.filter((name) => parseEnvironmentList(env[name]) !== null);
  if (set.length === 0) return createPassedCheck('policy', 'CI is not set: no allow-list needed');
  return createPassedCheck('policy', `allowed by ${set.join(' and ')}`);
}

function proxyCheck(
  { server }: PreparedTarget,
  { url, bypass }: ProxyVariables,
): Check<TargetCheck> {
  if (server instanceof SetpointError) return createSkippedCheck('proxy', whyNotReached(server));
  if (isEmbedded(server.url)) return createPassedCheck('proxy', 'embedded: needs none');
  try {
    const use = proxyUse(new URL(server.url), url, bypass);
    switch (use.kind) {
      case 'none':
        return createPassedCheck('proxy', 'HTTPS_PROXY is not set: reached directly');
      case 'not-https':
        return createPassedCheck(
          'proxy',
          'HTTPS_PROXY and ALL_PROXY are for https to other machines, and HTTP_PROXY is ignored: reached directly',
        );
      case 'bypassed':
        return createPassedCheck('proxy', 'NO_PROXY names the host: reached directly');
      case 'used':
        return createPassedCheck(
          'proxy',
          `HTTPS_PROXY or ALL_PROXY is in effect: reached through ${use.via}`,
        );
    }
  } catch (thrown) {
    return createFailedCheck('proxy', errorReport(asSetpointError(thrown)));
  }
}

function isOnThisMachine({ url }: ServerSettings): boolean {
  return isEmbedded(url) || isLoopbackHost(new URL(url).hostname);
}

type HealthFindings = Pick<
  EnvironmentHealth,
  'dialect' | 'release' | 'checks' | 'proofs' | 'organization'
>;

/** Checks a service: one GET of the settings, its release, and the checks of the declared resources. */
function checkService(
  prepared: PreparedTarget,
  options: Running<Options & Checking>,
): Promise<HealthFindings> {
  const declared = RESOURCES.flatMap(({ block, check }) =>
    check !== undefined && listBlockItems(prepared.desired, block).length > 0 ? [check] : [],
  );
  const names: TargetCheck[] = ['key', 'dialect', 'clock', ...declared.map(({ name }) => name)];
  const unreached = (first: Check<TargetCheck>): HealthFindings => ({
    ...NOT_OBSERVED,
    checks: [
      first,
      ...names.map((name) => createSkippedCheck(name, 'the service was not reached')),
    ],
  });
  const { server } = prepared;
  if (server instanceof SetpointError)
    return Promise.resolve(unreached(createSkippedCheck('reach', whyNotReached(server))));
  return observeTarget<HealthFindings>(prepared, options, {
    open: async (open) => {
      const found = await probe(open.connection, open.limits, options.signal);
      const { outcome, status } = found;
      if (status === null && outcome instanceof SetpointError)
        return unreached(createFailedCheck('reach', errorReport(outcome)));
      const sends = open.connection.sendsKey;
      const spoken = await readDialectVersion(found, open, options.signal);
      const shared = await organizationCheck(prepared, open, found, options.signal);
      return {
        ...spoken,
        ...(shared.organization === null ? {} : { organization: shared.organization }),
        checks: [
          createPassedCheck(
            'reach',
            `${open.connection.place('GET', found.path)} was answered (status ${status})`,
          ),
          keyCheck(found, sends),
          dialectCheck(found, spoken.release),
          ...shared.checks,
          clockCheck(found),
          ...(outcome instanceof SetpointError ? [] : checkLogins(outcome)),
          ...(await secretsCheck(prepared, { ...open, outcome }, options)),
          ...(await Promise.all(
            declared.map((check) => resourceCheck(check, found, open, options.signal)),
          )),
        ],
        ...(options.check === true && !(outcome instanceof SetpointError)
          ? { proofs: await proveStoredState(prepared, { ...open, settings: outcome }, options) }
          : {}),
      };
    },
    failed: (error) => unreached(createFailedCheck('reach', error)),
  });
}

/** Explains why nothing is sent to the service. */
function whyNotReached({ code }: SetpointError): string {
  return code === 'reference-missing'
    ? 'the address or its key is not known'
    : 'nothing may be sent to it';
}

function keyCheck({ outcome }: Probe, sends: boolean): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError))
    return createPassedCheck('key', sends ? 'accepted' : 'none was sent, and none is required');
  return outcome.code === 'unauthorized'
    ? createFailedCheck('key', errorReport(outcome))
    : createSkippedCheck('key', 'the answer does not show it');
}

async function readDialectVersion(
  { outcome }: Probe,
  { connection, limits }: OpenTarget,
  signal: AbortSignal | undefined,
): Promise<ServiceDialect> {
  if (outcome instanceof SetpointError) return NOT_OBSERVED;
  const release = await findExactRelease(connection, outcome, limits, signal);
  return { ...describeDialectVersion(outcome), release };
}

function dialectCheck({ outcome }: Probe, release: string | null): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError)) {
    const named = release === null ? '' : `, release ${release}`;
    const empty = outcome.stored ? '' : '; nothing is stored yet';
    return createPassedCheck('dialect', `${outcome.dialect.name}${named}${empty}`);
  }
  return outcome.code === 'unauthorized'
    ? createSkippedCheck('dialect', 'the key was refused')
    : createFailedCheck('dialect', errorReport(outcome));
}

/** Lists the properties that resources judge by the service's clock. */
function listTimedResources(): string[] {
  return RESOURCES.flatMap(({ check }) => check?.timed ?? []);
}

/** Milliseconds that clocks may differ by. */
const TOLERANCE = 60_000;

function clockCheck({ ahead }: Probe): Check<TargetCheck> {
  if (ahead === null)
    return createWarnedCheck(
      'clock',
      `the service does not report its time; the ${listTimedResources().join(' and ')} are judged by the clock of this machine`,
      'Nothing, if the clock of this machine is right; else set it by the network (NTP).',
    );
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const differs = `this machine is ${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(ahead) <= TOLERANCE)
    return createPassedCheck('clock', seconds === 0 ? 'the same as that of the service' : differs);
  return createFailedCheck('clock', {
    code: 'bad-response',
    message: `${differs}: ${['certificates', ...listTimedResources()].join(' and ')} are judged by time.`,
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
    return createSkippedCheck(name, 'the key was refused');
  try {
    return createPassedCheck(name, await found(reader, signal));
  } catch (thrown) {
    return createFailedCheck(name, errorReport(asSetpointError(thrown)));
  }
}

/**
 * States that a new value of a stored secret would not be noticed; nothing if it would, or if that does not show: a plan has the reason.
 */
async function secretsCheck(
  prepared: PreparedTarget,
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
    const found = { dialect: outcome.dialect.name, origin: formatOrigin(prepared) };
    const ways = listComparisonWays({
      ...found,
      unknown: listPlanUnknowns(plan),
      changes: listPlanChanges(plan),
    });
    if (ways.stored.length === 0) return [];
    const count = listPlanUnknowns(plan).filter(({ kind }) => kind === 'stored').length;
    const problem = `${formatCount(count, 'stored secret')} cannot be compared`;
    return [createWarnedCheck('secrets', problem, waysSentences(ways, 'drift').join(' '))];
  } catch {
    return [];
  }
}

function declaresSecrets({ fields, items }: DesiredState): boolean {
  const inItems = [...items.values()].flat().flatMap(({ values = [] }) => values);
  return [...fields, ...inItems].some(({ value }) => collectSecrets(value).length > 0);
}

interface OrganizationChecks {
  readonly checks: readonly Check<'organization'>[];
  readonly organization: Organization | null;
}

const NOT_ASKED: OrganizationChecks = { checks: [], organization: null };

/** Which organisation a file would reach; nothing if it declares only what is its member's, or its service cannot have organisations. */
async function organizationCheck(
  { desired }: PreparedTarget,
  { connection, limits }: OpenTarget,
  { outcome }: Pick<Probe, 'outcome'>,
  signal: AbortSignal | undefined,
): Promise<OrganizationChecks> {
  if (outcome instanceof SetpointError || !concernsOrganization(desired)) return NOT_ASKED;
  if (!mayHaveOrganizations(connection, outcome.dialect.name)) return NOT_ASKED;
  try {
    const organization = await organizationBehind(connection, limits, signal);
    return { checks: [checkOrganization(organization, declaresSharedKey(desired))], organization };
  } catch (thrown) {
    const failed = createFailedCheck('organization', errorReport(asSetpointError(thrown)));
    return { checks: [failed], organization: null };
  }
}

function checkOrganization(
  organization: Organization | null,
  hasKey: boolean,
): Check<'organization'> {
  if (organization === null) return createPassedCheck('organization', 'the service has none');
  const found = organizationText(organization);
  return organization.personal || !hasKey
    ? createPassedCheck('organization', found)
    : createWarnedCheck('organization', found, REACHED);
}

const REACHED =
  'An LLM or search key of this file would reach every member; the guard shared_key refuses to write one.';
