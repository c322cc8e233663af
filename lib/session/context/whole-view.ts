import { type Entry, isAside, isMessage, type NewCompressBlock, REST, WHOLE } from '../../chat/entry.js';
import type { ChatEvent } from '../../chat/event.js';
import type { Message } from '../../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../../chat/request.js';
import type { CompactionInput } from '../../compaction/strategy.js';
import type { HistoryStore } from '../../history/store.js';
import { pinsOver, stateOf } from '../../view/block-state.js';
import { sentCharacters } from '../../view/shorten.js';
import { estimateView, totalCharacters } from '../../view/size.js';
import { cutOf, isWhole, newestBlock, type Turn, turnsOf, type View, viewFrom, withoutWhole } from '../../view/view.js';

/** Everything that fits into a request. */
export interface WholeView {
  readonly messages: number;
  /** The estimated tokens of the messages, and of the summary of those that do not fit. */
  readonly tokens: Tokens;
  /** The block that brings them into view; null if they are in view already. */
  readonly block: NewCompressBlock | null;
}

/** How many messages are read first; four times as many each time these do not fill the room. */
const FIRST_READ = 256;

/** Everything that fits into so many characters. Reads the end of the history only, as far as it fits. */
export async function wholeView(history: HistoryStore, characters: number): Promise<WholeView> {
  const before = newestBlock(withoutWhole(history.entries));
  const shown = history.view(null);
  const { turns, isAll } = await newestTurns(history, characters - (before?.content.length ?? 0));
  const messages = turns.flatMap((turn) => turn.messages).filter(({ content }) => content.length > 0);
  const [first] = turns;
  const content = isAll ? '' : (before?.content ?? '');
  const tokens = estimateTokens(totalCharacters(messages) + content.length);
  if (first === undefined || isShown(messages, shown))
    return { messages: shown.messages.length, tokens: estimateView(shown), block: null };
  const sizes = {
    messages_compacted: 0,
    messages_kept: messages.length,
    tokens_before: asTokens(0),
    tokens_after: tokens,
  };
  const pins = pinsOver(first.id, history.entries, newestBlock(history.entries), null);
  return {
    messages: messages.length,
    tokens,
    block: {
      type: 'compress',
      content,
      strategy: WHOLE,
      source: 'none',
      ...(content !== '' && before?.rests_on !== undefined && { rests_on: before.rests_on }),
      first_kept: first.id,
      ...sizes,
      state: { cut: { turn: first.id, id: first.id } },
      ...(pins.length > 0 && { pins: { until: history.entries.at(-1)?.id ?? 0, messages: pins } }),
    },
  };
}

/** Whether these are in view already, none of them shortened, and nothing else but what is pinned. */
function isShown(messages: readonly Message[], { messages: shown, pinned }: View): boolean {
  const own = (all: readonly Message[]): readonly Message[] => all.filter(({ id }) => !pinned?.has(id));
  const [these, those] = [own(messages), own(shown)];
  return these.length === those.length && sentCharacters(these) === sentCharacters(those);
}

/** The newest whole turns that fit, oldest first. */
async function newestTurns(
  history: HistoryStore,
  characters: number,
): Promise<{ readonly turns: readonly Turn[]; readonly isAll: boolean }> {
  for (let count = FIRST_READ; ; count *= 4) {
    const read = await history.newest(count);
    const isAll = read.filter(isMessage).length < count;
    const all = turnsOf(read.filter((entry) => !isAside(entry))).filter(({ finished }) => finished);
    let room = characters;
    const from = all.findLastIndex((turn) => {
      room -= totalCharacters(turn.messages);
      return room < 0;
    });
    if (from >= 0 || isAll) return { turns: all.slice(from + 1), isAll: from < 0 };
  }
}

/**
 * Makes a block as `make` does from the log without the blocks that brought everything into view. If there is nothing
 * to make and one of these is in effect, the result is the block before it once more: what is in view leaves as it
 * came.
 */
export async function* madeWithoutWhole(
  { entries, running, context_tokens = 0 }: CompactionInput,
  make: (entries: readonly Entry[]) => AsyncGenerator<ChatEvent, NewCompressBlock | null>,
): AsyncGenerator<ChatEvent, NewCompressBlock | null> {
  const rest = withoutWhole(entries);
  const made = yield* make(rest);
  const before = newestBlock(rest);
  if (made !== null || before === null || !isWhole(newestBlock(entries))) return made;
  const { id: _id, at: _at, usage: _usage, model: _model, ...block } = before;
  const { provider: _provider, api_base: _address, server: _server, restores: _restores, ...kept } = block;
  const [now, then] = [viewFrom(newestBlock(entries), entries, running), viewFrom(before, rest, running)];
  return {
    ...kept,
    strategy: REST,
    messages_compacted: Math.max(0, now.messages.length - then.messages.length),
    messages_kept: then.messages.length,
    tokens_before: asTokens(context_tokens),
    tokens_after: asTokens(Math.max(0, context_tokens - estimateView(now) + estimateView(then))),
    state: { ...stateOf(before), cut: { ...cutOf(before, rest) } },
  };
}
