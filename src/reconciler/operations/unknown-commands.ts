import { partsWithReferences } from '../desired/blocks.ts';
import type { Node } from '../desired/node.ts';
import { isMalformed, parseTemplate } from '../desired/references.ts';
import { diagnostic } from '../desired/report.ts';
import type { Target } from '../desired/target.ts';
import { secretCommands } from '../host/secret-commands.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Variables } from '../model/ports.ts';
import { didYouMean } from '../model/wording.ts';

/**
 * Warnings of secret commands that SETPOINT_SECRET_COMMANDS does not name here. It may be another one where the file is applied, so that without it
 * nothing is known, and nothing is said. No command is run.
 */
export function unknownCommands(targets: Iterable<Target>, env: Variables): readonly Diagnostic[] {
  const known = [...secretCommands(env).keys()];
  if (known.length === 0) return [];
  const seen = new Set<Node>();
  return [...targets].flatMap((target) =>
    [target.server, ...partsWithReferences(target)].flatMap((part) =>
      commandsUnknownIn(part, known, seen),
    ),
  );
}

function commandsUnknownIn(
  node: Node | undefined,
  known: readonly string[],
  seen: Set<Node>,
): readonly Diagnostic[] {
  if (node === undefined || seen.has(node)) return [];
  seen.add(node);
  if (node.kind === 'list')
    return node.items.flatMap((item) => commandsUnknownIn(item, known, seen));
  if (node.kind === 'map')
    return [...node.members.values()].flatMap((one) => commandsUnknownIn(one.node, known, seen));
  const parts = typeof node.value === 'string' ? parseTemplate(node.value) : [];
  if (isMalformed(parts)) return [];
  const unknown = parts.find(
    (part) => typeof part !== 'string' && part.kind === 'secret' && !known.includes(part.command),
  );
  if (unknown === undefined || typeof unknown === 'string' || unknown.kind !== 'secret') return [];
  const { command } = unknown;
  const finding = {
    severity: 'warning',
    code: 'unknown-command',
    message: `SETPOINT_SECRET_COMMANDS names no command ${command} here.`,
    hint: `${didYouMean(command, known)} If it is named where the file is applied, leave it so.`.trim(),
  } as const;
  return [diagnostic(node.file, node.at, finding)];
}
