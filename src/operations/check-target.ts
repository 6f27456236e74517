import { listIn } from '../desired/key-travel.ts';
import { member } from '../desired/node.ts';
import { referenceReports } from '../desired/reference-reports.ts';
import {
  failed,
  passed,
  skipped,
  warned,
  type Check,
  type EnvironmentHealth,
  type TargetCheck,
} from '../model/doctor.ts';
import { asSetpointError, ERRORS, SetpointError } from '../model/error.ts';
import { isLoopback } from '../model/loopback.ts';
import type { ReferenceReport } from '../model/explain.ts';
import { formatPath } from '../model/path.ts';
import type { ServerSettings } from '../model/state.ts';
import { proxyUse } from '../service/network.ts';
import { checkService, whyNotReached } from './check-service.ts';
import { errorReport } from './error-report.ts';
import { originOf } from './look-at.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { proxyVariables } from './proxy-variables.ts';
import { sourceFor, type Running } from './redacting.ts';

/** What is right or wrong with one target: first what can be told without a request, then what one look tells. */
export async function checkTarget(
  prepared: Prepared,
  options: Running<Options>,
): Promise<EnvironmentHealth> {
  const { dialect, checks } = await checkService(prepared, options);
  return {
    name: prepared.target.name,
    origin: originOf(prepared),
    dialect,
    checks: [
      checkReferences(prepared, options),
      checkPolicy(prepared, options.env),
      checkProxy(prepared, options.env),
      ...checks,
    ],
  };
}

function checkReferences(prepared: Prepared, options: Running<Options>): Check<TargetCheck> {
  const { target, server, desired } = prepared;
  const source = sourceFor([target.name], options);
  const ofServer = referenceReports(target.server, ['server'], source);
  const ofField = (name: string): ReferenceReport[] =>
    referenceReports(member(target.settings, name), ['settings', name], source);
  const missing = [
    ...(server instanceof SetpointError && server.code === 'reference-missing'
      ? reasons('server', ofServer, server.message.replace(/\.$/, ''))
      : []),
    ...desired.missing.map(({ path, reason }) => `${formatPath(path)}: ${reason}`),
  ];
  if (missing.length > 0) {
    const { hint } = ERRORS['reference-missing'];
    return failed('references', { code: 'reference-missing', message: missing.join('; '), hint });
  }
  const all = [...ofServer, ...desired.fields.flatMap(({ field }) => ofField(field.name))];
  const count = all.filter(({ problem }) => problem === null).length;
  if (count === 0) return passed('references', 'there are none');
  return passed(
    'references',
    count === 1 ? '1 reference, and it has a value' : `${count} references, and all have a value`,
  );
}

/** Every variable and file that is missing; where they are all there, what is wrong with a value. */
function reasons(where: string, reports: readonly ReferenceReport[], otherwise: string): string[] {
  const problems = reports.flatMap(({ problem }) => problem ?? []);
  return (problems.length > 0 ? problems : [otherwise]).map((why) => `${where}: ${why}`);
}

/** Where keys may travel: the lists of the environment, which a pipeline must have. */
function checkPolicy({ server, warnings }: Prepared, env: Options['env']): Check<TargetCheck> {
  if (server instanceof SetpointError) {
    return server.code === 'reference-missing'
      ? skipped('policy', whyNotReached(server))
      : failed('policy', errorReport(server));
  }
  const [warning] = warnings;
  if (warning !== undefined)
    return warned(
      'policy',
      warning.message,
      'Leave --server and SETPOINT_SERVER out to use the address of the file.',
    );
  if (isLocal(server)) return passed('policy', 'loopback address: no allow-list needed');
  const lists = ['SETPOINT_ALLOWED_ORIGINS', 'SETPOINT_ALLOWED_VARIABLES'];
  const set = lists.filter((name) => listIn(env[name]) !== null);
  if (set.length === 0) return passed('policy', 'not a pipeline: no list is needed');
  return passed('policy', `allowed by ${set.join(' and ')}`);
}

function checkProxy({ server }: Prepared, env: Options['env']): Check<TargetCheck> {
  if (server instanceof SetpointError) return skipped('proxy', whyNotReached(server));
  if (server.url.startsWith('embedded:')) return passed('proxy', 'embedded: needs none');
  try {
    const { url, bypass } = proxyVariables(env);
    const use = proxyUse(new URL(server.url), url, bypass);
    switch (use.kind) {
      case 'none':
        return passed('proxy', 'HTTPS_PROXY is not set: reached directly');
      case 'not-https':
        return passed('proxy', 'HTTPS_PROXY is for https to other machines: reached directly');
      case 'bypassed':
        return passed('proxy', 'NO_PROXY names the host: reached directly');
      case 'used':
        return passed('proxy', `HTTPS_PROXY is in effect: reached through ${use.via}`);
    }
  } catch (thrown) {
    return failed('proxy', errorReport(asSetpointError(thrown)));
  }
}

function isLocal({ url }: ServerSettings): boolean {
  return url.startsWith('embedded:') || isLoopback(new URL(url).hostname);
}
