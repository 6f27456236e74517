import type { FieldName } from './field.ts';
import { itemsDeclared } from './collection.ts';
import { LLM_PROFILES_FORM } from './collection-forms.ts';
import { samePath, type Path } from './path.ts';
import type { DesiredState, Organization } from './state.ts';
import { formatCount } from './wording.ts';

/**
 * Settings that belong to the organisation there: a save of a member's settings is answered as done, and does not store them. Source:
 * behaviour 7.
 */
export const OF_ORGANIZATION: ReadonlySet<string> = new Set<
  FieldName | 'sandbox_grouping_strategy'
>([
  'remote_runtime_resource_factor',
  'sandbox_base_container_image',
  'sandbox_runtime_container_image',
  'sandbox_grouping_strategy',
  'max_budget_per_task',
  'enable_proactive_conversation_starters',
]);

/** Returns the fields of a file that belong to the organisation: declared for one member they would not be stored. Null is left out. */
export function fieldsOfOrganization({ fields }: DesiredState): DesiredState['fields'] {
  return fields.filter(({ field, value }) => OF_ORGANIZATION.has(field.name) && value !== null);
}

/** `the organisation Platform (12 members)`, `a personal workspace`. */
export function organizationName(organization: Organization): string {
  const { personal, name, id } = organization;
  if (personal) return 'a personal workspace';
  return `the organisation${name === null && id === null ? '' : ` ${formatOrganizationSize(organization)}`}`;
}

function formatOrganizationSize({ name, id, members }: Organization): string {
  return `${name ?? id ?? 'not reported'}${members === null ? '' : ` (${formatCount(members, 'member')})`}`;
}

/** Which organisation, whose key, which role: one line. */
export function organizationText(organization: Organization): string {
  const { personal, role, key } = organization;
  const where = personal ? 'a personal workspace' : formatOrganizationSize(organization);
  const name = key.name === null ? 'key' : `key ${JSON.stringify(key.name)}`;
  const owner = key.user === null ? ', owner not reported' : ` of user ${key.user}`;
  const bound = key.bound === false ? ', which follows where its owner switches to' : '';
  return `${where}; ${name}${owner}${bound}; role ${role ?? 'not reported'}`;
}

/** Keys that every member of an organisation has in common. */
export const LLM_KEY: Path = ['agent_settings', 'llm', 'api_key'];
export const SEARCH_KEY: Path = ['search_api_key'];

/** Reports whether a file declares more than its member's own settings where organisations exist: then its service is asked for them. */
export function concernsOrganization(desired: DesiredState): boolean {
  return declaresSharedKey(desired) || fieldsOfOrganization(desired).length > 0;
}

/** Reports whether a file declares a key that every member of an organisation would get. */
export function declaresSharedKey(desired: DesiredState): boolean {
  return (
    desired.fields.some(({ field }) => isShared(field.place)) ||
    itemsDeclared(desired, LLM_PROFILES_FORM).some(
      ({ members }) => members?.['api_key'] !== undefined,
    )
  );
}

function isShared(place: Path): boolean {
  return samePath(place, LLM_KEY) || samePath(place, SEARCH_KEY);
}
