/** The window of a model whose maker publishes none, in tokens. */
export const DEFAULT_WINDOW = 128_000;
