import { lastSkillMessage } from '../chat/skill-record.js';
import { estimateTokens } from '../chat/tokens.js';
import { pick } from '../registry.js';
import { noSkillsIn, type SkillLibrary, type SkillWarning } from './common/skill-library.js';
import type { SkillsOptions } from './common/skill-options.js';
import type { FoundSkill } from './find/describe-skill.js';
import { type Bodies, createBodies } from './find/skill-bodies.js';
import { overrideFor, reasonFor } from './select/explain.js';
import { createMatcher } from './select/matcher.js';
import { type SelectionContext, selectSkills } from './select/select.js';
import { type Active, createShortener, skillBlockOf } from './shorten/skill-blocks.js';

/** The skills of one folder, and what a conversation does with them. */
export function createLibrary(
  skills: readonly FoundSkill[],
  found: readonly SkillWarning[],
  options: SkillsOptions,
): SkillLibrary {
  const warnings = [...found];
  const absence = skills.length > 0 ? null : noSkillsIn(options.folder);
  const bodies = createBodies((warning) => warnings.push(warning));
  const shortener = createShortener(options.model, options.cache);
  // The window may be learnt after the start.
  const budget = (): number => Math.floor(options.budget_ratio * options.context_window);
  const context: SelectionContext = {
    skills,
    get budget() {
      return budget();
    },
    evict_after: options.evict_after,
    matcher: createMatcher(skills, options),
    tokens: bodies.tokens,
    isReadable: async (skill) => (await bodies.text(skill)) !== null,
    sendsAll: async () => options.mode === 'all' || (options.mode === 'auto' && (await bodies.fit(skills, budget()))),
  };

  return {
    absence,
    skills: skills.map(({ name, description, path, bytes }) => ({ name, description, path, bytes })),
    warnings,
    asks: options.matcher === 'llm' && options.model !== null && skills.length > 0,

    select(entries, text, overrides, signal) {
      shortener.retry();
      return selectSkills(context, entries, text, overrides, signal);
    },

    async texts(active, { form, reader }, signal) {
      const wanted = active.map((name) => skills.find((skill) => skill.name === name));
      const read = await Promise.all(wanted.map((skill) => (skill ? withBody(skill, bodies) : null)));
      const there = read.filter((each) => each !== null);
      if (form === 'whole') return there.map(skillBlockOf);
      const shorten = (each: Active) => {
        if (tokensOf(each) <= options.large_tokens) return each;
        const short = { most: Math.max(budget(), options.large_tokens), reader };
        return form === 'known' ? shortener.known(each, short) : shortener.shorten(each, short, signal);
      };
      return (await byFours(there, shorten)).map(skillBlockOf);
    },

    get cuts() {
      return shortener.cuts;
    },

    async explain(name, entries, overrides) {
      const skill = pick(skills, name, 'skill', 'usage', absence);
      const body = await bodies.text(skill);
      const record = lastSkillMessage(entries)?.skills ?? null;
      const reason = async () =>
        overrideFor(skill.name, overrides) ?? reasonFor(skill.name, record, await context.sendsAll(), options);
      return explanation(skill, body, reason);
    },
  };
}

async function explanation(
  { name, description, path }: FoundSkill,
  body: string | null,
  reason: () => Promise<string>,
): Promise<string> {
  const head = `${name}: ${description}`;
  if (body === null) return `${head}\nOut: its file can no longer be read.\n${path}\n`;
  return `${head}\n${await reason()}\n${path}\n\n${body}\n`;
}

async function withBody(skill: FoundSkill, bodies: Bodies): Promise<Active | null> {
  const body = await bodies.text(skill);
  return body === null ? null : { skill, body };
}

function tokensOf({ body }: Active): number {
  return estimateTokens(body.length);
}

/** Maps in order, four items at a time, so that a hundred large skills do not start a hundred requests at once. */
async function byFours<In, Out>(items: readonly In[], map: (item: In) => Out | Promise<Out>): Promise<Out[]> {
  const mapped: Out[] = [];
  for (let from = 0; from < items.length; from += 4) {
    for (const result of await Promise.all(items.slice(from, from + 4).map(map))) mapped.push(result);
  }
  return mapped;
}
