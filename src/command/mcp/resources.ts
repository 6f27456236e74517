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
  return { resources: describeResources(loadSettingsFiles(flags, io)) };
}

function describeResources(loaded: SettingsFiles): ListResourcesResult['resources'] {
  const files = loaded.map(({ path }) => ({
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
  return [...files, ...schemas, ...help];
}

/** Throws usage for an address that is not in the list. */
export function readResource(uri: string, flags: Flags<'mcp'>, io: Io): ReadResourceResult {
  const files = loadSettingsFiles(flags, io);
  const listed = describeResources(files).find((one) => one.uri === uri);
  const [kind = '', name = ''] = uri.replace('setpoint://', '').split('/');
  if (listed === undefined) throw usageError('This server has no resource of that address.');
  const text = readResourceText(kind, decodeURIComponent(name), files);
  return { contents: [{ uri, mimeType: listed.mimeType, text }] };
}

function readResourceText(kind: string, name: string, files: SettingsFiles): string {
  if (kind === 'schema') return readPackageFile(`schemas/${name}.schema.json`);
  if (kind === 'help') return COMMAND_HELP[name] ?? '';
  const file = files.find(({ path }) => path === name);
  return maskFileLines(file?.text ?? '')
    .map(({ shown }) => shown)
    .join('\n');
}

type SettingsFiles = ReturnType<typeof loadTargets>['files'];

function loadSettingsFiles(flags: Flags<'mcp'>, io: Io): SettingsFiles {
  return loadTargets(toolOptions({ flags, io })).files;
}
