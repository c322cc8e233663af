/** The context window, in tokens, of a model whose maker does not publish one. */
export const DEFAULT_WINDOW = 128_000;
