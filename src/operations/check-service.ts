import {
  failed,
  passed,
  skipped,
  warned,
  type Check,
  type EnvironmentHealth,
  type TargetCheck,
} from '../model/doctor.ts';
import { asSetpointError, SetpointError } from '../model/error.ts';
import { isUp } from '../model/sandbox.ts';
import { probe, type Probe } from '../service/settings.ts';
import { errorReport } from './error-report.ts';
import { lookAt } from './look-at.ts';
import type { OpenTarget } from './open-target.ts';
import type { Options } from './options.ts';
import type { Prepared } from './prepare.ts';
import { sandboxObserverOf } from './sandbox-observer.ts';

type Found = Pick<EnvironmentHealth, 'dialect' | 'checks'>;

/** What one GET of the settings tells, and, where the file declares sandboxes, whether they can be listed. */
export function checkService(prepared: Prepared, options: Options): Promise<Found> {
  const declares = prepared.desired.sandboxes.length > 0;
  const names: TargetCheck[] = ['key', 'dialect', 'clock', ...(declares ? SANDBOXES : [])];
  const unreached = (first: Check<TargetCheck>): Found => ({
    dialect: null,
    checks: [first, ...names.map((name) => skipped(name, 'the service was not reached'))],
  });
  const { server } = prepared;
  if (server instanceof SetpointError)
    return Promise.resolve(unreached(skipped('reach', whyNotReached(server))));
  return lookAt<Found>(prepared, options, {
    open: async (open) => {
      const found = await probe(open.connection, open.limits, options.signal);
      const { outcome, status } = found;
      if (status === null && outcome instanceof SetpointError)
        return unreached(failed('reach', errorReport(outcome)));
      const sends = open.connection.sendsKey;
      return {
        dialect: outcome instanceof SetpointError ? null : outcome.dialect.name,
        checks: [
          passed(
            'reach',
            `${open.connection.place('GET', '/api/settings')} was answered (status ${status})`,
          ),
          checkKey(found, sends),
          checkDialect(found),
          checkClock(found),
          ...(declares ? [await checkSandboxes(found, open, options.signal)] : []),
        ],
      };
    },
    failed: (error) => unreached(failed('reach', error)),
  });
}

/** Why nothing is sent to a target. */
export function whyNotReached({ code }: SetpointError): string {
  return code === 'reference-missing'
    ? 'the address or its key is not known'
    : 'nothing may be sent there';
}

const SANDBOXES: readonly TargetCheck[] = ['sandboxes'];

function checkKey({ outcome }: Probe, sends: boolean): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError))
    return passed('key', sends ? 'accepted' : 'none was sent, and none is required');
  return outcome.code === 'unauthorized'
    ? failed('key', errorReport(outcome))
    : skipped('key', 'the answer does not tell');
}

function checkDialect({ outcome }: Probe): Check<TargetCheck> {
  if (!(outcome instanceof SetpointError))
    return passed(
      'dialect',
      outcome.dialect.name + (outcome.stored ? '' : '; nothing is stored yet'),
    );
  return outcome.code === 'unauthorized'
    ? skipped('dialect', 'the key was refused')
    : failed('dialect', errorReport(outcome));
}

/** Milliseconds that clocks may differ by. */
const TOLERANCE = 60_000;

function checkClock({ ahead }: Probe): Check<TargetCheck> {
  if (ahead === null)
    return warned(
      'clock',
      'the service does not say its time, so that ages of sandboxes are told by the clock of this machine',
      'Nothing, where the clock of this machine is right; else set it by the network (NTP).',
    );
  const seconds = Math.round(Math.abs(ahead) / 1000);
  const differs = `this machine is ${seconds} s ${ahead > 0 ? 'behind' : 'ahead of'} the service`;
  if (Math.abs(ahead) <= TOLERANCE)
    return passed('clock', seconds === 0 ? 'the same as that of the service' : differs);
  return failed('clock', {
    code: 'bad-response',
    message: `${differs}: certificates and ages of sandboxes are judged by time.`,
    hint: 'Set the clock of this machine by the network (NTP); where it is right, that of the service is wrong.',
  });
}

async function checkSandboxes(
  { outcome }: Probe,
  open: OpenTarget,
  signal: AbortSignal | undefined,
): Promise<Check<TargetCheck>> {
  if (outcome instanceof SetpointError && outcome.code === 'unauthorized')
    return skipped('sandboxes', 'the key was refused');
  try {
    const { sandboxes, at } = await sandboxObserverOf(open).sandboxes(signal);
    const up = sandboxes.filter((sandbox) => isUp(sandbox, at)).length;
    return passed('sandboxes', `can be listed: ${sandboxes.length}, ${up} of them up`);
  } catch (thrown) {
    return failed('sandboxes', errorReport(asSetpointError(thrown)));
  }
}
