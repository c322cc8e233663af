/** How hard a model can be told to think, least first. */
export const THINKING_LEVELS = ['off', 'low', 'medium', 'high'] as const;

/** How hard the model should think; each adapter maps it to its vendor's own setting. Null leaves it to the vendor. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];
