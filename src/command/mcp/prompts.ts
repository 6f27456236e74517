import type { GetPromptResult, ListPromptsResult } from '@modelcontextprotocol/sdk/types.js';
import { usageError } from '../../reconciler/model/error.ts';

interface Prompt {
  readonly description: string;
  readonly argument?: { readonly name: string; readonly description: string };
  readonly text: (argument: string) => string;
}

const PROMPTS: Readonly<Record<string, Prompt>> = {
  adopt_server: {
    description: 'Bring a server that nobody keeps in git under a settings file',
    text: () =>
      `Use get with what: "settings,profiles" to see what the server has, and validate to see whether a settings file exists.
If there is none, ask the person to run setpoint init --server URL: it writes the first file.
Then run plan. It must show no changes. List what the file does not manage, and ask which of it to add with propose_change.`,
  },
  explain_drift: {
    description: 'Find out what was changed on a server behind the file, and what to do',
    argument: { name: 'environment', description: 'the environment' },
    text: (environment) =>
      `Run drift with environments: ${JSON.stringify([environment])}. For each difference run history with its path, and explain.
Say for each: what the file declares, what the server has, who may have changed it, and the two ways out: bring it into the file with propose_change, or put it back with an approved apply. Do not choose for the person.`,
  },
  rotate_key: {
    description: 'Rotate a key that the settings reference',
    argument: { name: 'path', description: 'the path of the secret, such as llm_api_key' },
    text: (path) =>
      `Run explain with path: ${JSON.stringify(path)} to find the reference. The value never passes through you: ask the person to store the new key where the reference reads it.
Then run plan with rotate: ${JSON.stringify([path])} and save_as, and ask the person to run setpoint approve on that plan. Call apply with the name of the approval.`,
  },
};

export function listPrompts(): ListPromptsResult {
  return {
    prompts: Object.entries(PROMPTS).map(([name, { description, argument }]) => ({
      name,
      description,
      ...(argument === undefined ? {} : { arguments: [{ ...argument, required: true }] }),
    })),
  };
}

/** Throws usage for a name or an argument that is not there. */
export function getPrompt(name: string, values: Readonly<Record<string, string>>): GetPromptResult {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt === undefined) throw usageError('This server has no prompt of that name.');
  const { argument, description, text } = prompt;
  const value = argument === undefined ? '' : values[argument.name];
  if (value === undefined) throw usageError(`The prompt needs its argument ${argument?.name}.`);
  return {
    description,
    messages: [{ role: 'user', content: { type: 'text', text: text(value) } }],
  };
}
