import type { Path } from '../model/path.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isForeignText,
  readObjectName,
} from './foreign.ts';
import { type Findings, Gathering, NOT_TAKEN } from './written.ts';
import {
  findAgent,
  findAgentProfile,
  findProfile,
  findSecrets,
  findSections,
  findSettings,
  isSettingsDocument,
  isSection,
} from './openhands.ts';
import type { Form } from './parse-file.ts';
import { type ReferenceStyle, withReferences } from './foreign-references.ts';
import { findServers, isServers } from './servers.ts';
import { isObject, nameKind, type Objects, readObjectTexts, withObjects } from './kube-objects.ts';
import { asVariables, listEnvironments, findVariables } from './find-variables.ts';

/** An item of a block that a file may be. */
export interface Item {
  readonly block: 'llm_profiles' | 'agent_profiles';
  readonly name: string;
}

/** Finds in a file what a settings file can declare, whatever wrote it. `item` is what it may be by its place. */
export function collectFindings(
  form: Form,
  documents: readonly Foreign[],
  objects: Objects,
  item: Item | null = null,
): Findings {
  const found = new Gathering();
  for (const document of documents.flatMap(listForeignItems)) {
    if (!isForeignRecord(document)) continue;
    if (item?.block === 'llm_profiles' && isForeignText(document['model']))
      findProfile(item.name, referring(document, 'none'), found);
    else if (item?.block === 'agent_profiles')
      findAgentProfile(item.name, referring(document, 'none'), found);
    else findInDocument(form, document, objects, found);
  }
  return found;
}

/** The objects of a list of Kubernetes, or the document itself. */
function listForeignItems(document: Foreign): readonly Foreign[] {
  const { kind, items } = isForeignRecord(document) ? document : {};
  return typeof kind === 'string' && kind.endsWith('List') && isForeignList(items)
    ? items
    : [document];
}

/** The files that the services of a compose file take their variables from, in their order. */
export function environmentFiles(documents: readonly Foreign[]): readonly string[] {
  const named = documents.flatMap((document) => {
    const services = isForeignRecord(document) ? document['services'] : undefined;
    if (!isForeignRecord(services)) return [];
    return Object.values(services).flatMap((service) => {
      const files = isForeignRecord(service) ? (service['env_file'] ?? []) : [];
      return isForeignList(files) ? files : [files];
    });
  });
  const paths = named.map((one) => (isForeignRecord(one) ? one['path'] : one));
  return [...new Set(paths.filter((one) => typeof one === 'string'))];
}

function findInDocument(
  form: Form,
  document: ForeignRecord,
  objects: Objects,
  found: Gathering,
): void {
  if (form === 'variables') {
    findVariables(referring(document, 'dotenv'), [], found);
    return;
  }
  const blocks = serverBlocks(document);
  for (const { at, servers } of blocks) findServers(withReferences(servers, 'editor'), at, found);
  const rest = omitForeignKeys(document, new Set(blocks.flatMap(({ at }) => at.slice(0, 1))));
  const read = referring(rest, 'none');
  if (form === 'toml') findToml(document, read, found);
  else if (isAgent(rest)) findAgent(read, found);
  else if (isSettingsDocument(rest) || 'custom_secrets' in rest || 'provider_tokens' in rest) {
    findSecrets(read, [], found);
    findSettings(read, found);
  } else if (form === 'yaml') findEnvironments(rest, objects, found);
  else found.leaveOthers(rest, ALSO_IN_JSON, [], NOT_TAKEN.other);
}

/** The members of editors' files next to their servers. */
const ALSO_IN_JSON: ReadonlySet<string> = new Set(['inputs', '$schema']);

function findToml(document: ForeignRecord, rest: ForeignRecord, found: Gathering): void {
  const isConfig = Object.keys(document).some((key) => isSection(key) || key === 'mcp');
  if (isConfig) findSections(rest, found);
  else found.leaveOthers(rest, NONE, [], NOT_TAKEN.other);
}

const NONE: ReadonlySet<string> = new Set();

/** Reports whether a file is the agent of OpenHands CLI. */
function isAgent(value: ForeignRecord): boolean {
  return isForeignRecord(value['llm']) && 'model' in value['llm'];
}

interface ServerBlock {
  readonly at: Path;
  readonly servers: Foreign;
}

/** The places where other agents have their mcp servers. */
const PLACES: readonly Path[] = [
  ['mcpServers'],
  ['mcp_servers'],
  ['servers'],
  ['context_servers'],
  ['mcp', 'servers'],
];

function serverBlocks(document: ForeignRecord): readonly ServerBlock[] {
  return PLACES.flatMap((at): ServerBlock[] => {
    const [first = '', second] = at;
    const outer = document[first];
    const servers =
      second === undefined ? outer : isForeignRecord(outer) ? outer[second] : undefined;
    const isNamed = first === 'mcpServers' || first === 'mcp_servers';
    if (servers === undefined || servers === null) return [];
    return isNamed || isServers(servers) ? [{ at, servers }] : [];
  });
}

function omitForeignKeys(document: ForeignRecord, keys: ReadonlySet<string>): ForeignRecord {
  return foreignRecord(Object.entries(document).filter(([key]) => !keys.has(key)));
}

/** Finds variables in a compose file, or in an object of Kubernetes. */
function findEnvironments(document: ForeignRecord, objects: Objects, found: Gathering): void {
  if (isObject(document)) {
    const isUsed = objects.used.has(
      `${nameKind(document)}/${readObjectName(document['metadata'] ?? null)}`,
    );
    // One that no container takes variables of is the environment itself.
    if (!isUsed)
      findVariables(
        referring(asVariables(readObjectTexts(document)), 'kubernetes'),
        ['data'],
        found,
      );
    return;
  }
  const isCompose = 'services' in document;
  if (!isCompose && typeof document['kind'] !== 'string') {
    found.leaveOthers(document, NONE, [], NOT_TAKEN.values);
    return;
  }
  const seen = new Set<string>();
  const missing = (at: Path, kind: string, name: string): void => {
    found.leave([...at, name], `the ${kind} is in no file here: give it with --from, too`);
  };
  const whole = isCompose ? document : withObjects(document, objects, missing);
  for (const { at, variables } of listEnvironments(whole)) {
    if (at[0] !== undefined) seen.add(at[0]);
    findVariables(referring(variables, isCompose ? 'compose' : 'kubernetes'), at, found);
  }
  const extensions = Object.keys(document).filter((key) => key.startsWith('x-'));
  const known = new Set([...seen, ...OF_COMPOSE, ...extensions]);
  found.leaveOthers(document, known, [], NOT_TAKEN.other);
}

/** The top-level members of compose files and manifests that are not settings. */
const OF_COMPOSE = [
  'version',
  'name',
  'networks',
  'volumes',
  'secrets',
  'configs',
  'apiVersion',
  'kind',
  'metadata',
  'type',
  'immutable',
];

function referring(value: ForeignRecord, style: ReferenceStyle): ForeignRecord {
  const read = withReferences(value, style);
  return isForeignRecord(read) ? read : foreignRecord([]);
}
