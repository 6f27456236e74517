import { badNames, missingKeys, unknownKeys } from './bad-keys.ts';
import { badValue } from './bad-value.ts';
import { nodeAt, plainValue, type MapNode } from './node.ts';
import type { PlacedFinding } from './report.ts';
import { validate } from './schema-validator.gen.ts';

/** What the generated validator says of one value. Its messages are not used: they may carry what the file holds. */
interface SchemaError {
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The pointer of a path, as the validator writes it. */
export function pointer(path: readonly string[]): string {
  return path.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The file against the schema: one finding for a value, whatever the number of branches that refuse it. */
export function checkSchema(root: MapNode): PlacedFinding[] {
  const check = validate as unknown as ((data: unknown) => boolean) & {
    errors: SchemaError[] | null;
  };
  if (check(plainValue(root))) return [];
  const byPointer = grouped((check.errors ?? []).filter((error) => !isChoiceOfKeys(error)));
  const outer = new Set([...byPointer.keys()].flatMap(ancestors));
  const findings: PlacedFinding[] = [];
  for (const [at, errors] of byPointer) {
    const path = segments(at);
    const node = nodeAt(root, path);
    if (node === undefined) continue;
    const named = (keyword: string, param: string) =>
      new Set(
        errors
          .filter((error) => error.keyword === keyword)
          .map(({ params }) => String(params[param])),
      );
    const place = { root, path, node };
    findings.push(
      ...unknownKeys(place, named('additionalProperties', 'additionalProperty')),
      ...missingKeys(place, named('required', 'missingProperty')),
      ...badNames(place, named('propertyNames', 'propertyName')),
    );
    const ofKeys = errors.some(({ keyword }) => OF_KEYS.has(keyword));
    // What one branch refuses as a whole, and another for something inside it, was meant for the other.
    if (!ofKeys && !outer.has(at)) findings.push(badValue(place));
  }
  return findings;
}

/** Which keys an item of sandboxes must have, depending on the others: check-sandboxes says it in words. */
function isChoiceOfKeys({ schemaPath }: SchemaError): boolean {
  return schemaPath.includes('/oneOf');
}

const OF_KEYS: ReadonlySet<string> = new Set(['additionalProperties', 'required', 'propertyNames']);

function grouped(errors: readonly SchemaError[]): Map<string, SchemaError[]> {
  const groups = new Map<string, SchemaError[]>();
  for (const error of errors) {
    const group = groups.get(error.instancePath);
    if (group === undefined) groups.set(error.instancePath, [error]);
    else group.push(error);
  }
  return groups;
}

function ancestors(at: string): string[] {
  const found: string[] = [];
  for (let end = at.lastIndexOf('/'); end >= 0; end = at.lastIndexOf('/', end - 1)) {
    found.push(at.slice(0, end));
    if (end === 0) break;
  }
  return found;
}

function segments(at: string): string[] {
  return at
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
