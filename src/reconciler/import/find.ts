import type { Path } from '../model/path.ts';
import {
  type Foreign,
  type ForeignRecord,
  foreignRecord,
  isForeignList,
  isForeignRecord,
  isText,
} from './foreign.ts';
import { type Findings, Gathering, NOT_TAKEN } from './written.ts';
import {
  findAgent,
  findProfile,
  findSecrets,
  findSections,
  findSettings,
  isSettings,
  isSection,
} from './openhands.ts';
import type { Form } from './parse.ts';
import { type ReferenceStyle, withReferences } from './references.ts';
import { findServers, isServers } from './servers.ts';
import { environmentsIn, findVariables } from './variables.ts';

/** Finds in a file what a settings file can declare, whatever wrote it. `profile` is the name of the LLM profile that it may be. */
export function findIn(
  form: Form,
  documents: readonly Foreign[],
  profile: string | null = null,
): Findings {
  const found = new Gathering();
  for (const document of documents) {
    if (!isForeignRecord(document)) continue;
    if (profile !== null && isText(document['model'])) findProfile(profile, document, found);
    else findInDocument(form, document, found);
  }
  return found;
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

function findInDocument(form: Form, document: ForeignRecord, found: Gathering): void {
  if (form === 'variables') {
    findVariables(referring(document, 'dotenv', [], found), [], found);
    return;
  }
  const blocks = serverBlocks(document);
  for (const { at, servers } of blocks) findServers(withoutEditors(servers, at, found), at, found);
  const rest = withoutKeys(document, new Set(blocks.flatMap(({ at }) => at.slice(0, 1))));
  if (form === 'toml') findToml(document, rest, found);
  else if (isAgent(rest)) findAgent(rest, found);
  else if (isSettings(rest) || 'custom_secrets' in rest || 'provider_tokens' in rest) {
    findSecrets(rest, [], found);
    findSettings(rest, found);
  } else if (form === 'yaml') findEnvironments(rest, found);
  else found.leaveOthers(rest, ALSO_IN_JSON, [], NOT_TAKEN.other);
}

/** The servers with their references, without those that name what only an editor knows. */
function withoutEditors(servers: Foreign, at: Path, found: Gathering): Foreign {
  const read = (one: Foreign, key: string): readonly Foreign[] => {
    let isKnown = true;
    const value = withReferences(one, 'editor', () => {
      isKnown = false;
    });
    if (!isKnown) found.leave([...at, key], NOT_TAKEN.editor);
    return isKnown ? [value] : [];
  };
  if (isForeignList(servers)) return servers.flatMap((one, index) => read(one, String(index)));
  if (!isForeignRecord(servers)) return servers;
  return foreignRecord(
    Object.entries(servers).flatMap(([name, one]) =>
      read(one, name).map((value) => [name, value] as const),
    ),
  );
}

/** What files of editors have beside their servers. */
const ALSO_IN_JSON: ReadonlySet<string> = new Set(['inputs', '$schema']);

function findToml(document: ForeignRecord, rest: ForeignRecord, found: Gathering): void {
  const isConfig = Object.keys(document).some((key) => isSection(key) || key === 'mcp');
  if (isConfig) findSections(rest, found);
  else found.leaveOthers(rest, NONE, [], NOT_TAKEN.other);
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a file is the agent of OpenHands CLI. */
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
  ['mcp'],
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

function withoutKeys(document: ForeignRecord, keys: ReadonlySet<string>): ForeignRecord {
  return foreignRecord(Object.entries(document).filter(([key]) => !keys.has(key)));
}

function findEnvironments(document: ForeignRecord, found: Gathering): void {
  const style: ReferenceStyle = 'services' in document ? 'compose' : 'kubernetes';
  const seen = new Set<string>();
  for (const { at, variables } of environmentsIn(document)) {
    if (at[0] !== undefined) seen.add(at[0]);
    findVariables(referring(variables, style, at, found), at, found);
  }
  const extensions = Object.keys(document).filter((key) => key.startsWith('x-'));
  const known = new Set([...seen, ...OF_COMPOSE, ...extensions]);
  found.leaveOthers(document, known, [], NOT_TAKEN.other);
}

/** What compose files and manifests have at their top that is no setting of anything. */
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
];

function referring(
  value: ForeignRecord,
  style: ReferenceStyle,
  at: Path,
  found: Gathering,
): ForeignRecord {
  const read = withReferences(value, style, (inner) => {
    found.leave([...at, ...inner], NOT_TAKEN.editor);
  });
  return isForeignRecord(read) ? read : foreignRecord([]);
}
