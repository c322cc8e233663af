/** The window of a model whose maker publishes none, in tokens (SPEC §2). */
export const DEFAULT_WINDOW = 128_000;
