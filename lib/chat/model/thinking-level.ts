/** The thinking levels, lowest first. */
export const THINKING_LEVELS = ['off', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** How hard the model should think; each adapter maps it to its vendor's own setting. Null leaves it to the vendor. */
export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** The nearest levels to one that a model does not support: first those that think as much or more, but none that costs far more. */
const NEXT: Readonly<Record<ThinkingLevel, readonly ThinkingLevel[]>> = {
  off: ['low', 'medium', 'high'],
  low: ['medium', 'high', 'off'],
  medium: ['high', 'low', 'off'],
  high: ['medium', 'xhigh', 'low', 'max', 'off'],
  xhigh: ['high', 'max', 'medium', 'low', 'off'],
  max: ['xhigh', 'high', 'medium', 'low', 'off'],
};

/** The level itself, or the nearest that was not refused; null if none is left. */
export function nextThinking(level: ThinkingLevel, refused: readonly ThinkingLevel[]): ThinkingLevel | null {
  return [level, ...NEXT[level]].find((one) => !refused.includes(one)) ?? null;
}
