import { endQuickly } from '../../reconciler/host/quick-end.ts';
import { findTracer } from '../../reconciler/host/tracer.ts';
import { commandEntry, type CommandName, type Flags } from './command-table.ts';
import type { Io } from './io.ts';

/** A command's work; resolves to its exit code. */
type RunCommand<Name extends CommandName> = (
  flags: Flags<Name>,
  io: Io,
  ...args: readonly string[]
) => Promise<number>;

/** Each command's function, loaded when it runs. */
const RUN: { readonly [Name in CommandName]: () => Promise<RunCommand<Name>> } = {
  validate: async () => (await import('./commands/validate.ts')).validateCommand,
  plan: async () => (await import('./commands/plan.ts')).planCommand,
  apply: async () => (await import('./commands/apply.ts')).applyCommand,
  drift: async () => (await import('./commands/drift.ts')).driftCommand,
  pull: async () => (await import('./commands/pull.ts')).pullCommand,
  init: async () => (await import('./commands/init.ts')).initCommand,
  get: async () => (await import('./commands/get.ts')).getCommand,
  explain: async () => (await import('./commands/explain.ts')).explainCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  smoke: async () => (await import('./commands/smoke.ts')).smokeCommand,
  report: async () => (await import('./commands/report.ts')).reportCommand,
  comment: async () => (await import('./commands/comment.ts')).commentCommand,
  watch: async () => (await import('./commands/watch.ts')).watchCommand,
  history: async () => (await import('./commands/history.ts')).historyCommand,
  suspend: async () => (await import('./commands/suspend.ts')).suspendCommand,
  resume: async () => (await import('./commands/suspend.ts')).resumeCommand,
  serve: async () => (await import('./commands/serve.ts')).serveCommand,
  schema: async () => (await import('./commands/schema.ts')).schemaCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
  version: async () => (await import('./commands/version.ts')).versionCommand,
};

/** Runs a command with flags and arguments that are its own; resolves to its exit code. */
export async function startCommand(
  name: CommandName,
  flags: never,
  args: readonly string[],
  io: Io,
): Promise<number> {
  const run: (flags: never, io: Io, ...args: readonly string[]) => Promise<number> =
    await RUN[name]();
  // A command that sends requests has a time limit for them. V8 refuses the compiled form of what is loaded after this.
  if (!commandEntry(name).flags.includes('--timeout')) return run(flags, io, ...args);
  endQuickly();
  const tracer = await findTracer();
  try {
    const work = (): Promise<number> => run(flags, io, ...args);
    return await tracer.command(name, io.env, work, (code) => code);
  } finally {
    await tracer.flush(io.abandon);
  }
}
