import {
  type AnswerSchema,
  asTokens,
  estimateTokens,
  type Tokens,
  type ToolEffects,
  type ToolSpec,
} from '../../chat/request.js';
import type { Standing } from '../../memory/standing-of.js';
import type { SkillForm, SkillLibrary } from '../../skills/common/skill-library.js';
import { toolTokens } from './fit-tools.js';

/** What a request contains besides the messages and the summary. */
export interface RequestOverhead {
  /** The preamble, the memory, and the texts of the active skills. */
  readonly system: readonly string[];
  /** The estimated tokens of these texts, the tools and the answer's schema. */
  readonly tokens: Tokens;
}

/** What the overhead of a request consists of. */
export interface OverheadSource {
  readonly preamble: string | null;
  /** The memory. */
  readonly standing: Standing;
  readonly tools: readonly ToolSpec[];
  /** The effects of tool calls, including those of tools not offered. */
  readonly toolEffects: ToolEffects;
  readonly skills: SkillLibrary;
  /** The required form of the answer; any text if absent. */
  readonly schema?: AnswerSchema;
}

/** The overhead of a request with these skills in this form. Shortening a skill may ask a model, which `signal` stops. */
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
