import type { DialectName } from '../model/dialect.ts';
import { isList, isRecord, type Value } from '../model/value.ts';
import type { Path } from '../model/path.ts';
import { askFor, readJsonReply, type TimeLimits } from './request.ts';
import type { Connection } from './connect.ts';
import { DIALECTS } from './dialects.ts';
import { ServiceError } from './service-error.ts';
import { createStatusError } from './status-error.ts';

/** A member as a server's own schema lists it; nothing of it is checked but that it has a place. */
export interface ListedMember {
  readonly path: Path;
  readonly type: Value;
  readonly default: Value;
  readonly choices: readonly Value[];
  readonly secret: boolean;
}

/**
 * The members that the schemas of a service list, each once; null if services of the dialect have no schemas. Sends a GET for each. Throws
 * a SetpointError if one is not answered.
 */
export async function listSchemaMembers(
  connection: Connection,
  dialect: DialectName,
  limits: TimeLimits,
  signal?: AbortSignal,
): Promise<readonly ListedMember[] | null> {
  const { schemas } = DIALECTS[dialect];
  if (schemas === undefined) return null;
  const found = new Map<string, ListedMember>();
  for (const [part, path] of Object.entries(schemas)) {
    const { place, reply } = await askFor(connection, limits, signal)(path);
    if (reply.status !== 200) throw createStatusError(connection, place, reply);
    const read = readJsonReply(place, reply);
    if ('error' in read) throw read.error;
    const members = readSectionMembers(part, read.json);
    if (members === null) {
      throw new ServiceError(
        'bad-response',
        `${place} was answered with JSON that is not a settings schema.`,
      );
    }
    for (const member of members) found.set(member.path.join('.'), member);
  }
  return [...found.values()];
}

function readSectionMembers(part: string, body: Value): ListedMember[] | null {
  const sections = isRecord(body) ? body['sections'] : undefined;
  if (!isList(sections)) return null;
  const members: ListedMember[] = [];
  for (const section of sections) {
    const fields = isRecord(section) ? section['fields'] : undefined;
    if (!isList(fields)) return null;
    for (const field of fields) {
      const key = isRecord(field) ? field['key'] : undefined;
      if (!isRecord(field) || typeof key !== 'string') return null;
      const { choices = [] } = field;
      members.push({
        path: [part, ...key.split('.')],
        type: field['value_type'] ?? null,
        default: field['default'] ?? null,
        choices: isList(choices) ? choices.map(valueOfChoice) : [],
        secret: field['secret'] === true,
      });
    }
  }
  return members;
}

function valueOfChoice(choice: Value): Value {
  return isRecord(choice) ? (choice['value'] ?? null) : choice;
}
