import type { ChatEvent, CompactionReport, ViewReport } from '../../chat/event.js';
import { estimateParts } from '../../chat/media.js';
import type { NewMessage, Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { cacheAfter } from '../../compaction/cache.js';
import { gapToSummarise, proseRoom, restBlock } from '../../compaction/rest-block.js';
import { blockAfterArrival, type Preview } from '../../compaction/run-strategy.js';
import type { CompactionSettings } from '../../compaction/strategy.js';
import type { WriteBlock } from '../../history/conversation.js';
import type { SkillForm } from '../../skills/skill.js';
import { type Measure, measure, shownRatio } from '../../view/measure.js';
import type { Rest } from '../../view/rest.js';
import { effectiveWindow, estimateView, triggerOf } from '../../view/size.js';
import { isWhole, newestBlock, present, type View, viewFrom, withoutWhole } from '../../view/view.js';
import { cacheHints } from './cache-hints.js';
import {
  type CompactionOrder,
  compactHistory,
  type OrderedCompaction,
  previewCompaction,
  type UpcomingCompaction,
  whileCurrent,
} from './compaction-ahead.js';
import {
  type ContextDeps,
  type FittedTools,
  fitTools,
  isTooLarge,
  modelWindow,
  type RequestOverhead,
  requestAttachments,
  requestOverhead,
  tooLarge,
} from './request-overhead.js';
import type { SummaryToWrite } from './rest-summaries.js';
import { plainSize, type ReportedRequest, viewReport } from './view-report.js';
import { madeWithoutWhole, type WholeView, wholeView } from './whole-view.js';

/** The share of the trigger from which a compaction counts as nearly due. */
const NEARLY = 0.85;

/**
 * Turns the log into requests, for one turn and one set of active skills: measures the view, compacts it when due, and
 * builds the request. What is sent depends only on the log and the settings.
 */
export class Context {
  readonly #deps: ContextDeps;
  /** The turn that is running here, null between turns. */
  readonly #running: number | null;
  readonly #active: readonly string[];
  #form: SkillForm = 'whole';
  /** What the next request contains besides the messages; computed once per request and form. */
  #overhead: RequestOverhead | null = null;
  /** The tokens of messages that are sent after the log and not stored. */
  #pending = 0;
  /** The estimate for the whole of the last request; 0 if it contains more than text. */
  #sent = 0;
  /** The last request. */
  #reported: ReportedRequest | null = null;
  /** The edition of the conversation that the last request was made from. */
  edition = 0;
  /** The last compaction of this turn, for its report. */
  compaction: CompactionReport | null = null;

  constructor(deps: ContextDeps, running: number | null, active: readonly string[]) {
    this.#deps = deps;
    this.#running = running;
    this.#active = active;
  }

  /**
   * The next request, after a compaction if one is due; `more` is sent after the log and not stored. Throws a `HiError`
   * of code `window` if it certainly does not fit, or the provider said so, and nothing can be shortened.
   */
  async *prepare(
    reason: 'auto' | 'overflow',
    more: readonly NewMessage[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, ChatRequest> {
    const { history, target } = this.#deps;
    this.#pending = estimateParts(more.flatMap(({ content }) => content));
    this.#overhead = null;
    await this.#keepUp();
    let measured = await this.measure(signal);
    const isFull = reason === 'overflow' || measured.context_tokens >= measured.trigger;
    const shrunk = isFull && (yield* this.#shrink(signal));
    if (shrunk) measured = await this.measure(signal);
    if (measured.due || reason === 'overflow') {
      const order: CompactionOrder = { reason, focus: null, strategy: null };
      // If the rest is too large even by itself, compacting would lose messages for a request that cannot be sent.
      const kept = await this.#leastKept(order, signal);
      if (isTooLarge(kept, target)) throw tooLarge(kept, target);
      const report = yield* this.compact(order, signal);
      if (report === null && reason === 'overflow' && !shrunk) throw tooLarge(measured.context_tokens, target);
      await this.#keepUp();
      measured = await this.measure(signal);
    }
    for (const warning of [measured.warning, this.#deps.standing.warning])
      if (warning !== null) yield* this.#warn(warning);
    // Shown with the first request to a model, not by every process.
    const { notice } = this.#offered;
    if (notice !== null && target.memory.facts.token_ratio === undefined) yield* this.#warn(notice);
    const { tokens } = await this.#requestOverhead(signal);
    const least = tokens + measured.estimated_tokens + this.#pending;
    if (isTooLarge(least, target)) throw tooLarge(least, target);
    if (target.isNear) this.#deps.ahead.makeWay();
    const request = await this.#build(history.view(this.#running), more, measured.context_tokens, signal);
    for (const text of history.takeNotices()) yield { type: 'notice', level: 'warning', text };
    return request;
  }

  /** What the last request of this turn consisted of, or what one with this view would consist of. */
  async report(view: View | null, signal: AbortSignal): Promise<ViewReport> {
    if (view !== null) await this.#build(view, [], (await this.measure(signal)).context_tokens, signal);
    const reported = this.#reported;
    if (reported === null) throw new Error('No request was built.');
    return await viewReport(reported, this.#deps.target.weigh ?? plainSize, signal);
  }

  /** Learns the ratio between the server's token count and the estimate. */
  learnRatio({ input_tokens }: Usage): void {
    const ratio = shownRatio(input_tokens, this.#sent);
    if (ratio !== null && input_tokens > 0) this.#deps.target.memory.learn({ token_ratio: ratio });
  }

  /** The tools that the model supports, shortened to fit the window. */
  get #offered(): FittedTools {
    const { target, tools, compaction } = this.#deps;
    if (target.memory.facts.takes?.tools === false) return { tools: [], notice: null };
    return fitTools(tools(), effectiveWindow({ ...compaction, context_window: target.context_window }));
  }

  /** Reads what other processes have written in the meantime, including a reset. */
  async #keepUp(): Promise<void> {
    const { history } = this.#deps;
    await (this.#running === null ? history.refresh() : history.follow(this.#running));
  }

  /** Sends large skills in their shorter form for the rest of the turn. True if that saves tokens. */
  async *#shrink(signal: AbortSignal): AsyncGenerator<ChatEvent, boolean> {
    if (this.#form === 'short' || this.#active.length === 0) return false;
    const { tokens: before } = await this.#requestOverhead(signal);
    yield { type: 'waiting', what: 'shortening skills' };
    this.#useForm('short');
    const { tokens: after } = await this.#requestOverhead(signal);
    for (const text of this.#deps.skills.cuts) yield* this.#warn(text);
    return after < before;
  }

  /** Shows a warning once. */
  *#warn(text: string): Generator<ChatEvent> {
    if (!this.#deps.shownWarnings.has(text)) yield { type: 'notice', level: 'warning', text };
    this.#deps.shownWarnings.add(text);
  }

  /** What would be kept by the plain estimate, because the token density of earlier texts may not apply to this one. */
  async #leastKept(order: CompactionOrder, signal: AbortSignal): Promise<number> {
    const { context_tokens: _, settings, ...input } = await this.#input(order, signal);
    const plain = { ...input, settings: { ...settings, token_ratio: 1 } };
    return (await previewCompaction(this.#deps.history, plain))?.tokens_kept ?? 0;
  }

  /**
   * How full the window is, by the number the trigger uses. Above the trigger, large skills count in their shorter
   * form.
   */
  async measure(signal: AbortSignal): Promise<Measure> {
    const measured = await this.#measured(signal);
    const isFull = measured.context_tokens >= measured.trigger;
    if (!isFull || this.#form !== 'whole' || this.#active.length === 0) return measured;
    this.#useForm('known');
    return await this.#measured(signal);
  }

  async #measured(signal: AbortSignal, share = 1): Promise<Measure> {
    const { history, target } = this.#deps;
    const { tokens } = await this.#requestOverhead(signal);
    const shown = history.view(this.#running);
    const settings = this.#settings(null);
    const limits = share === 1 ? settings : { ...settings, max_input_tokens: share * triggerOf(settings) };
    return measure(shown, history.entries, tokens, limits, target.model, {
      pending_tokens: this.#pending,
      last: this.#deps.overhead.last,
      unloaded: history.unloaded,
    });
  }

  /** Compacts the view of the log. Null if there is nothing to compact. */
  async *compact(order: CompactionOrder, signal: AbortSignal): AsyncGenerator<ChatEvent, CompactionReport | null> {
    const { history, ahead } = this.#deps;
    const input = await this.#input(order, signal);
    const report = yield* compactHistory(history, input, this.#compactionDeps, signal, ahead);
    this.compaction = report ?? this.compaction;
    return report;
  }

  /**
   * Lets older messages leave the view if what other machines said since the last message from here makes a compaction
   * due: no message waits for a summary of it. Yields the `compact` event.
   */
  async *makeRoom(signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { due } = await this.measure(signal);
    if (!due) return;
    const input = await this.#input({ reason: 'auto', focus: null, strategy: null }, signal);
    const write: WriteBlock = async function* (entries, running, unloaded) {
      yield* [];
      return blockAfterArrival({ ...input, entries, running, unloaded });
    };
    yield* this.#deps.history.compact(null, write, 'keep', signal);
  }

  /** The compaction that will be due soon; null while the conversation is too short for one. */
  async upcomingCompaction(signal: AbortSignal): Promise<UpcomingCompaction | null> {
    const { due } = await this.#measured(signal, NEARLY);
    if (!due) return null;
    const { name, entries, unloaded } = this.#deps.history;
    const deps = whileCurrent(this.#deps.history, this.#compactionDeps);
    const input = await this.#input({ reason: 'auto', focus: null, strategy: null }, signal);
    return { name, input: { ...input, entries: [...withoutWhole(entries)], unloaded }, deps };
  }

  /**
   * Lets messages leave the view at a rest, without asking a model. Yields the `compact` event; null if nothing
   * changes.
   */
  async *rest(rest: Rest, signal: AbortSignal): AsyncGenerator<ChatEvent, CompactionReport | null> {
    const write = await this.#writeRest(rest, signal);
    // Messages without a summary stay in the archive, whatever the configuration says of the others.
    const written = this.#deps.history.compact(null, write, 'keep', signal);
    for (;;) {
      const { done, value } = await written.next();
      if (done) return value;
      if (value.type === 'compact') yield value;
    }
  }

  async #writeRest(rest: Rest, signal: AbortSignal): Promise<WriteBlock> {
    const ordered = await this.#input({ reason: 'auto', focus: null, strategy: null }, signal);
    const { cache } = this.#compactionDeps;
    return (entries, running, unloaded) =>
      madeWithoutWhole({ ...ordered, entries, running }, async function* (made) {
        yield* [];
        return await restBlock({ ...ordered, entries: made, running, unloaded }, rest, cache);
      });
  }

  /** What the next request has in view, after this rest if there is one. */
  async viewAfter(rest: Rest | null, signal: AbortSignal): Promise<View> {
    await this.#keepUp();
    const { history } = this.#deps;
    if (rest === null) return history.view(null);
    const written = (await this.#writeRest(rest, signal))(history.entries, null, history.unloaded);
    for (;;) {
      const { done, value } = await written.next();
      if (!done) continue;
      // A block ignores ids of entries that come after it.
      const last = { id: Number.MAX_SAFE_INTEGER, at: '' };
      return value === null ? history.view(null) : viewFrom({ ...value, ...last }, history.entries, null);
    }
  }

  /**
   * Everything that fits together with so many tokens more, and how many of the model's tokens a question with it and
   * these has.
   */
  async whole(more: number, signal: AbortSignal): Promise<WholeView & { readonly sent: number }> {
    await this.#keepUp();
    const { tokens } = await this.#requestOverhead(signal);
    const settings = this.#settings(null);
    const { token_ratio = 1 } = settings;
    const room = triggerOf({ ...settings, context_window: this.#wholeWindow }) / token_ratio - tokens - more;
    const whole = await wholeView(this.#deps.history, 4 * room);
    return { ...whole, sent: Math.ceil((tokens + whole.tokens + more) * token_ratio) };
  }

  /** The window that requests are measured against: the larger one while everything is in view. */
  get window(): number {
    const { history, target } = this.#deps;
    return isWhole(newestBlock(history.entries)) ? this.#wholeWindow : target.context_window;
  }

  /** The window that everything may fill. Where nothing ever rests, it would stay filled. */
  get #wholeWindow(): number {
    const { rest, context_window, model_window = context_window } = this.#deps.target;
    return rest === undefined ? context_window : model_window;
  }

  /** The summary to write while nobody waits, `upcoming` if also of what would leave next; null for none. */
  async unsummarised(rest: Rest, upcoming: boolean, signal: AbortSignal): Promise<SummaryToWrite | null> {
    const { entries } = this.#deps.history;
    const deps = whileCurrent(this.#deps.history, this.#compactionDeps);
    const ordered = await this.#input({ reason: 'auto', focus: null, strategy: null }, signal);
    const input = { ...ordered, entries: [...withoutWhole(entries)], running: null };
    const gap = await gapToSummarise(input, rest, upcoming, deps.cache);
    return gap && { gap, input, budget: proseRoom(rest), deps };
  }

  /** What a compaction would do, without asking a model. Null if there is nothing to compact. */
  async preview(order: CompactionOrder, signal: AbortSignal): Promise<Preview | null> {
    return await previewCompaction(this.#deps.history, await this.#input(order, signal));
  }

  get #compactionDeps(): UpcomingCompaction['deps'] {
    const { history, cache, toolEffects: effects } = this.#deps;
    return {
      models: this.#deps.writers(),
      cache: cacheAfter(cache, newestBlock(withoutWhole(history.entries))),
      effects,
    };
  }

  async #input(order: CompactionOrder, signal: AbortSignal): Promise<OrderedCompaction> {
    const { context_tokens } = await this.measure(signal);
    const { tokens } = await this.#requestOverhead(signal);
    return {
      running: this.#running,
      fixed_tokens: this.#pending + tokens,
      context_tokens,
      settings: this.#settings(order.strategy),
      reason: order.reason,
      focus: order.focus,
      all: order.all ?? false,
    };
  }

  #settings(strategy: string | null): CompactionSettings {
    const { compaction, target } = this.#deps;
    const { token_ratio } = target.memory.facts;
    return {
      ...compaction,
      ...(token_ratio !== undefined && { token_ratio }),
      skips: target.rest !== undefined,
      context_window: this.window,
      strategy: strategy ?? compaction.strategy,
    };
  }

  async #requestOverhead(signal: AbortSignal): Promise<RequestOverhead> {
    this.#overhead ??= await requestOverhead({ ...this.#deps, ...this.#offered }, this.#active, this.#form, signal);
    return this.#overhead;
  }

  #useForm(form: SkillForm): void {
    this.#form = form;
    this.#overhead = null;
  }

  async #build(view: View, more: readonly NewMessage[], tokens: number, signal: AbortSignal): Promise<ChatRequest> {
    const { history, target, thinking, schema, web, compaction, tool_choice } = this.#deps;
    const { tools } = this.#offered;
    const { model } = target;
    const { max_output_tokens, ...options } = target.options ?? {};
    this.edition = history.edition;
    const shown = present(view, compaction.block_role);
    const { system, tokens: fixed_tokens } = await this.#requestOverhead(signal);
    this.#sent = fixed_tokens + estimateView(view) + this.#pending;
    const { attachments, messages } = await requestAttachments(history, [...shown.messages, ...more]);
    // The number of tokens of an image is unknown here.
    if (attachments.size > 0) this.#sent = 0;
    if (this.#running !== null) this.#deps.overhead.last = { turn: this.#running, fixed_tokens };
    const request: ChatRequest = {
      model,
      system: [...system, ...shown.system],
      messages,
      tools,
      ...(tool_choice && tools.length > 0 && { tool_choice }),
      thinking,
      ...(schema && { schema }),
      web,
      context_window: modelWindow(target),
      estimated_tokens: tokens,
      max_output_tokens: typeof max_output_tokens === 'number' ? max_output_tokens : null,
      options,
      cache: cacheHints(history.name, history.entries, this.#running, target.cache_rates),
      attachments,
    };
    const count = view.messages.length + more.length;
    this.#reported = { request, system, messages: count, left_out: this.#leftOut(view) };
    return request;
  }

  #leftOut({ messages }: View): number {
    const { isAside, length } = this.#deps.history;
    return isAside ? length : Math.max(0, length - messages.length);
  }
}
