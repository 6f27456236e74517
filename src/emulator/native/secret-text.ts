/** Where a secret is: among those of an agent's context or at the top of a record, where every text is one, or elsewhere. */
export type SecretPlace = 'context' | 'top' | 'elsewhere';

/** What a secret reads as if it is not told. */
export const MASK = '**********';

/** How every token begins that a server has encrypted itself. */
const TOKEN = 'gAAAA';

/**
 * The secret that a sent text stands for; null for none. The mask, an empty text and a token of another server stand for none.
 * Source: contract "llm.api_key: asterisks", "agent_context.secrets: what is no value elsewhere is kept here".
 */
export function keptSecret(
  text: string,
  place: SecretPlace,
  openToken: (text: string) => string | null,
): string | null {
  if (text.startsWith(TOKEN)) return openToken(text) ?? (place === 'elsewhere' ? null : text);
  if (place !== 'elsewhere') return text;
  return text.trim() === '' || text === MASK ? null : text;
}
