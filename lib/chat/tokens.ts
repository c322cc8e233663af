declare const tokens: unique symbol;

/** A count of tokens, estimated or reported. A number that must not be mixed up with characters or bytes. */
export type Tokens = number & { readonly [tokens]: true };

/** A number that is known to count tokens. */
export function asTokens(count: number): Tokens {
  return count as Tokens;
}

/** What an image or a document counts, whatever its size in bytes (SPEC §3: a flat cost, never its base64). */
export const IMAGE_TOKENS = asTokens(1500);

/** Tokens of a text of that many characters: characters / 4, rounded up (SPEC §3). 4000 characters are 1000 tokens. */
export function estimateTokens(characters: number): Tokens {
  return asTokens(Math.ceil(characters / 4));
}
