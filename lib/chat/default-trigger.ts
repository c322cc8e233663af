/** The share of the window at which a compaction is due by default: `compaction.trigger_ratio`. */
export const DEFAULT_TRIGGER_RATIO = 0.8;
