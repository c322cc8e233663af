/** The levels of thinking, least first. */
export const THINKING_LEVELS = ['off', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** How hard the model should think; each adapter maps it to its vendor's own setting. Null leaves it to the vendor. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** What comes nearest to a level that a model does not take: first what thinks as much or more, but nothing that costs far more. */
const NEXT: Readonly<Record<ThinkingLevel, readonly ThinkingLevel[]>> = {
  off: ['low', 'medium', 'high'],
  low: ['medium', 'high', 'off'],
  medium: ['high', 'low', 'off'],
  high: ['medium', 'xhigh', 'low', 'max', 'off'],
  xhigh: ['high', 'max', 'medium', 'low', 'off'],
  max: ['xhigh', 'high', 'medium', 'low', 'off'],
};

/** The level itself, or the nearest that was not refused; null when none is left. */
export function nextThinking(level: ThinkingLevel, refused: readonly ThinkingLevel[]): ThinkingLevel | null {
  return [level, ...NEXT[level]].find((one) => !refused.includes(one)) ?? null;
}
