import { passedCheck, warnedCheck, type Check } from '../model/doctor.ts';
import { failedCheck } from '../model/doctor.ts';
import { asSetpointError, errorReport, SetpointError } from '../model/error.ts';
import type { Organization } from '../model/organization.ts';
import { organizationText } from '../model/organization.ts';
import { concernsOrganization, declaresSharedKey } from '../plan/shared-keys.ts';
import { mayHaveOrganizations, organizationBehind, type Probe } from '../service/settings.ts';
import type { OpenTarget } from './open-target.ts';
import type { Prepared } from './prepare.ts';

interface OrganizationFound {
  readonly checks: readonly Check<'organization'>[];
  readonly organization: Organization | null;
}

const NOT_ASKED: OrganizationFound = { checks: [], organization: null };

/** Which organisation a file would reach; nothing if it declares only what is its member's, or its service cannot have organisations. */
export async function organizationCheck(
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
