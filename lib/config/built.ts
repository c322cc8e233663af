import { findProvider, type MatchLogic } from '@pydantic/genai-prices';
import type { ConfigDefaults } from './config.js';
import { configKeys } from './keys.js';
import { defaultsOf } from './setting.js';

/**
 * The values of keys that no source sets. The build evaluates this file, so that a start does not have to create the
 * schema.
 */
export const DEFAULTS: ConfigDefaults = defaultsOf(configKeys({ providers: [], strategies: [], options: {} }));

/** A pattern for the names of models, and their context window in tokens. */
export interface ModelRule {
  readonly match: MatchLogic;
  readonly window: number;
}

const MAKERS = ['anthropic', 'google', 'openai', 'mistral', 'deepseek', 'x-ai', 'cohere', 'moonshotai'];

const starts = (window: number, ...names: readonly string[]): readonly ModelRule[] =>
  names.map((name) => ({ match: { starts_with: name }, window }));

/** Models that the table lacks or covers only in part, according to the model pages of their makers. */
const NEWER: readonly ModelRule[] = [
  ...starts(1_000_000, 'claude-haiku-5', 'claude-sonnet-5', 'claude-opus-5', 'claude-fable-5', 'claude-mythos'),
  ...starts(1_048_576, 'gemini-3', 'gemini-flash-latest', 'gemini-flash-lite-latest', 'gemini-pro-latest'),
  ...starts(1_048_576, 'gemini-4', 'gemini-2.5'),
  ...starts(1_050_000, 'gpt-6', 'gpt-5.5', 'gpt-5.6'),
  ...starts(1_000_000, 'deepseek-v4'),
  ...starts(128_000, 'deepseek-chat', 'deepseek-reasoner'),
  ...starts(4096, 'gpt-3.5-turbo-0301'),
  ...starts(262_144, 'kimi-k2', 'mistral-large-latest'),
  ...starts(500_000, 'grok-4.7'),
];

/**
 * The context windows of the models whose makers publish them, from the maintained table of @pydantic/genai-prices.
 * The build evaluates this file and keeps only the rules, so that a start does not load the prices.
 */
export const MODEL_TABLE: readonly ModelRule[] = NEWER.concat(
  MAKERS.flatMap((id) => findProvider({ providerId: id })?.models ?? []).flatMap(({ match, context_window }) =>
    context_window === undefined ? [] : [{ match, window: context_window }],
  ),
);
