import type { DesiredSandboxes } from '../model/sandbox.ts';
import { member, textOf, type Node } from './node.ts';
import { locate } from './source-file.ts';
import type { Target } from './target.ts';

/** The sandboxes a target declares, in the order of the file. No reference is looked up in them. */
export function desiredSandboxes({ sandboxes }: Target): DesiredSandboxes[] {
  return sandboxes?.kind === 'list' ? sandboxes.items.map(itemOf) : [];
}

function itemOf(node: Node): DesiredSandboxes {
  const source = locate(node.file, node.at);
  const whenBusy = textOf(member(node, 'when_busy')) === 'pause' ? 'pause' : 'skip';
  const id = textOf(member(node, 'id'));
  if (id !== undefined) {
    const state = textOf(member(node, 'state')) === 'paused' ? 'paused' : 'running';
    return { kind: 'named', id, state, whenBusy, source };
  }
  const running = member(node, 'running');
  return {
    kind: 'counted',
    spec: textOf(member(node, 'spec')) ?? null,
    running: running?.kind === 'scalar' ? Number(running.value) : 0,
    surplus: textOf(member(node, 'surplus')) === 'pause' ? 'pause' : 'keep',
    whenBusy,
    source,
  };
}
