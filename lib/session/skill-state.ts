import { isMessage } from '../chat/entry.js';
import type { ChatEvent } from '../chat/event.js';
import type { HistoryStore } from '../history/store.js';
import { NO_OVERRIDES, type SkillLibrary, type SkillOverrides, type SkillSelection } from '../skills/skill.js';
import type { SessionSkills, Target } from './common/deps.js';
import { activeSkills } from './past-turns.js';

/** The skills of a session: those found, and those the user loaded or dropped since the last message. */
export class SkillState {
  readonly #history: HistoryStore;
  readonly #skills: SessionSkills;
  readonly #target: () => Target;
  readonly #shownWarnings = new Set<string>();
  #library: {
    readonly target: Target;
    readonly approved: readonly unknown[] | null;
    readonly skills: Promise<SkillLibrary>;
  } | null = null;
  #overrides = NO_OVERRIDES;

  constructor(history: HistoryStore, skills: SessionSkills, target: () => Target) {
    this.#history = history;
    this.#skills = skills;
    this.#target = target;
  }

  /** The skills found at the start, with those of the project that were approved since, read for the current model. */
  library(): Promise<SkillLibrary> {
    const [target, approved] = [this.#target(), this.#skills.approved?.() ?? null];
    if (this.#library?.target !== target || this.#library.approved !== approved)
      this.#library = { target, approved, skills: this.#skills.find(target) };
    return this.#library.skills;
  }

  /** The skills whose text is sent with the next request, unless its message changes them. */
  get active(): readonly string[] {
    return activeSkills(this.#history);
  }

  /** Loads a skill with the next message and keeps it. */
  pin(name: string): void {
    this.#override({ pin: [name], drop: [] });
  }

  /** Drops a skill with the next message. */
  drop(name: string): void {
    this.#override({ pin: [], drop: [name] });
  }

  /** The text of a skill, and why it is or is not sent. Throws a `HiError` that names the nearest skill. */
  async explain(name: string): Promise<string> {
    return await (await this.library()).explain(name, this.#history.entries, this.#overrides);
  }

  /** Chooses the skills for a message. Reports once, for each skill with a problem, what the problem is. */
  async *choose(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent, SkillSelection> {
    const skills = await this.library();
    if (skills.asks) yield { type: 'waiting', what: 'choosing skills' };
    const selection = await skills.select(this.#history.entries, text, this.#overrides, signal);
    for (const { path, reason } of skills.warnings) {
      const warning = `skill ${path}: ${reason}`;
      if (!this.#shownWarnings.has(warning)) yield { type: 'notice', level: 'info', text: warning };
      this.#shownWarnings.add(warning);
    }
    return selection;
  }

  /** The overrides are now recorded with a message. */
  recorded(): void {
    this.#overrides = NO_OVERRIDES;
  }

  /**
   * A turn is about to be undone. Skills loaded and dropped by hand with it stay so, because that was not part of the
   * message.
   */
  takeBack(turn: number): void {
    this.#overrides = overridesAfter(overridesOf(this.#history, turn), this.#overrides);
  }

  #override(overrides: SkillOverrides): void {
    this.#overrides = overridesAfter(this.#overrides, overrides);
  }
}

/** Merges overrides: the newest for a skill counts. */
function overridesAfter(earlier: SkillOverrides, later: SkillOverrides): SkillOverrides {
  const stands = (name: string): boolean => !later.pin.includes(name) && !later.drop.includes(name);
  return {
    pin: [...earlier.pin.filter(stands), ...later.pin],
    drop: [...earlier.drop.filter(stands), ...later.drop],
  };
}

/** The skills loaded and dropped by hand with the first message of a turn. */
function overridesOf(history: HistoryStore, turn: number): SkillOverrides {
  const found = history.entries.findLast(({ id }) => id === turn);
  const { pinned = [], dropped = [] } = (found && isMessage(found) && found.skills) || {};
  return { pin: pinned, drop: dropped };
}
