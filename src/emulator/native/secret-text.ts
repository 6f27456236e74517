/** Where a secret is: among those of an agent's context, where every text is one, or elsewhere. */
export type SecretPlace = 'context' | 'elsewhere';

/** What a secret reads as if it is not told. */
export const MASK = '**********';

/** How every token begins that a server has encrypted itself. */
const TOKEN = 'gAAAA';

/**
 * The secret that a sent text stands for; null for none. The mask, an empty text and a token of another server stand for none.
 * Source: contract "llm.api_key: \"**********\" after a value", "agent_context.secrets: what is no value elsewhere is kept here".
 */
export function keptSecret(
  text: string,
  place: SecretPlace,
  openToken: (text: string) => string | null,
): string | null {
  if (text.startsWith(TOKEN)) return openToken(text) ?? (place === 'context' ? text : null);
  if (place === 'context') return text;
  return text.trim() === '' || text === MASK ? null : text;
}
