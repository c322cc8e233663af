import type { TextCache, TextModel } from '../../chat/text-model.js';
import type { Config } from '../../config/config.js';

/** Where skills are, and `skills` of the configuration with what it applies to. */
export type SkillsOptions = Config['skills'] & {
  /** The skills folder; it need not be there. */
  readonly folder: string;
  /** The main model's window in tokens. */
  readonly context_window: number;
  /** The small model, made when it is first needed. Null when there is none: matching is lexical and large skills are cut. */
  readonly model: (() => Promise<TextModel>) | null;
  readonly cache: TextCache;
  /** A file that keeps what is known of the skills from start to start, and makes all but the first start quick. Absent keeps nothing. */
  readonly known_file?: string;
};
