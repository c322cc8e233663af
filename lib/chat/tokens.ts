declare const tokens: unique symbol;

/** A number of tokens, estimated or reported. The type keeps it apart from characters and bytes. */
export type Tokens = number & { readonly [tokens]: true };

/** Marks a number as a number of tokens. */
export function asTokens(count: number): Tokens {
  return count as Tokens;
}

/** What an image or a document counts, whatever its size (a fixed cost, never its base64). */
export const IMAGE_TOKENS = asTokens(1500);

/** The estimate for a text of that many characters: characters / 4, rounded up. 4000 characters are 1000 tokens. */
export function estimateTokens(characters: number): Tokens {
  return asTokens(Math.ceil(characters / 4));
}
