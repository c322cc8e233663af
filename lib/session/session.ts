import type { ChatEvent, CompactionReport, ViewReport } from '../chat/event.js';
import { inputOf, type Part, typedText } from '../chat/message.js';
import type { ThinkingLevel, WebMode } from '../chat/model.js';
import { estimateTokens, IMAGE_TOKENS, type ToolSpec } from '../chat/request.js';
import type { Preview } from '../compaction/run-strategy.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import type { Finder } from '../recall/recall.js';
import { uninterrupted } from '../waits.js';
import type { SessionDeps, Target, TurnOptions, UserInput } from './common/deps.js';
import { isCompactedSince, type Restored, uncompact } from './compactions.js';
import type { CompactionAhead, CompactionOrder } from './context/compaction-ahead.js';
import type { RestSummaries } from './context/rest-summaries.js';
import { contentOf } from './input.js';
import { turnMessages, turnsFrom, userContentOf } from './past-turns.js';
import { PinnedMessages } from './pinned-messages.js';
import { Reminders } from './reminders.js';
import { type NextView, type Status, statusOf } from './session-status.js';
import { SessionTurns, type TurnSettings } from './session-turns.js';
import { askSeveral, keepReplies, type Reply } from './several-answers.js';
import { SkillState } from './skill-state.js';

/** How long a nearby server may take to describe its model before it is used, in milliseconds. */
const EARLY = 300;

/** The turn that undoing and asking again act on. */
export interface LastTurn {
  /** Its first message. */
  readonly id: number;
  readonly content: readonly Part[];
  /** The input that sends it again. */
  readonly text: string;
  /**
   * Why it is not the last turn of this session: it was said in another program or `hi` since, or the last one was
   * removed by one. Null if it is.
   */
  readonly notOwn: 'elsewhere' | 'removed' | null;
}

/**
 * One conversation, and what the user can do with it. Methods that talk to a model yield events. All throw `HiError`s
 * the reader can act on.
 */
export class Session {
  readonly #deps: SessionDeps;
  /** How the next turns are answered. */
  readonly #turnSettings: { -readonly [Key in keyof TurnSettings]: TurnSettings[Key] };
  /** The skills. */
  readonly skills: SkillState;
  /** Finds earlier messages on the subject of a new one. */
  readonly reminders: Reminders;
  /** The messages that the user keeps in view through compactions. */
  readonly pins: PinnedMessages;
  /** The compaction written before it is due. */
  readonly ahead: CompactionAhead;
  /** The summaries of what left the view at a rest. */
  readonly restSummaries: RestSummaries;
  readonly #turns: SessionTurns;
  /**
   * The newest message when this session began, or the conversation was reset: what came later and is not from here was
   * said elsewhere.
   */
  #before: number;

  constructor(deps: SessionDeps) {
    const { history, models, settings, search } = deps;
    const { web, thinking, compaction } = settings;
    this.#deps = deps;
    this.#turnSettings = { target: models.target, web, thinking };
    this.reminders = new Reminders(history, search, () => this.target.context_window);
    const limits = () => ({ ...compaction, context_window: this.target.context_window });
    this.pins = new PinnedMessages(history, () => search.finder(), limits);
    this.skills = new SkillState(history, deps.skills, () => this.target);
    this.#turns = new SessionTurns(deps, this.skills, this.reminders, this.#turnSettings);
    this.ahead = this.#turns.ahead;
    this.restSummaries = this.#turns.restSummaries;
    this.#before = history.entries.at(-1)?.id ?? 0;
  }

  get target(): Target {
    return this.#turnSettings.target;
  }

  /** Whether the model may search the web. */
  get web(): WebMode {
    return this.#turnSettings.web;
  }

  useWeb(mode: WebMode): void {
    this.#turnSettings.web = mode;
  }

  /** How hard the model should think; null leaves it to the vendor. */
  get thinking(): ThinkingLevel | null {
    return this.#turnSettings.thinking;
  }

  useThinking(level: ThinkingLevel | null): void {
    this.#turnSettings.thinking = level;
  }

  get history(): HistoryStore {
    return this.#deps.history;
  }

  /** Takes in what other machines have said. It is shown, so that undoing and asking again may act on it. */
  async *takeIn(): AsyncGenerator<ChatEvent> {
    yield* this.#turns.exchange('takeIn');
    this.#before = this.history.entries.at(-1)?.id ?? 0;
  }

  /** Gives the other machines what was said and decided here. */
  async *giveOut(): AsyncGenerator<ChatEvent> {
    yield* this.#turns.exchange('giveOut');
  }

  /**
   * Runs one turn. Ends with `turn-end`, even if interrupted. Throws the provider's error; the part of the answer
   * that was shown is then kept.
   */
  async *send(input: UserInput, signal: AbortSignal, options: TurnOptions = {}): AsyncGenerator<ChatEvent> {
    const content = await contentOf(input, this.history);
    const { model = null } = options;
    if (model === null) yield* this.#turns.run(content, signal, options);
    else yield* this.#turnBy(await this.#deps.models.find(model, signal), content, signal, options);
  }

  /**
   * Runs the last turn again, with another model if one is named. The turn that it replaces is undone, unless the new
   * one ends without any answer.
   */
  async *retry(model: string | null, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const target = model === null ? this.#turnSettings.target : await this.#deps.models.find(model, signal);
    await this.#turns.refresh();
    const last = await this.lastTurn();
    const content = this.#unanswered() ?? (last === null ? null : last.content);
    if (content === null)
      throw new HiError('usage', 'There is no message to retry.', { hint: 'Send a message first.' });
    const replaced = this.#unanswered() === null ? last : null;
    if (replaced === null) return yield* this.#turnBy(target, content, signal);
    await this.#turns.takeBack(replaced.id);
    const undelivered = async (): Promise<null> => {
      await uninterrupted(() => this.history.mark({ type: 'redo', turns: [replaced.id] }));
      return null;
    };
    yield* this.#turnBy(target, content, signal, { undelivered, repeats: replaced.id });
  }

  /** The question that got no answer: the last one of this session, or one that a crash cut short. */
  #unanswered(): readonly Part[] | null {
    return this.#turns.failed ?? userContentOf(this.history, this.history.crashedTurn);
  }

  /**
   * The turn that undoing and asking again act on: the newest one in view that this session knows. One that was said
   * elsewhere meanwhile is chosen only if there is no other. Null if there is none.
   */
  async lastTurn(): Promise<LastTurn | null> {
    await this.#turns.refresh();
    const messages = turnMessages(this.history);
    const newest = messages.findLast(({ turn }) => this.knows(turn)) ?? messages.at(-1);
    const content = newest === undefined ? null : userContentOf(this.history, newest.turn);
    if (newest === undefined || content === null) return null;
    const notOwn = this.knows(newest.turn) ? (this.#turns.isLastRemoved ? 'removed' : null) : 'elsewhere';
    return { id: newest.turn, content, text: inputOf(content), notOwn };
  }

  /** Whether a turn was said before this session, or in it. */
  knows(turn: number): boolean {
    return turn <= this.#before || this.#turns.said.has(turn);
  }

  async *#turnBy(
    target: Target,
    content: readonly Part[],
    signal: AbortSignal,
    options: TurnOptions = {},
  ): AsyncGenerator<ChatEvent> {
    const usual = this.#turnSettings.target;
    this.#turnSettings.target = target;
    try {
      yield* this.#turns.run(content, signal, options);
    } finally {
      this.#turnSettings.target = usual;
    }
  }

  /** Lets the next server answer instead of waiting. Returns false if the turn waits for none, or there is no other. */
  skipWait(): boolean {
    return this.#turns.skipWait();
  }

  /** Undoes the last turn, and returns it, and whether the conversation was compacted since it began, and stays so. */
  async undo(): Promise<LastTurn & { readonly compacted: boolean }> {
    const last = await this.lastTurn();
    if (last === null) throw new HiError('usage', 'There are no turns to undo.');
    await this.#turns.takeBack(last.id);
    return { ...last, compacted: isCompactedSince(this.history, last.id) };
  }

  /**
   * Goes back to before a turn in view: undoes it and all later ones, and returns the input that sends the user's
   * message again.
   */
  async rewind(turn: number): Promise<string> {
    await this.history.refresh();
    const content = userContentOf(this.history, turn);
    const [first, ...later] = turnsFrom(this.history, turn);
    if (first !== turn || content === null) {
      throw new HiError('usage', `No turn in view starts with #${turn}.`, { hint: '/rewind lists the last turns.' });
    }
    await this.#turns.takeBack(turn, later);
    return inputOf(content);
  }

  /** From now on, keeps everything in memory only, until `goOnRecord` forgets it. */
  async goOffRecord(): Promise<void> {
    await this.history.goOffRecord();
  }

  /** Forgets what was said off the record. Resolves to the number of messages forgotten. */
  async goOnRecord(): Promise<number> {
    this.#turns.forget();
    return await this.history.goOnRecord();
  }

  /** The user's last message, null if there is none yet. */
  async lastInput(): Promise<string | null> {
    await this.#turns.refresh();
    const content = this.#unanswered() ?? (await this.lastTurn())?.content ?? null;
    return content === null ? null : typedText(content);
  }

  /** The turn that `retry` would replace; null for none. */
  async retried(): Promise<LastTurn | null> {
    await this.#turns.refresh();
    return this.#unanswered() === null ? await this.lastTurn() : null;
  }

  /** Answers with the full context, and stores nothing. */
  async *aside(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    yield* this.#turns.unkept(text, [], signal);
  }

  /**
   * Asks several models at once, with the conversation, and keeps nothing. Yields each answer as soon as it is whole.
   */
  askSeveral(names: readonly string[], text: string, signal: AbortSignal): AsyncGenerator<Reply> {
    const asking = (target: Target): SessionTurns =>
      new SessionTurns(this.#deps, this.skills, this.reminders, { ...this.#turnSettings, target });
    return askSeveral(names, text, this.#deps.models.find, asking, signal);
  }

  /** Keeps one of these answers in the conversation, and the others in the archive. */
  async keepReplies(text: string, kept: Reply, others: readonly Reply[]): Promise<void> {
    await keepReplies(text, kept, others, this.#deps);
  }

  /** Sends a request with tools, as a turn does, but runs no tool and stores nothing. */
  async *tryOut(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    yield* this.#turns.unkept(text, this.#deps.tools.specs, signal);
  }

  /** Adds the output of a local command to the conversation, without asking the model. */
  async note(text: string): Promise<void> {
    const content = [{ type: 'text', text }] as const;
    const { turn } = await this.history.note({ role: 'user', content, cwd: this.#deps.cwd() });
    this.#turns.said.add(turn);
  }

  /** Compacts now, even below the trigger. Returns what it did, null if there was nothing to do. */
  async *compact(
    order: Omit<CompactionOrder, 'reason'>,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, CompactionReport | null> {
    await this.#turnSettings.target.ask?.(signal);
    await this.history.refresh();
    const context = await this.#turns.context(null, this.skills.active);
    return yield* context.compact({ ...order, reason: 'manual' }, signal);
  }

  /** What `compact` would do, without asking a model; null if there is nothing to compact. */
  async previewCompaction(order: Omit<CompactionOrder, 'reason'>, signal: AbortSignal): Promise<Preview | null> {
    await this.history.refresh();
    return await (await this.#turns.context(null, this.skills.active)).preview({ ...order, reason: 'manual' }, signal);
  }

  /** Undoes the last compaction. Resolves to what is in view then. */
  async uncompact(signal: AbortSignal): Promise<Restored> {
    const context = await this.#turns.context(null, this.skills.active);
    return await uncompact(this.history, await context.measure(signal), this.target.memory.facts.token_ratio ?? 1);
  }

  /** Whether other machines have this conversation, too. */
  get isShared(): boolean {
    return this.#deps.machines !== undefined;
  }

  /**
   * Clears the conversation; a copy is kept for `undoReset` unless `purge`. Resolves to the number of messages that
   * were here.
   */
  async reset({ purge }: { readonly purge: boolean }): Promise<number> {
    await this.#deps.machines?.beforeReset();
    const { messages } = this.history.totals;
    await this.history.reset({ purge });
    this.#isCleared();
    return messages;
  }

  /** Clears the conversation on all machines. Resolves to the number of messages that were here. Throws a `HiError`. */
  async resetEverywhere(): Promise<number> {
    const { machines } = this.#deps;
    if (machines === undefined)
      throw new HiError('usage', 'The conversation is not shared.', { hint: 'To clear it here, use: /reset' });
    const messages = await machines.resetEverywhere(false);
    this.#isCleared();
    return messages;
  }

  #isCleared(): void {
    this.#turns.forget();
    this.#before = this.history.entries.at(-1)?.id ?? 0;
  }

  /** Restores what the last reset cleared, and sets aside what was said since. */
  async undoReset(): Promise<void> {
    await this.history.undoReset();
    await this.#deps.machines?.afterUndo();
    this.#isCleared();
  }

  /** Uses another model from now on. */
  async useModel(name: string, signal: AbortSignal): Promise<void> {
    this.#turnSettings.target = await this.#deps.models.find(name, signal);
  }

  /** Drops what exists only in memory: the message of a failed turn, and a summary written ahead. */
  forgetUnsent(): void {
    this.#turns.forget();
  }

  /** The search over the whole conversation, loaded on first use. */
  async finder(): Promise<Finder> {
    return await this.#deps.search.finder();
  }

  /** The search whose index is kept up to date: that of what the model may be shown. */
  async indexed(): Promise<Finder> {
    const { search } = this.#deps;
    return await (search.sending?.() ?? search.finder());
  }

  /** The tools the model may call. */
  get toolSpecs(): readonly ToolSpec[] {
    return this.#deps.tools.specs;
  }

  /**
   * Everything that fits together with this input, and how many of the model's tokens that has. Throws a `HiError` in
   * an aside, which has nothing else.
   */
  async whole(
    { text, texts, attachments }: UserInput,
    signal: AbortSignal,
  ): Promise<{ readonly messages: number; readonly left_out: number; readonly tokens: number }> {
    await this.#turnSettings.target.ask?.(signal);
    await this.history.refresh();
    const { isAside, length } = this.history;
    if (isAside)
      throw new HiError('usage', 'An aside cannot ask with the conversation.', {
        hint: 'Leave out --fresh, or ask in a chat without it.',
      });
    const input = estimateTokens([text, ...texts].join('').length) + attachments.length * IMAGE_TOKENS;
    const { messages, sent } = await (await this.#turns.context(null, this.skills.active)).whole(input, signal);
    return { messages, left_out: Math.max(0, length - messages), tokens: sent };
  }

  /** What the last request consisted of; null before the first one. */
  async sentView(signal: AbortSignal): Promise<ViewReport | null> {
    return await this.#turns.sentView(signal);
  }

  /** What the next request will consist of, without the user's message. */
  async nextView(signal: AbortSignal): Promise<NextView> {
    await this.history.refresh();
    return await this.#turns.nextView(signal);
  }

  /** How long the conversation is, and how full the window. */
  async status(signal: AbortSignal): Promise<Status> {
    if (this.target.window_is_known === false)
      await this.target.askEarly?.(AbortSignal.any([signal, AbortSignal.timeout(EARLY)]));
    await this.history.refresh();
    const context = await this.#turns.context(null, this.skills.active);
    return statusOf(this.history, await context.measure(signal), context.window);
  }
}
