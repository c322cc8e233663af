import type { SkillsOptions } from '../common/skill-options.js';
import type { FoundSkill } from '../find/describe-skill.js';
import { matchWords } from '../match/match-words.js';
import { askForMatches } from './ask-for-matches.js';

/** Finds the skills that a message is about. */
export interface Matcher {
  /** The names of at most `top_k` of these skills, best first. Never fails: if the model does, matching is lexical. */
  match(skills: readonly FoundSkill[], text: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Whether one of these texts is relevant to the skill: it reaches half the score of a match, or names the skill's folder. */
  isRelevant(skill: FoundSkill, texts: readonly string[]): boolean;
}

/** The configured matcher for all skills. */
export function createMatcher(skills: readonly FoundSkill[], options: SkillsOptions): Matcher {
  const best = async (
    candidates: readonly FoundSkill[],
    text: string,
    signal: AbortSignal,
  ): Promise<readonly string[]> => {
    const names = new Set(candidates.map(({ name }) => name));
    const shared = () => matchWords(skills, text).flatMap(({ name }) => (names.has(name) ? [name] : []));
    if (options.matcher === 'lexical' || options.model === null || text.trim() === '') return shared();
    return askForMatches(candidates, text, options.model, options.cache, signal).catch(shared);
  };

  return {
    match: async (candidates, text, signal) => (await best(candidates, text, signal)).slice(0, options.top_k),
    isRelevant: (skill, texts) =>
      texts.some(
        (text) =>
          (skill.folder !== null && text.includes(skill.folder)) ||
          matchWords(skills, text, 0.5).some(({ name }) => name === skill.name),
      ),
  };
}
