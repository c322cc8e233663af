import type { Entry, SkillRecord } from '../../chat/message.js';

/** A skill found in the skills folder. Its text is read when it is needed. */
export interface Skill {
  readonly name: string;
  /** What it is for, one line: from the frontmatter, else its first line of prose. */
  readonly description: string;
  /** The file its text is in. */
  readonly path: string;
  /** Size of that file in bytes. */
  readonly bytes: number;
}

/** A skill that was left out or is read with a reservation, and why, naming file and line. */
export interface SkillWarning {
  readonly path: string;
  readonly reason: string;
}

/** What skills are sent with a turn, and what changed against the turn before. */
export interface SkillSelection {
  /** Recorded with the user message. */
  readonly record: SkillRecord;
  readonly loaded: readonly string[];
  readonly dropped: readonly string[];
}

/** What the user asked for by hand since the last message: `/skill NAME` and `/skill -NAME`. */
export interface SkillOverrides {
  readonly pin: readonly string[];
  readonly drop: readonly string[];
}

export const NO_OVERRIDES: SkillOverrides = { pin: [], drop: [] };

/**
 * How large skills are sent: as they are; shortened where their shorter form is there already, which asks nobody;
 * or shortened, by the model where that was not done yet.
 */
export type SkillForm = 'whole' | 'known' | 'short';

/** The door of this room for a session. */
export interface SkillLibrary {
  readonly skills: readonly Skill[];
  readonly warnings: readonly SkillWarning[];
  /** Whether `select` may ask a model, and so take seconds. */
  readonly asks: boolean;
  /** Chooses the skills for a new user message from the log alone. Never fails: a model that cannot be asked is replaced by lexical matching. */
  select(entries: readonly Entry[], text: string, wishes: SkillOverrides, signal: AbortSignal): Promise<SkillSelection>;
  /**
   * The system text of these skills, one block for each, in an order that changes as little as possible between requests.
   * A shorter form is made at most once for one content. `reader` is the tool with which the model reads files; null when it has none.
   */
  texts(
    active: readonly string[],
    options: { readonly form: SkillForm; readonly reader: string | null },
    signal: AbortSignal,
  ): Promise<readonly string[]>;
  /** What the user should know of the skills that `texts` had to cut, one sentence each. */
  readonly cuts: readonly string[];
  /** The whole text of a skill and why it is in or out, or will be, for the user. Throws a `HiError` naming the nearest skill. */
  explain(name: string, entries: readonly Entry[], wishes: SkillOverrides): Promise<string>;
}
