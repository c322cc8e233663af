import type { CompactionSource, Entry } from './entry.js';
import type { JsonObject, JsonValue } from './json.js';
import type { AnswerPart, Billing, Opaque, StopReason, Usage } from './message.js';
import type { ModelFacts } from './model.js';
import type { Source } from './web-source.js';

/** The usage of a turn before its first request. */
export const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0, cached_tokens: 0, context_tokens: 0 };

/** The tokens of one request, and the model that answered it. */
export interface RequestUsage {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
  /** The address of its server; absent for the vendor's own. */
  readonly api_base?: string | undefined;
  /** The name of its server in the configuration; absent for that of the flat form. */
  readonly server?: string | undefined;
}

/** The event for the usage of a request to this model. */
export function usageEvent(
  purpose: 'answer' | 'summary',
  { provider, model, api_base, server }: Omit<RequestUsage, 'usage'>,
  usage: Usage,
): ChatEventOf<'usage'> {
  const where = { ...(api_base !== undefined && { api_base }), ...(server !== undefined && { server }) };
  return { type: 'usage', purpose, provider, model, usage, ...where };
}

/** The sum of the usage of two requests. The window is as full as after the second. */
export function addUsage(first: Usage, second: Usage): Usage {
  const billing = addBilling(first.billing, second.billing);
  return {
    input_tokens: first.input_tokens + second.input_tokens,
    output_tokens: first.output_tokens + second.output_tokens,
    cached_tokens: first.cached_tokens + second.cached_tokens,
    context_tokens: second.context_tokens,
    ...(billing !== undefined && { billing }),
  };
}

const COUNTS = ['cache_write_tokens', 'cache_write_1h_tokens', 'web_searches', 'cost'] as const;

function addBilling(first: Billing | undefined, second: Billing | undefined): Billing | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  const sums = COUNTS.map((name) => [name, (first[name] ?? 0) + (second[name] ?? 0)] as const);
  return { ...first, ...second, ...Object.fromEntries(sums.filter(([, sum]) => sum > 0)) };
}

/** The fields of a bill that say something; nothing if none does. */
export function billed(billing: Billing): { readonly billing?: Billing } {
  // A cost of nothing says that the model is free.
  const said = Object.entries(billing).filter(([name, value]) => Boolean(value) || (name === 'cost' && value === 0));
  return said.length === 0 ? {} : { billing: Object.fromEntries(said) };
}

/**
 * What a provider yields, in order, while an answer arrives. `text` and `thinking` are pieces for the screen. A `part`
 * is a finished block of the answer and is what the history stores: a provider yields one for every block, text
 * included, in the order of the answer. Exactly one `end` closes the stream; a stream without one was cut off.
 */
export type StreamEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  | { readonly type: 'part'; readonly part: AnswerPart }
  /** The model generated an image. `opaque` is the data to send back to the vendor with it. */
  | { readonly type: 'image'; readonly mime: string; readonly bytes: Uint8Array; readonly opaque?: Opaque }
  /** The answer used a web search. These pages are added to those cited before. */
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | {
      readonly type: 'end';
      readonly stop_reason: Exclude<StopReason, 'tool_limit' | 'interrupted'>;
      /** Null when the server reported none. */
      readonly usage: Usage | null;
      /** The model that answered, where the server names it. */
      readonly model?: string;
      /** Why it refused or stopped, in the vendor's words. */
      readonly detail?: string;
    }
  /** Facts about the model that the answer reveals, to be remembered. */
  | { readonly type: 'facts'; readonly facts: ModelFacts }
  /** Something the user should know, in one sentence; for example, that the server truncated the prompt. */
  | { readonly type: 'notice'; readonly text: string };

/** What one compaction did, as reported to people and scripts. */
export interface CompactionReport {
  readonly strategy: string;
  readonly source: CompactionSource;
  readonly messages_compacted: number;
  readonly messages_kept: number;
  readonly tokens_before: number;
  readonly tokens_after: number;
}

/** One tool call of a turn with its outcome, as `--json` prints it. */
export type ToolCallReport = { readonly name: string; readonly args: JsonObject } & (
  | { readonly result: JsonValue }
  | { readonly error: string }
);

/** The file of an image that a model generated. */
export interface ImageFile {
  readonly path: string;
  readonly mime: string;
  /** Size in bytes. */
  readonly bytes: number;
}

/** The whole of a turn, as `--json` prints it. */
export interface TurnReport {
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  /** The name of the server that answered; absent for that of the flat form. */
  readonly server?: string;
  /** The server that should have answered, if another did. */
  readonly fallback_from?: string;
  readonly stop_reason: Exclude<StopReason, 'tool_calls'>;
  readonly usage: Usage;
  readonly tool_calls: readonly ToolCallReport[];
  /** The images that the model generated. */
  readonly images: readonly ImageFile[];
  /** The web pages that the answer cites. */
  readonly sources: readonly Source[];
  readonly compaction: CompactionReport | null;
  /** What the last request of the turn consisted of; absent if it was not requested. */
  readonly view?: ViewReport;
  /** In US dollars at published prices; null if a price is unknown, absent if it was not requested. */
  readonly cost?: number | null;
  /** The id of the user message that began the turn; null when nothing is written (`--ephemeral`). */
  readonly turn: number | null;
  /** The value of the answer, if a schema was given. */
  readonly data?: JsonValue;
}

/**
 * A question that a server asked the user during a call, and its outcome. The answer itself is for the server alone.
 */
export interface ServerQuestion {
  readonly server: string;
  readonly message: string;
  /** The names of a form's fields; absent if the server asks the user to open a URL. */
  readonly fields?: readonly string[];
  /** That URL. */
  readonly url?: string;
  /** `cancel`: neither yes nor no. */
  readonly action: 'accept' | 'decline' | 'cancel';
}

/** From the character at `start` to before the one at `end`. */
export interface TextSpan {
  readonly start: number;
  readonly end: number;
}

/** An entry of the history to be shown, with what its heading says. */
export interface KeptEntry {
  readonly entry: Entry;
  /** Days are named as at this moment; null for dates. */
  readonly now: Date | null;
  readonly undone?: ReadonlySet<number>;
  readonly hasId?: boolean | undefined;
}

/** What a turn yields for the screen, in order. The screen is the last reader: nothing flows back. */
export type ChatEvent =
  /** Something slow happens before the request; `what` names it for the waiting line. */
  | { readonly type: 'waiting'; readonly what: string }
  /** A request is sent. */
  | { readonly type: 'request'; readonly provider: string; readonly model: string; readonly context_tokens: number }
  | { readonly type: 'text'; readonly text: string }
  /** The text up to here rests on these sources of the turn, counted from 1 in the order of `sources`. */
  | { readonly type: 'citation'; readonly numbers: readonly number[] }
  | { readonly type: 'thinking'; readonly text: string }
  /** The model generated an image, which is now in this file. */
  | ({ readonly type: 'image' } & ImageFile)
  /** A failed request will be sent again after `delay` milliseconds; `attempt` counts the failed ones. */
  | {
      readonly type: 'retry';
      readonly attempt: number;
      readonly delay: number;
      readonly reason: string;
      /** The server that could answer instead; absent if there is none. */
      readonly next?: string;
    }
  /** `server` is the MCP server of the tool; absent for built-in tools. */
  | {
      readonly type: 'tool-start';
      readonly call_id: string;
      readonly name: string;
      readonly args: JsonObject;
      readonly server?: string;
    }
  /** The progress of a running call in one line, as its server reports it. */
  | { readonly type: 'tool-progress'; readonly call_id: string; readonly text: string }
  /** Comes before the end of its call. */
  | ({ readonly type: 'elicitation'; readonly call_id: string } & ServerQuestion)
  /**
   * Output of a running tool, as it arrives. `lines` is the number of line ends in it, including those of lines left
   * out of the text.
   */
  | { readonly type: 'tool-output'; readonly call_id: string; readonly text: string; readonly lines: number }
  | ({ readonly type: 'tool-end'; readonly call_id: string; readonly name: string } & (
      | { readonly result: JsonValue; readonly error?: never }
      | { readonly error: string; readonly result?: never }
    ))
  | { readonly type: 'compact-start'; readonly strategy: string; readonly messages: number }
  /** How many characters of a summary have arrived. */
  | { readonly type: 'compact-progress'; readonly characters: number }
  | ({ readonly type: 'compact' } & CompactionReport)
  /** The tokens of one request, successful or not, if the server reports them. The turn's usage is their sum. */
  | ({ readonly type: 'usage'; readonly purpose: 'answer' | 'summary' } & RequestUsage)
  | { readonly type: 'skills'; readonly loaded: readonly string[]; readonly dropped: readonly string[] }
  /** Text of the program itself, printed as it is: a list, the output of a local command. */
  | {
      readonly type: 'print';
      readonly text: string;
      readonly exact?: boolean;
      /** The places in the text that stand out, in order. */
      readonly hits?: readonly TextSpan[];
    }
  /** Something of the history is shown again. */
  | ({ readonly type: 'entry' } & KeptEntry)
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string }
  | ({ readonly type: 'turn-end' } & TurnReport);

/** The event of one type. */
export type ChatEventOf<Type extends ChatEvent['type']> = Extract<ChatEvent, { type: Type }>;

/** What a request consists of, in tokens of four characters of what is sent. The four sizes add up to all of it. */
export interface ViewReport {
  /** The preamble, the memory, the skills and the tools. */
  readonly head: number;
  /** The summary of earlier messages. */
  readonly block: number;
  /** The messages, without what was recalled with them. */
  readonly tail: number;
  /** The passages that were recalled with them. */
  readonly recalled: number;
  /** How many messages of the conversation are not in it. */
  readonly left_out: number;
}

/**
 * How the prose of answers is wrapped on a terminal: at words, or by the terminal, which breaks words but does not
 * change the text.
 */
export type WrapMode = 'word' | 'terminal';

export const WRAP_MODES: readonly WrapMode[] = ['word', 'terminal'];

/** The settings of the screen that the user can change during a chat. */
export interface ScreenSettings {
  wrap: WrapMode;
  /** How the waiting line is drawn; `still` is redrawn only once a second. */
  waiting: 'animated' | 'still' | 'none';
}
