import type { ChatEvent } from '../chat/event.js';
import type { HistoryStore } from '../history/store.js';
import {
  NO_OVERRIDES,
  type SkillLibrary,
  type SkillOverrides,
  type SkillSelection,
} from '../skills/common/skill-library.js';
import type { Target } from './common/deps.js';
import { activeSkills } from './newest-turn.js';
import { overridesAfter, overridesOf } from './skill-overrides.js';

/** The skills of a session: those that were found, and what the user asked of them since the last message. */
export class SkillState {
  readonly #history: HistoryStore;
  readonly #find: (target: Target) => Promise<SkillLibrary>;
  readonly #shownWarnings = new Set<string>();
  #library: { readonly target: Target; readonly skills: Promise<SkillLibrary> } | null = null;
  #overrides = NO_OVERRIDES;

  constructor(history: HistoryStore, find: (target: Target) => Promise<SkillLibrary>) {
    this.#history = history;
    this.#find = find;
  }

  /** The skills as they were found at the start, read for that model. */
  library(target: Target): Promise<SkillLibrary> {
    if (this.#library?.target !== target) this.#library = { target, skills: this.#find(target) };
    return this.#library.skills;
  }

  /** The skills whose text goes with the next request unless it changes them. */
  get active(): readonly string[] {
    return activeSkills(this.#history);
  }

  /** Loads and drops with the next message. */
  override(overrides: SkillOverrides): void {
    this.#overrides = overridesAfter(this.#overrides, overrides);
  }

  /** The text of a skill and why it is in or out. Throws a `HiError` naming the nearest skill. */
  async explain(name: string, target: Target): Promise<string> {
    return await (await this.library(target)).explain(name, this.#history.entries, this.#overrides);
  }

  /** Chooses what goes with a message, and says once of each skill that is left out, or read with a reservation, why. */
  async *choose(text: string, target: Target, signal: AbortSignal): AsyncGenerator<ChatEvent, SkillSelection> {
    const skills = await this.library(target);
    if (skills.asks) yield { type: 'waiting', what: 'choosing skills' };
    const selection = await skills.select(this.#history.entries, text, this.#overrides, signal);
    for (const { path, reason } of skills.warnings) {
      const warning = `skill ${path}: ${reason}`;
      if (!this.#shownWarnings.has(warning)) yield { type: 'notice', level: 'info', text: warning };
      this.#shownWarnings.add(warning);
    }
    return selection;
  }

  /** What was asked for is in the record of a message now. */
  recorded(): void {
    this.#overrides = NO_OVERRIDES;
  }

  /** A turn is about to be taken back. What was loaded and dropped by hand with it holds on: that was not part of what was said. */
  takeBack(turn: number): void {
    this.#overrides = overridesAfter(overridesOf(this.#history, turn), this.#overrides);
  }
}
