import type { SetpointError } from '../../model/error.ts';
import type { SettingsWrite } from '../../model/plan.ts';
import { isEmpty, isRecord } from '../../model/value.ts';
import type { Connection } from '../connect.ts';
import { jsonOf, type Reply } from '../json-reply.ts';
import { ServiceError } from '../service-error.ts';
import { statusError } from '../status-error.ts';

/**
 * Why a PATCH was refused. What the server answers may repeat what was sent, so that none of it is shown; of a wrong value it does not say
 * which it is.
 */
export function refusal(
  connection: Connection,
  place: string,
  reply: Reply,
  { fields }: SettingsWrite,
): SetpointError {
  const { status } = reply;
  if (status === 404) {
    const written = [...POINTERS].filter(([name]) => !isEmpty(fields[name]));
    if (written.length === 0) return statusError(connection, place, reply);
    return namesNothing(place, namedBy(place, reply, written));
  }
  if (status === 409) {
    return new ServiceError(
      'settings-refused',
      `${place} was refused: the server cannot read all that it has stored (status 409). Nothing was written.`,
      {
        hint: "Look at the server's OH_SECRET_KEY: its settings.json is encrypted with another key, or is corrupted. Put the former key back, or add it to OH_PREVIOUS_SECRET_KEYS.",
      },
    );
  }
  return new ServiceError(
    'settings-refused',
    `${place} was refused as invalid (status ${status}), and the server does not say which value it refuses. Nothing was written.`,
    { hint: "Look for the reason in the server's logs." },
  );
}

interface Pointer {
  /** What the answer says of one that names nothing begins with this. */
  readonly missing: RegExp;
  readonly what: string;
}

/** Members that name something else on the server. Source: contract "profiles: activate one that is not there", behaviour 5.3. */
const POINTERS: ReadonlyMap<string, Pointer> = new Map([
  ['active_profile', { missing: /^Profile /, what: 'an LLM profile' }],
  ['active_agent_profile_id', { missing: /^Agent profile /, what: 'an agent profile' }],
  ['active_meta_profile', { missing: /^Meta-profile /, what: 'a meta profile' }],
]);

type Written = readonly (readonly [string, Pointer])[];

/** The pointers that an answer is about: the one whose sentence it has; all that were written if it has none of them. */
function namedBy(place: string, reply: Reply, written: Written): Written {
  const read = jsonOf(place, reply);
  const detail = 'json' in read && isRecord(read.json) ? read.json['detail'] : null;
  const about = written.filter(
    ([, { missing }]) => typeof detail === 'string' && missing.test(detail),
  );
  return about.length > 0 ? about : written;
}

function namesNothing(place: string, pointers: Written): ServiceError {
  const said = pointers.map(
    ([name, { what }]) => `${name} names ${what} that the server does not have`,
  );
  const which = pointers.map(([name]) => name).join(' or ');
  return new ServiceError(
    'settings-refused',
    `${place} was refused: ${said.join(', or ')} (status 404). Nothing was written.`,
    { hint: `Create what ${which} names on the server first, or name something that it has.` },
  );
}
