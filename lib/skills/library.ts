import type { Entry } from '../chat/entry.js';
import { lastSkillMessage } from '../chat/entry-list.js';
import { estimateTokens } from '../chat/request.js';
import { pick } from '../registry.js';
import type { FoundSkill } from './describe.js';
import { type Bodies, createBodies, loadSkills } from './load.js';
import { createMatcher } from './matcher.js';
import { overrideFor, reasonFor, type SelectionContext, selectSkills } from './select.js';
import { type Active, createShortener, type Shortener, skillBlockOf } from './shorten-skill.js';
import {
  noSkillsIn,
  type SkillForm,
  type SkillLibrary,
  type SkillOverrides,
  type SkillSelection,
  type SkillsOptions,
  type SkillWarning,
} from './skill.js';

/** The skills of the user, and what a conversation does with them. */
class FolderLibrary implements SkillLibrary {
  readonly absence: string | null;
  readonly skills: SkillLibrary['skills'];
  readonly asks: boolean;
  readonly #options: SkillsOptions;
  readonly #found: readonly FoundSkill[];
  readonly #warnings: SkillWarning[];
  readonly #bodies: Bodies;
  readonly #shortener: Shortener;
  readonly #selection: SelectionContext;

  constructor(found: readonly FoundSkill[], warnings: readonly SkillWarning[], options: SkillsOptions) {
    this.absence = found.length > 0 ? null : noSkillsIn(options.folder);
    this.skills = found.map(({ name, description, path, bytes }) => ({ name, description, path, bytes }));
    this.asks = options.matcher === 'llm' && options.model !== null && found.some(({ byHand }) => !byHand);
    this.#options = options;
    this.#found = found;
    this.#warnings = [...warnings];
    this.#bodies = createBodies((warning) => this.#warnings.push(warning));
    this.#shortener = createShortener(options.model, options.cache);
    this.#selection = selectionContext(found, options, this.#bodies);
  }

  get warnings(): readonly SkillWarning[] {
    return this.#warnings;
  }

  get cuts(): readonly string[] {
    return this.#shortener.cuts;
  }

  select(
    entries: readonly Entry[],
    text: string,
    overrides: SkillOverrides,
    signal: AbortSignal,
  ): Promise<SkillSelection> {
    this.#shortener.retry();
    return selectSkills(this.#selection, entries, text, overrides, signal);
  }

  async texts(
    active: readonly string[],
    { form, reader }: { readonly form: SkillForm; readonly reader: string | null },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const wanted = active.map((name) => this.#found.find((skill) => skill.name === name));
    const read = await Promise.all(wanted.map((skill) => (skill ? withBody(skill, this.#bodies) : null)));
    const there = read.filter((each) => each !== null);
    if (form === 'whole') return there.map(skillBlockOf);
    const { large_tokens } = this.#options;
    const shorten = (each: Active): Active | Promise<Active> => {
      if (tokensOf(each) <= large_tokens) return each;
      const short = { most: Math.max(budgetOf(this.#options), large_tokens), reader };
      return form === 'known' ? this.#shortener.known(each, short) : this.#shortener.shorten(each, short, signal);
    };
    return (await byFours(there, shorten)).map(skillBlockOf);
  }

  async explain(name: string, entries: readonly Entry[], overrides: SkillOverrides): Promise<string> {
    const skill = pick(this.#found, name, 'skill', 'usage', this.absence);
    const body = await this.#bodies.text(skill);
    const record = lastSkillMessage(entries)?.skills ?? null;
    const reason = async (): Promise<string> =>
      overrideFor(skill.name, overrides) ?? reasonFor(skill, record, await this.#selection.sendsAll(), this.#options);
    return explanation(skill, body, reason);
  }
}

function selectionContext(skills: readonly FoundSkill[], options: SkillsOptions, bodies: Bodies): SelectionContext {
  const sent = skills.filter(({ byHand }) => !byHand);
  return {
    skills,
    get budget() {
      return budgetOf(options);
    },
    evict_after: options.evict_after,
    matcher: createMatcher(skills, options),
    tokens: bodies.tokens,
    isReadable: async (skill) => (await bodies.text(skill)) !== null,
    sendsAll: async () =>
      options.mode === 'all' || (options.mode === 'auto' && (await bodies.fit(sent, mostSent(options)))),
  };
}

/** The most tokens of all skills together for all of them to be sent without matching. */
function mostSent(options: SkillsOptions): number {
  return Math.min(budgetOf(options), options.most_sent ?? Number.POSITIVE_INFINITY);
}

/**
 * The most tokens that all skills may take together. Asked for each time, because the window may be learnt after the
 * start.
 */
function budgetOf(options: SkillsOptions): number {
  return Math.floor(options.budget_ratio * options.context_window);
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

/** Reads the folders and creates their library. Never fails. */
export async function openLibrary(options: SkillsOptions): Promise<SkillLibrary> {
  const { folder, known_file = null, shared_folders, project } = options;
  const { skills, warnings } = await loadSkills(folder, known_file, shared_folders, project);
  return new FolderLibrary(skills, warnings, options);
}
