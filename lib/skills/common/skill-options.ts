import type { TextCache, TextModel } from '../../chat/text-model.js';

/** Where skills are, and `skills` of the configuration with what it applies to. */
export interface SkillsOptions {
  /** The skills folder; it need not be there. */
  readonly folder: string;
  readonly mode: 'auto' | 'all' | 'matched';
  readonly matcher: 'lexical' | 'llm';
  /** How many skills a message may load. */
  readonly top_k: number;
  /** After how many messages without a match a skill goes. */
  readonly evict_after: number;
  /** The share of the window skills may take. */
  readonly budget_ratio: number;
  /** From how many tokens on a skill is compressed at the compaction threshold. */
  readonly large_tokens: number;
  /** The main model's window in tokens. */
  readonly context_window: number;
  /** The small model, made when it is first needed. Null when there is none: matching is lexical and large skills are cut. */
  readonly model: (() => Promise<TextModel>) | null;
  readonly cache: TextCache;
  /** A file that keeps what is known of the skills from start to start, and makes all but the first start quick. Absent keeps nothing. */
  readonly known_file?: string;
}
