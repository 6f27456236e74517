import {
  AGENT_PROFILES_FORM,
  CONNECTIONS_FORM,
  META_PROFILES_FORM,
  PLUGINS_FORM,
  SKILLS_FORM,
} from '../model/collection-forms.ts';
import type { Blocks } from './blocks.ts';
import {
  isNull,
  itemsIn,
  member,
  textOf,
  type Member,
  type Node,
  type PlacedFinding,
} from './node.ts';

/** What items of a target lack, or have that does not go together. An environment may add what a base leaves out. */
export function incompleteItems(blocks: Blocks): PlacedFinding[] {
  return [
    ...itemsIn(blocks.skills).flatMap((one) => sourceless(one, SKILLS_FORM.block)),
    ...itemsIn(blocks.plugins).flatMap((one) => sourceless(one, PLUGINS_FORM.block)),
    ...itemsIn(blocks.provider_connections).flatMap(keylessConnection),
    ...itemsIn(blocks.meta_profiles).flatMap(incompleteMetaProfile),
    ...itemsIn(blocks.agent_profiles).flatMap(incompleteAgentProfile),
  ];
}

export function nodesListed(node: Node, name: string): readonly Node[] {
  const list = member(node, name);
  return list?.kind === 'list' ? list.items : [];
}

function findingOf(
  { keyFile, keyAt, key }: Member,
  block: string,
  finding: Omit<PlacedFinding['finding'], 'path'>,
): PlacedFinding[] {
  return [{ file: keyFile, at: keyAt, finding: { ...finding, path: [block, key] } }];
}

/** A key may be stored already, so that this is no error; no server makes a new connection without one. */
function keylessConnection(one: Member): PlacedFinding[] {
  const key = member(one.node, 'api_key');
  if (one.node.kind !== 'map' || (key !== undefined && !isNull(key))) return [];
  return findingOf(one, CONNECTIONS_FORM.block, {
    severity: 'warning',
    code: 'missing-key',
    message: 'api_key is missing here: no server makes a new connection without one.',
    hint: 'Add api_key: ${env:API_KEY}. One that the server has keeps its key.',
  });
}

function sourceless(one: Member, block: string): PlacedFinding[] {
  if (one.node.kind !== 'map' || member(one.node, 'source') !== undefined) return [];
  return findingOf(one, block, {
    code: 'missing-key',
    message: 'source is missing here.',
    hint: 'Add source: where the server fetches it from, such as github:example/skills.',
  });
}

function incompleteMetaProfile(one: Member): PlacedFinding[] {
  if (one.node.kind !== 'map') return [];
  const block = META_PROFILES_FORM.block;
  if (member(one.node, 'classifier') === undefined)
    return findingOf(one, block, {
      code: 'missing-key',
      message: 'classifier is missing here.',
      hint: 'Add classifier: the LLM profile that decides, by its name.',
    });
  const prompt = member(one.node, 'prompt_template');
  const hasPrompt = prompt !== undefined && !isNull(prompt);
  const hasClasses = nodesListed(one.node, 'classes').length > 0;
  if (!hasPrompt && !hasClasses)
    return findingOf(one, block, {
      severity: 'warning',
      code: 'missing-key',
      message:
        'This has neither classes nor prompt_template: Agent Servers from 1.58 on refuse it.',
      hint: 'Add classes: which LLM profile takes which tasks.',
    });
  if (!hasPrompt || !hasClasses) return [];
  return findingOf(one, block, {
    code: 'declared-twice',
    message: 'This has both classes and prompt_template, of which a server takes one.',
    hint: 'Keep one of the two.',
  });
}

const OF_BOTH: ReadonlySet<string> = new Set(['agent_kind', 'mcp_servers', 'secrets']);

/** Members of the other kind of agent, and the LLM profile that one of kind openhands needs. */
function incompleteAgentProfile(one: Member): PlacedFinding[] {
  const { key, node } = one;
  if (node.kind !== 'map') return [];
  const block = AGENT_PROFILES_FORM.block;
  const isAcp = textOf(member(node, 'agent_kind')) === 'acp';
  const kind = isAcp ? 'acp' : 'openhands';
  const foreign = [...node.members.values()].filter(
    (inner) => !OF_BOTH.has(inner.key) && inner.key.startsWith('acp_') !== isAcp,
  );
  const findings = foreign.map(({ key: name, keyFile, keyAt }): PlacedFinding => ({
    file: keyFile,
    at: keyAt,
    finding: {
      code: 'unknown-key',
      message: `An agent of kind ${kind} has no ${name}.`,
      hint: `Remove it, or set agent_kind: ${isAcp ? 'openhands' : 'acp'}.`,
      path: [block, key, name],
    },
  }));
  if (isAcp || member(node, 'llm_profile') !== undefined) return findings;
  const missing = findingOf(one, block, {
    code: 'missing-key',
    message: 'llm_profile is missing here.',
    hint: 'Add llm_profile: the LLM profile of the agent, by its name.',
  });
  return [...findings, ...missing];
}
