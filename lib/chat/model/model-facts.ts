import type { ThinkingLevel } from './thinking-level.js';

/**
 * Features of a request that some models do not support. `opaque`: signed or encrypted parts of earlier answers. `system`: a system message. `calls`: earlier
 * calls as calls, not as text. `call_ids`: the original ids of calls. `summaries`: a request for summaries of the thinking. `schema`: a schema for the answer.
 * `thoughts`: thinking of earlier answers; true if the server demands it with each of them. `stream`: a streamed answer. `output_limit`: the maximum length of the answer. `extras`: fields that do not affect the answer, such as cache marks and the
 * request for usage in the stream.
 */
export type Feature =
  | 'tools'
  | 'calls'
  | 'parallel_calls'
  | 'images'
  | 'documents'
  | 'audio'
  | 'opaque'
  | 'thoughts'
  | 'web'
  | 'system'
  | 'call_ids'
  | 'summaries'
  | 'schema'
  | 'stream'
  | 'chat'
  | 'responses'
  | 'output_limit'
  | 'extras';

/** What is known about a model at a server: reported by the server, or learnt from a rejected request. Absent means unknown. */
export interface ModelFacts {
  /** In tokens, as reported by the server. */
  readonly context_window?: number;
  /** The maximum length of an answer, in tokens. */
  readonly max_output_tokens?: number;
  /** Whether the model supports a feature. */
  readonly takes?: { readonly [Name in Feature]?: boolean };
  /** The thinking levels that the model refused. */
  readonly refused_thinking?: readonly ThinkingLevel[];
  /** When a refusal was learnt, in milliseconds since 1970: it is forgotten after an hour. Facts that the server reported have no time here. */
  readonly refused_at?: {
    readonly [Name in Feature | 'thinking' | 'files' | 'words' | 'options' | 'tool_definitions']?: number;
  };
  /** Opaque parts of answers from before this time, in milliseconds since 1970, are refused. */
  readonly opaque_since?: number;
  /** Messages from before this time, in milliseconds since 1970, are sent as text only, because otherwise the server refused them without a reason. */
  readonly words_until?: number;
  /** The SHA-256 of images and documents that the server refused, although it accepts others. */
  readonly refused_files?: readonly string[];
  /** The user's options that the server refused, with their values, as `optionName` writes them. */
  readonly refused_options?: readonly string[];
  /** The tools whose definition the server refused, as `toolKey` names them. */
  readonly refused_tools?: readonly string[];
  /** When a request was refused without a reason and answered in a plainer form, in milliseconds since 1970; 0 once a usual request was answered again. */
  readonly doubted_at?: number;
  /** The last measured ratio of the model's tokens to the estimate (characters / 4). */
  readonly token_ratio?: number;
  /** The window that is set on the server, which no request should change; 0 if none is set. */
  readonly fixed_window?: number;
  /** The window of the last request: with another one, the server would reload the model. */
  readonly loaded_window?: number;
  /** When the server was last asked about the model, in milliseconds since 1970; absent if never. */
  readonly asked_at?: number;
}

/** The facts of one model at one server. They outlive the process. */
export interface ModelMemory {
  /** What is known now. */
  readonly facts: ModelFacts;
  /** Adds to what is known; see `mergeFacts`. Never throws. */
  learn(more: ModelFacts): void;
}

/** Merges facts: `takes` by feature, refused levels and files are added, anything else is replaced. What works again is no longer listed as refused. */
export function mergeFacts(earlier: ModelFacts, more: ModelFacts): ModelFacts {
  const takes = { ...earlier.takes, ...more.takes };
  const times = Object.entries({ ...earlier.refused_at, ...more.refused_at });
  const refused_at = Object.fromEntries(
    times.filter(([name]) => !Object.entries(takes).some(([f, is]) => f === name && is)),
  );
  const refused_thinking = [...new Set([...(earlier.refused_thinking ?? []), ...(more.refused_thinking ?? [])])];
  const refused_files = [...new Set([...(earlier.refused_files ?? []), ...(more.refused_files ?? [])])].slice(-FILES);
  const refused_options = [...new Set([...(earlier.refused_options ?? []), ...(more.refused_options ?? [])])];
  const refused_tools = [...new Set([...(earlier.refused_tools ?? []), ...(more.refused_tools ?? [])])].slice(-FILES);
  return {
    ...earlier,
    ...more,
    ...(Object.keys(takes).length > 0 && { takes }),
    ...(Object.keys(refused_at).length > 0 || earlier.refused_at ? { refused_at } : {}),
    ...(refused_thinking.length > 0 && { refused_thinking }),
    ...(refused_files.length > 0 && { refused_files }),
    ...(refused_options.length > 0 && { refused_options }),
    ...(refused_tools.length > 0 && { refused_tools }),
  };
}

/** The maximum number of refused files to remember, and of refused tools. */
const FILES = 200;

/** How long a refusal is remembered, in milliseconds: servers get new models and templates under the same names, and not every refusal means what it says. */
export const REFUSAL_LIFE = 60 * 60 * 1000;

/** The facts without outdated refusals. */
export function currentFacts(facts: ModelFacts, now: number): ModelFacts {
  const old = Object.entries(facts.refused_at ?? {}).flatMap(([name, at]) =>
    now - at > REFUSAL_LIFE || at > now ? [name] : [],
  );
  return old.length === 0 ? facts : without(facts, old);
}

/** The facts without any refusals. */
export const factsAsTold = (facts: ModelFacts): ModelFacts =>
  without(facts, [...Object.keys(facts.refused_at ?? {}), ...APIS]);

/** OpenAI's two APIs. Which of them a server wants is not given up, so it is not tried again. */
const APIS: readonly Feature[] = ['chat', 'responses'];

/** When a refusal of these features was learnt, as `refused_at` holds it. */
export const refusedNow = (features: readonly Feature[], now: number): NonNullable<ModelFacts['refused_at']> =>
  Object.fromEntries(features.filter((feature) => !APIS.includes(feature)).map((feature) => [feature, now]));

function without(facts: ModelFacts, refusals: readonly string[]): ModelFacts {
  const { takes, refused_at, refused_thinking, refused_files, refused_options, refused_tools, words_until, ...rest } =
    facts;
  const kept = <Value>(fields: { readonly [name: string]: Value }) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !refusals.includes(name)));
  return {
    ...rest,
    takes: kept(takes ?? {}),
    refused_at: kept(refused_at ?? {}),
    ...(refused_thinking && !refusals.includes('thinking') && { refused_thinking }),
    ...(refused_files && !refusals.includes('files') && { refused_files }),
    ...(refused_options && !refusals.includes('options') && { refused_options }),
    ...(refused_tools && !refusals.includes('tool_definitions') && { refused_tools }),
    ...(words_until !== undefined && !refusals.includes('words') && { words_until }),
  };
}

/** Whether a message is sent as text only, unless it is the user's newest. */
export const goesInWords = ({ at }: { readonly at?: string }, { words_until }: ModelFacts): boolean =>
  words_until !== undefined && !(Date.parse(at ?? '') >= words_until);

/** An option with its value, because another value may be accepted. */
export const optionName = ([name, value]: readonly [string, unknown]): string => `${name}=${JSON.stringify(value)}`;
