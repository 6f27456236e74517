import { fieldNamed, NATIVE_SERVERS } from './field.ts';
import { isMcpList } from './mcp.ts';
import { isWithin, type Path } from './path.ts';
import { holdsSecretText, isSecretText } from './secret-words.ts';
import type { Json } from './value.ts';

/** What is known of a place of the settings besides its type, whichever service has it and however it is spelled. */
export interface Facts {
  /** What is stored there may not be seen. */
  readonly secret: boolean;
  /** What a value there has the service run; null if it runs nothing. */
  readonly runs: Code | null;
  /** How a value there protects its users; null if it does not. */
  readonly safety: Safety | null;
  /** What travels to a value there; null if it is no address. */
  readonly address: Address | null;
  /** Whether the names of what is inside may be shown whatever they look like: somebody has named a variable, a header or a server. */
  readonly names: 'shown' | 'judged';
}

/** What the service runs. */
export interface Code {
  readonly what: string;
  /** Whether without a value the service runs something else in its place. */
  readonly replaced: boolean;
  /** The only value that it runs anything for; absent: any. */
  readonly only?: Json;
  /** The only value that it runs nothing for. */
  readonly except?: Json;
  /** Whether a value is a list of what is not run: it runs what leaves the list. */
  readonly inverse?: true;
}

/** A setting that protects unless it is left empty or is one of some words. */
export interface Safety {
  readonly unless: readonly string[];
  /** What a change does that ends the protection, in words around the name. */
  readonly lowered: (name: string) => string;
}

/** The credentials that are sent to an address. */
export interface Address {
  /** `url`: the value is the address. `model`: the service knows the address of its provider. */
  readonly by: 'url' | 'model';
  /** Groups of credentials: of each group, the first that is stored is sent. */
  readonly sends: readonly (readonly Path[])[];
}

/** A row says something of one place: keys with dots between, `*` for any one. What is inside is in the same case. */
interface Row extends Partial<Facts> {
  readonly at: string;
}

const secret = true;
const names = 'shown';
const image: Code = { what: 'the image of what the service runs', replaced: true };
const program: Code = { what: 'a program', replaced: true };
const tools: Code = { what: 'tools that the agent runs', replaced: true };
const argumentsOf: Code = { what: 'the arguments of a program', replaced: true };
const environment: Code = { what: 'the environment of a program', replaced: false };
const skills: Code = { what: 'skills that the agent runs', replaced: false };
const plugin: Code = { what: 'plugins that the agent runs', replaced: true };
const plugins: Code = { what: 'where plugins and skills come from', replaced: false };
const skillsAgain: Code = { ...skills, what: 'skills that the agent runs again', inverse: true };
const off = (name: string) => `turns ${name} off`;
const clears = (name: string) => `clears ${name}`;
const loosens = (name: string) => `loosens ${name}`;

const MODEL_KEYS = ['agent_settings.llm.api_key', 'agent_settings.llm.extra_headers'];
const AWS_KEYS = [
  'agent_settings.llm.aws_access_key_id',
  'agent_settings.llm.aws_secret_access_key',
  'agent_settings.llm.aws_session_token',
];

/** The table. A place that is not in it has no such fact. */
const ROWS: readonly Row[] = [
  { at: 'search_api_key', secret },
  { at: 'sandbox_api_key', secret },
  { at: 'secrets_store', secret, names },
  { at: 'agent_settings.llm.api_key', secret },
  { at: 'agent_settings.llm.aws_access_key_id', secret },
  { at: 'agent_settings.llm.aws_secret_access_key', secret },
  { at: 'agent_settings.llm.aws_session_token', secret },
  { at: 'agent_settings.llm.extra_headers', secret, names },
  { at: 'agent_settings.verification.critic_api_key', secret },
  { at: 'agent_settings.agent_context.secrets', secret, names },
  { at: 'agent_settings.acp_env', secret, names, runs: environment },
  { at: 'agent_settings.mcp_config', names },
  { at: 'agent_settings.mcp_config.*.env', secret, names },
  { at: 'agent_settings.mcp_config.*.headers', secret, names },
  { at: 'agent_settings.mcp_config.*.api_key', secret },
  { at: 'agent_settings.mcp_config.*.auth.value', secret },
  { at: 'agent_settings.mcp_config.*.auth.password', secret },
  { at: 'agent_settings.mcp_config.*.auth.headers', secret, names },
  { at: 'agent_settings.mcp_config.*.auth.authentication.client_secret', secret },
  { at: 'agent_settings.mcp_config.*.auth.state', secret },

  { at: 'agent_settings.llm.base_url', address: address('url', MODEL_KEYS) },
  { at: 'agent_settings.llm.model', address: address('model', MODEL_KEYS) },
  { at: 'agent_settings.llm.ollama_base_url', address: address('url', MODEL_KEYS) },
  { at: 'agent_settings.llm.aws_bedrock_runtime_endpoint', address: address('url', AWS_KEYS) },
  {
    at: 'agent_settings.verification.critic_server_url',
    // Without a key of its own the critic is sent that of the model.
    address: address('url', [
      ['agent_settings.verification.critic_api_key', 'agent_settings.llm.api_key'],
    ]),
  },

  { at: 'sandbox_base_container_image', runs: image },
  { at: 'sandbox_runtime_container_image', runs: image },
  { at: 'mcp_config.stdio_servers.*', runs: program },
  { at: 'agent_settings.mcp_config.*.command', runs: program },
  { at: 'agent_settings.acp_command', runs: program },
  { at: 'agent_settings.acp_args', runs: argumentsOf },
  { at: 'agent_settings.acp_server', runs: { ...program, only: 'custom' } },
  { at: 'agent_settings.acp_file_secrets', runs: environment },
  { at: 'agent_settings.tools', runs: tools },
  { at: 'agent_settings.agent_context.skills', runs: skills },
  { at: 'agent_settings.agent_context.load_user_skills', runs: { ...skills, only: true } },
  { at: 'agent_settings.agent_context.load_public_skills', runs: { ...skills, only: true } },
  { at: 'agent_settings.agent_context.load_project_skills', runs: { ...skills, only: true } },
  { at: 'agent_settings.agent_context.marketplace_path', runs: { ...plugins, replaced: true } },
  { at: 'agent_settings.agent_context.registered_marketplaces', runs: plugins },
  { at: 'registered_marketplaces', runs: plugins },
  { at: 'agent_settings.agent_context.disabled_skills', runs: skillsAgain },
  { at: 'disabled_skills', runs: skillsAgain },
  { at: 'skills.*.enabled', runs: { ...skills, replaced: true, except: false } },
  { at: 'skills', runs: { ...skills, replaced: true } },
  { at: 'agent_profiles.*.acp_command', runs: program },
  { at: 'agent_profiles.*.acp_args', runs: argumentsOf },
  { at: 'agent_profiles.*.acp_server', runs: { ...program, only: 'custom' } },
  { at: 'agent_profiles.*.tools', runs: tools },
  { at: 'agent_profiles.*.disabled_skills', runs: skillsAgain },
  { at: 'plugins.*.enabled', runs: { ...plugin, except: false } },
  { at: 'plugins', runs: plugin },

  {
    at: 'conversation_settings.confirmation_mode',
    safety: { unless: ['false'], lowered: off },
  },
  {
    at: 'conversation_settings.security_analyzer',
    safety: { unless: ['none'], lowered: clears },
  },
  {
    at: 'conversation_settings.default_runtime',
    safety: { unless: ['local', 'worktree'], lowered: loosens },
  },
  {
    at: 'agent_settings.acp_session_mode',
    // Without a word the server asks for the mode of these names.
    safety: {
      unless: ['bypasspermissions', 'full-access', 'agent-full-access', 'yolo'],
      lowered: loosens,
    },
  },
];

function address(by: Address['by'], groups: readonly (string | readonly string[])[]): Address {
  return { by, sends: groups.map((group) => [group].flat().map((at) => at.split('.'))) };
}

/**
 * The one form of a path that facts are known by: of a field of the specification its native place, if later servers have one; an mcp
 * entry under its identity, whatever list it is in.
 */
export function normalPath(path: Path): Path {
  const [name = '', ...rest] = path;
  if (name === 'mcp_servers') return [...NATIVE_SERVERS, ...rest];
  if (name === 'marketplaces') return ['registered_marketplaces', ...rest];
  const field = fieldNamed(name);
  if (field === undefined) return path;
  if (name !== 'mcp_config') return [...field.place, ...rest];
  return [...NATIVE_SERVERS, ...(isMcpList(rest[0]) ? rest.slice(1) : rest)];
}

interface PlacedRow extends Row {
  readonly path: Path;
}

const PLACED: readonly PlacedRow[] = ROWS.map((row) => ({ ...row, path: row.at.split('.') }));

/** What is known of a place, whichever way its path is spelled. What is inside a place shares what is known of it. */
export function factsAt(path: Path): Facts {
  const normal = normalPath(path);
  const around = PLACED.filter((row) => isAt(path, row) || isAt(normal, row));
  const own = around.filter((row) => row.path.length === normal.length);
  return {
    secret: around.some((row) => row.secret === true),
    runs: around.find((row) => row.runs !== undefined)?.runs ?? null,
    safety: own.find((row) => row.safety !== undefined)?.safety ?? null,
    address: own.find((row) => row.address !== undefined)?.address ?? null,
    names: own.some((row) => row.names === names) ? names : 'judged',
  };
}

/** Whether a path is the place of a row, or inside it. */
function isAt(path: Path, row: PlacedRow): boolean {
  return (
    path.length >= row.path.length &&
    row.path.every((key, index) => key === '*' || key === path[index])
  );
}

/** The places of the table inside a path that is itself none of them. A row about any of several keys names no place. */
export function placesWithin(path: Path): readonly Path[] {
  const whole = normalPath(path);
  return PLACED.map((row) => row.path).filter(
    (place) => place.length > whole.length && isWithin(place, whole) && !place.includes('*'),
  );
}

/** A path as far as it may be shown: free JSON may have a secret for a key. */
export function shownPath(path: Path): Path {
  const hidden = path.findIndex(
    (name, index) =>
      (isSecretText(name) || holdsSecretText(name)) &&
      factsAt(path.slice(0, index)).names === 'judged',
  );
  return hidden < 1 ? path : path.slice(0, hidden);
}
