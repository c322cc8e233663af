import type { Entry } from '../chat/entry.js';
import type { SkillRecord } from '../chat/message.js';
import type { TextCache, TextModel } from '../chat/request.js';
import type { Config } from '../config/config.js';

/** A skill in one of the skills folders. Its text is read on demand. */
export interface Skill {
  readonly name: string;
  /** What it is for, in one line: the frontmatter's `description`, else the first line of prose. */
  readonly description: string;
  /** The file that holds its text. */
  readonly path: string;
  /** Size of that file in bytes. */
  readonly bytes: number;
}

/** Why a file was left out or only partly understood; the reason names the line. */
export interface SkillWarning {
  readonly path: string;
  readonly reason: string;
}

/** The skills sent with a turn, and how they differ from the previous turn's. */
export interface SkillSelection {
  /** Recorded with the user message. */
  readonly record: SkillRecord;
  readonly loaded: readonly string[];
  readonly dropped: readonly string[];
}

/** Skills the user loaded or dropped since the last message, by `/skill NAME` and `/skill -NAME`. */
export interface SkillOverrides {
  readonly pin: readonly string[];
  readonly drop: readonly string[];
}

export const NO_OVERRIDES: SkillOverrides = { pin: [], drop: [] };

/**
 * How large skills are sent: in full; shortened if the shorter form is already cached, so that no model is asked;
 * or always shortened, asking the model where necessary.
 */
export type SkillForm = 'whole' | 'known' | 'short';

/** What a session uses of this folder. */
export interface SkillLibrary {
  /** Where there are no skills: the folder in which they are looked for, in words; else null. */
  readonly absence: string | null;
  readonly skills: readonly Skill[];
  readonly warnings: readonly SkillWarning[];
  /** Whether `select` may ask a model, which can take seconds. */
  readonly asks: boolean;
  /**
   * Chooses the skills for a new user message from the log alone. Never fails: if the model does, matching is lexical.
   */
  select(
    entries: readonly Entry[],
    text: string,
    overrides: SkillOverrides,
    signal: AbortSignal,
  ): Promise<SkillSelection>;
  /**
   * The system text of these skills, one block each, in an order that changes as little as possible between requests.
   * Each text is shortened at most once. `reader` is the tool that reads files for the model; null when it has none.
   */
  texts(
    active: readonly string[],
    options: { readonly form: SkillForm; readonly reader: string | null },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** One sentence for the user about each skill that `texts` had to cut. */
  readonly cuts: readonly string[];
  /**
   * The full text of a skill, and why it is or will be sent or not. Throws a `HiError` that suggests the nearest name.
   */
  explain(name: string, entries: readonly Entry[], overrides: SkillOverrides): Promise<string>;
}

export const noSkillsIn = (folder: string): string => `No skills found in '${folder}'.`;

/** Where the skills are, and the `skills` section of the configuration with the values it depends on. */
export type SkillsOptions = Config['skills'] & {
  /** The skills folder, which may not exist. */
  readonly folder: string;
  /**
   * The folders of skills that other programs read too, which may not exist. Of one name the first folder's is used.
   */
  readonly shared_folders?: readonly string[];
  /** The skills of the project whose text the user approved; of one name the user's own is used. */
  readonly project?: readonly { readonly path: string; readonly text: string }[];
  /** The main model's window in tokens. */
  readonly context_window: number;
  /**
   * The most tokens of all skills together for all of them to be sent in mode `auto`, if that is less than their share
   * of the window.
   */
  readonly most_sent?: number;
  /**
   * Creates the small model on first use. Null when there is none: then matching is lexical and large skills are cut.
   */
  readonly model: (() => Promise<TextModel>) | null;
  readonly cache: TextCache;
  /** A file that caches what was read from the skills, so that later starts are fast. Absent: nothing is cached. */
  readonly known_file?: string;
};

/**
 * Runs the work with a time limit. Rejects when `signal` aborts or `milliseconds` have passed, even if the work ignores
 * the signal passed to it.
 */
export function within<Value>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
  return new Promise((resolve, reject) => {
    limited.throwIfAborted();
    limited.addEventListener('abort', () => reject(limited.reason), { once: true });
    work(limited).then(resolve, reject);
  });
}
