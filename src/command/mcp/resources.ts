import type { ListResourcesResult, ReadResourceResult } from '@modelcontextprotocol/sdk/types.js';
import { readPackageFile } from '../../reconciler/host/read-text.ts';
import { maskFileLines } from '../../reconciler/pull/masked-lines.ts';
import { loadTargets } from '../../reconciler/operations/load.ts';
import { usageError } from '../../reconciler/model/error.ts';
import { COMMAND_HELP } from '../cli/command-help.gen.ts';
import type { Flags } from '../cli/command-table.ts';
import type { Io } from '../cli/io.ts';
import { SCHEMAS } from '../cli/words.ts';
import { toolOptions } from './context.ts';

/** The settings files of the server, the published schemas, and the help of each command. */
export function listResources(flags: Flags<'mcp'>, io: Io): ListResourcesResult {
  const files = settingsFiles(flags, io).map(({ path }) => ({
    uri: `setpoint://file/${encodeURIComponent(path)}`,
    name: path,
    description: 'A settings file. Literals that may be secrets are masked.',
    mimeType: 'application/yaml',
  }));
  const schemas = SCHEMAS.map((name) => ({
    uri: `setpoint://schema/${name}`,
    name: `${name}.schema.json`,
    description: 'A published JSON Schema.',
    mimeType: 'application/schema+json',
  }));
  const help = Object.keys(COMMAND_HELP).map((name) => ({
    uri: `setpoint://help/${name}`,
    name: `setpoint ${name}`,
    description: 'The help of a command: flags and exit codes.',
    mimeType: 'text/plain',
  }));
  return { resources: [...files, ...schemas, ...help] };
}

/** Throws usage for an address that is not in the list. */
export function readResource(uri: string, flags: Flags<'mcp'>, io: Io): ReadResourceResult {
  const listed = listResources(flags, io).resources.find((one) => one.uri === uri);
  const [kind = '', name = ''] = uri.replace('setpoint://', '').split('/');
  if (listed === undefined) throw usageError('This server has no resource of that address.');
  const text = readListed(kind, decodeURIComponent(name), flags, io);
  return { contents: [{ uri, mimeType: listed.mimeType, text }] };
}

function readListed(kind: string, name: string, flags: Flags<'mcp'>, io: Io): string {
  if (kind === 'schema') return readPackageFile(`schemas/${name}.schema.json`);
  if (kind === 'help') return COMMAND_HELP[name] ?? '';
  const file = settingsFiles(flags, io).find(({ path }) => path === name);
  return maskFileLines(file?.text ?? '')
    .map(({ shown }) => shown)
    .join('\n');
}

function settingsFiles(flags: Flags<'mcp'>, io: Io): ReturnType<typeof loadTargets>['files'] {
  return loadTargets(toolOptions({ flags, io }, 'reads')).files;
}
