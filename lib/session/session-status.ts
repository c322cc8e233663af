import type { ChatEvent, ViewReport } from '../chat/event.js';
import { localMinute, percent, quantity } from '../chat/text.js';
import { shortCount } from '../chat/transcript.js';
import { isConflictCopy } from '../history/base/history-paths.js';
import type { HistoryStore } from '../history/store.js';
import type { Measure } from '../view/measure.js';
import type { View } from '../view/view.js';
import type { Target } from './common/deps.js';

/** How long the conversation is, and how full the window (`hi status --json`). */
export interface Status {
  /** Messages in the archive. */
  readonly messages: number;
  readonly context_messages: number;
  /** chars/4 of the messages in context. */
  readonly estimated_tokens: number;
  /** The number the trigger uses. */
  readonly context_tokens: number;
  readonly context_window: number;
  /** `context_tokens` / `context_window`. */
  readonly used: number;
  /** Those that were not taken back. */
  readonly compactions: number;
  /** ISO 8601, UTC; null if there was none. */
  readonly last_compaction: string | null;
  /** The files of the conversation. */
  readonly files: readonly string[];
}

/** The status of a conversation, from its measurement. */
export function statusOf(history: HistoryStore, measured: Measure, context_window: number): Status {
  const { kept, compactions, taken_back, last_compaction, files } = history.totals;
  const standing = Math.max(0, compactions - taken_back);
  return {
    messages: kept,
    context_messages: history.view(null).messages.length,
    estimated_tokens: measured.estimated_tokens,
    context_tokens: measured.context_tokens,
    context_window,
    used: measured.context_tokens / context_window,
    compactions: standing,
    last_compaction: standing === 0 ? null : last_compaction,
    files,
  };
}

/** What the next request will consist of, without the user's message. */
export interface NextView {
  readonly report: ViewReport;
  /** How many messages are in view. */
  readonly messages: number;
  /** When the oldest of them was said, leaving out those that are pinned; null for none. */
  readonly since: string | null;
  /** The size of the request in the model's own tokens, as far as they are known. */
  readonly tokens: number;
}

/** The same, from the report about the request. */
export function nextViewOf(report: ViewReport, { messages, pinned }: View, { memory }: Target): NextView {
  const { head, block, tail, recalled } = report;
  const tokens = Math.ceil((head + block + tail + recalled) * (memory.facts.token_ratio ?? 1));
  return { report, messages: messages.length, since: messages.find(({ id }) => !pinned?.has(id))?.at ?? null, tokens };
}

/** The parts in view and those that are not, as text. */
export function viewText({ report, messages, since }: NextView): string {
  const { head, block, tail, recalled, left_out } = report;
  const from = since === null ? '' : `, ${quantity(messages, 'message')} since ${localMinute(since)}`;
  return [
    `head         ${shortCount(head)} tokens: system prompt, memory, skills, tools`,
    `summary      ${block === 0 ? 'none' : `${shortCount(block)} tokens`}`,
    `messages     ${shortCount(tail)} tokens${from}`,
    `recalled     ${recalled === 0 ? 'nothing' : `${shortCount(recalled)} tokens`}`,
    `left out     ${left_out === 0 ? 'nothing' : `${quantity(left_out, 'message')}: recall finds them, /all TEXT asks with them`}`,
  ].join('\n');
}

/** A remark about a file of the conversation. */
function remarkOn(file: string): string {
  if (file.endsWith('.reset.json.zst')) return ' (before the last reset; hi reset --undo restores it)';
  if (file.slice(file.lastIndexOf('/')).includes('.damaged-')) return ' (damaged, set aside)';
  return isConflictCopy(file) ? ' (a conflict copy: hi config check says how to join it)' : '';
}

const ofWindow = ({ context_tokens, context_window, used }: Status): string =>
  `${shortCount(context_tokens)} of ${shortCount(context_window)} tokens (${percent(used)})`;

const windowText = {
  known: ofWindow,
  assumed: (status: Status) => `${ofWindow(status)}, assumed: the server does not say`,
  none: ({ context_tokens }: Status) => `${shortCount(context_tokens)} tokens, of which window depends on the model`,
};

/**
 * The status as text. `window` is what is known about it: the model's, one that is assumed, or none without a model.
 */
export function statusText(status: Status, model: string, window: 'known' | 'assumed' | 'none'): string {
  const { messages, context_messages, compactions, last_compaction, files } = status;
  const last = last_compaction === null ? '' : `, the last ${localMinute(last_compaction)}`;
  return [
    `model        ${model}`,
    `messages     ${messages} kept, ${context_messages} in context`,
    `window       ${windowText[window](status)}`,
    `compactions  ${compactions}${last}`,
    ...files.map((file) => `file         ${file}${remarkOn(file)}`),
  ].join('\n');
}

/**
 * Asks the server about the model if needed. Yields a notice if the model does not support tools, which are then left
 * out of every request.
 */
export async function* askAboutModel(
  target: Target,
  hasTools: boolean,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const takesTools = (): boolean => target.memory.facts.takes?.tools !== false;
  const before = takesTools();
  await target.ask?.(signal);
  if (!hasTools || !before || takesTools()) return;
  yield {
    type: 'notice',
    level: 'warning',
    text: `'${target.model}' does not support tools here: it answers without them.`,
  };
}
