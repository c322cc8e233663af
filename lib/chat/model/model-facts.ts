import type { ThinkingLevel } from './thinking-level.js';

/**
 * What a request may hold that not every model takes. `opaque`: signed or encrypted parts of earlier answers. `system`: a system message. `calls`: calls that
 * were made, in a form of their own. `call_ids`: ids of calls as they were given. `summaries`: the wish to see what the model thought.
 * `schema`: a schema that the answer is held to. `stream`: an answer in pieces. `output_limit`: the greatest length of the answer. `extras`: what changes no
 * answer, such as marks for a cache and the wish for usage in the stream.
 */
export type Feature =
  | 'tools'
  | 'calls'
  | 'parallel_calls'
  | 'images'
  | 'documents'
  | 'audio'
  | 'opaque'
  | 'web'
  | 'system'
  | 'call_ids'
  | 'summaries'
  | 'schema'
  | 'stream'
  | 'output_limit'
  | 'extras';

/** What is known about a model at a server: reported by the server, or learnt from a rejected request. Absent means unknown. */
export interface ModelFacts {
  /** In tokens, as the server gives it. */
  readonly context_window?: number;
  /** The longest answer in tokens. */
  readonly max_output_tokens?: number;
  /** Whether the model takes a feature. */
  readonly takes?: { readonly [Name in Feature]?: boolean };
  /** The levels of thinking that the model refused. */
  readonly refused_thinking?: readonly ThinkingLevel[];
  /** When a refusal was learnt, in milliseconds since 1970: after some days it is forgotten. What the server reported itself has no time here. */
  readonly refused_at?: {
    readonly [Name in Feature | 'thinking' | 'files' | 'words' | 'options' | 'tool_definitions']?: number;
  };
  /** Opaque parts of answers from before this time, in milliseconds since 1970, are refused. */
  readonly opaque_since?: number;
  /** What was said before this time, in milliseconds since 1970, goes in words alone: otherwise it was refused, and the server did not say why. */
  readonly words_until?: number;
  /** The SHA-256 of images and documents that the server refused, though it takes others. */
  readonly refused_files?: readonly string[];
  /** The options of the user that the server refused, each with its value, as `optionName` writes them. */
  readonly refused_options?: readonly string[];
  /** The tools whose definition the server refused, as `toolKey` names them. */
  readonly refused_tools?: readonly string[];
  /** When a request was refused without a reason and answered in a plainer form, in milliseconds since 1970; 0 when it went as usual again. */
  readonly doubted_at?: number;
  /** The model's tokens for each token of the estimate (characters / 4), as measured last. */
  readonly token_ratio?: number;
  /** The window that the server gives by its own setting, which no request should change; 0 when there is no such setting. */
  readonly fixed_window?: number;
  /** The window that the server was last asked for: with another one it loads the model anew. */
  readonly loaded_window?: number;
  /** When the server was asked what the model can do, in milliseconds since 1970; absent when it never was. */
  readonly asked_at?: number;
}

/** The facts of one model at one server. They outlive the process. */
export interface ModelMemory {
  /** What is known now. */
  readonly facts: ModelFacts;
  /** Adds to what is known; see `mergeFacts`. Never throws. */
  learn(more: ModelFacts): void;
}

/** The memory of a model that is asked once and then forgotten. */
export const NOTHING_KNOWN: ModelMemory = { facts: {}, learn() {} };

/** Both facts in one: `takes` is merged by feature, refused levels and files are added, anything else is replaced. What is taken after all is refused no more. */
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

/** How many refused files, and tools, are remembered. */
const FILES = 200;

/** How long a refusal counts: servers get new models and new templates under the names they had. */
const HOUR = 60 * 60 * 1000;
const WEEK = 7 * 24 * HOUR;

/** The time to note for a refusal that may have had another cause: it is forgotten after an hour. */
export const doubtfulAt = (now: number): number => now - WEEK + HOUR;

/** The facts without what was refused too long ago. */
export function currentFacts(facts: ModelFacts, now: number): ModelFacts {
  const old = Object.entries(facts.refused_at ?? {}).flatMap(([name, at]) =>
    now - at > WEEK || at > now ? [name] : [],
  );
  return old.length === 0 ? facts : without(facts, old);
}

/** The facts without all that was refused. */
export const factsAsTold = (facts: ModelFacts): ModelFacts => without(facts, Object.keys(facts.refused_at ?? {}));

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

/** Whether of a message, unless it is the newest of the user, the words alone are sent. */
export const goesInWords = ({ at }: { readonly at?: string }, { words_until }: ModelFacts): boolean =>
  words_until !== undefined && !(Date.parse(at ?? '') >= words_until);

/** An option with its value: with another value it may be taken. */
export const optionName = ([name, value]: readonly [string, unknown]): string => `${name}=${JSON.stringify(value)}`;
