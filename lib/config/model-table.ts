import { findProvider, type MatchLogic } from '@pydantic/genai-prices';

/** Which names a rule means, and the window of the model they name, in tokens. */
export interface ModelRule {
  readonly match: MatchLogic;
  readonly window: number;
}

const MAKERS = ['anthropic', 'google', 'openai', 'mistral', 'deepseek', 'x-ai', 'cohere', 'moonshotai'];

/**
 * The context windows of the models whose makers publish them, from the maintained table of @pydantic/genai-prices.
 * The build evaluates this file and keeps only the rules, so that the program does not carry the prices on its start path.
 */
export const MODEL_TABLE: readonly ModelRule[] = MAKERS.flatMap(
  (id) => findProvider({ providerId: id })?.models ?? [],
).flatMap(({ match, context_window }) => (context_window === undefined ? [] : [{ match, window: context_window }]));
