import type { TextCache, TextModel } from '../../chat/request.js';
import type { Config } from '../../config/config.js';

/** Where the skills are, and the `skills` section of the configuration with the values it depends on. */
export type SkillsOptions = Config['skills'] & {
  /** The skills folder, which may not exist. */
  readonly folder: string;
  /** The main model's window in tokens. */
  readonly context_window: number;
  /** The most tokens of all skills together for all of them to be sent in mode `auto`, if that is less than their share of the window. */
  readonly most_sent?: number;
  /** Creates the small model on first use. Null when there is none: then matching is lexical and large skills are cut. */
  readonly model: (() => Promise<TextModel>) | null;
  readonly cache: TextCache;
  /** A file that caches what was read from the skills, so that later starts are fast. Absent: nothing is cached. */
  readonly known_file?: string;
};
