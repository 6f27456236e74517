import type { Options } from '../../reconciler/operations/options.ts';
import type { Flags } from '../cli/command-table.ts';
import { parseOperationOptions } from '../cli/flags.ts';
import type { Io } from '../cli/io.ts';

/** What the tools of one server work with: fixed when the server is started, so that no call changes it. */
export interface ToolContext {
  readonly io: Io;
  readonly flags: Flags<'mcp'>;
  /** The folder of the journal and of the approvals. */
  readonly data: string;
  /** The client, by the name and version that it gave. */
  readonly client: () => string;
}

/** The flags of the server that every command of a tool has. */
export function sharedFlags({ file, timeout }: Flags<'mcp'>): {
  readonly file?: readonly string[];
  readonly timeout?: string;
} {
  return { ...(file === undefined ? {} : { file }), ...(timeout === undefined ? {} : { timeout }) };
}

/** The options of an operation that a tool runs. */
export function toolOptions({ flags, io }: Pick<ToolContext, 'flags' | 'io'>): Options {
  return parseOperationOptions(sharedFlags(flags), io);
}
