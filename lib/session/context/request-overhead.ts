import type { AnswerSchema, ToolSpec } from '../../chat/request.js';
import { asTokens, estimateTokens, type Tokens } from '../../chat/tokens.js';
import type { ToolEffects } from '../../chat/tool-effect.js';
import type { Standing } from '../../memory/standing-of.js';
import type { SkillForm, SkillLibrary } from '../../skills/common/skill-library.js';
import { toolTokens } from './fit-tools.js';

/** What a request contains besides the messages and the summary. */
export interface RequestOverhead {
  /** The preamble, what is always kept in mind, and the texts of the active skills. */
  readonly system: readonly string[];
  /** The estimate of these texts, of the tools and of the schema of the answer. */
  readonly tokens: Tokens;
}

/** What the overhead of a request is made of. */
export interface OverheadSource {
  readonly preamble: string | null;
  /** What the user wants always kept in mind. */
  readonly standing: Standing;
  readonly tools: readonly ToolSpec[];
  /** What the calls of tools did, also of those that are not offered. */
  readonly toolEffects: ToolEffects;
  readonly skills: SkillLibrary;
  /** What the answer must be; any text when absent. */
  readonly schema?: AnswerSchema;
}

/** The overhead of a request with these skills in that form. Shortening a skill may ask a model, which `signal` stops. */
export async function requestOverhead(
  { preamble, standing, tools, toolEffects, skills, schema }: OverheadSource,
  active: readonly string[],
  form: SkillForm,
  signal: AbortSignal,
): Promise<RequestOverhead> {
  const reader = tools.find(({ name }) => toolEffects[name]?.kind === 'read')?.name ?? null;
  const options = { form, reader };
  const texts = active.length === 0 ? [] : await skills.texts(active, options, signal);
  const system = [...(preamble ? [preamble] : []), ...(standing.text ? [standing.text] : []), ...texts];
  const characters = system.reduce((sum, text) => sum + text.length, schema ? JSON.stringify(schema).length : 0);
  return { system, tokens: asTokens(estimateTokens(characters) + toolTokens(tools)) };
}
