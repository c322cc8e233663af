import { isMessage } from '../chat/entry.js';
import type { ChatEvent, CompactionReport, ViewReport } from '../chat/event.js';
import { estimateParts } from '../chat/media.js';
import { type Message, type NewMessage, type Part, textOf } from '../chat/message.js';
import type { ThinkingLevel, WebMode } from '../chat/model.js';
import type { ChatRequest, TextCache, ToolSpec } from '../chat/request.js';
import { compactionLine } from '../chat/transcript.js';
import type { WriteBlock } from '../history/conversation.js';
import type { Provider } from '../providers/common/provider.js';
import { stateOf } from '../view/block-state.js';
import { newestBlock, withoutWhole } from '../view/view.js';
import { uninterrupted } from '../waits.js';
import type { SessionDeps, Target, TurnOptions } from './common/deps.js';
import { exchangeEvents } from './common/other-machines.js';
import { CompactionAhead, storedWhile, type UpcomingCompaction } from './context/compaction-ahead.js';
import { Context } from './context/context.js';
import type { ContextDeps } from './context/request-overhead.js';
import { nextRest, RestSummaries, restBefore, type SummaryToWrite } from './context/rest-summaries.js';
import { fitImages, type ImageFitting, keepImage } from './images/images.js';
import { keptFiles } from './input.js';
import { endsWithOutput, requireSaid } from './past-turns.js';
import { type Reminders, readClock } from './reminders.js';
import { askAboutModel, type NextView, nextViewOf } from './session-status.js';
import type { SkillState } from './skill-state.js';
import { Patience } from './turn/patience.js';
import { Route } from './turn/route.js';
import { StoredTurn } from './turn/stored-turn.js';
import { type AskedServer, runTurn, type TurnDeps, TurnFailure, type TurnLog } from './turn/turn.js';
import { mayCallTools, turnTools } from './turn-tools.js';

/** The dependencies that differ between turns. */
type OwnDeps = Pick<TurnDeps, 'request' | 'next' | 'patience'> &
  Pick<TurnLog, 'isCurrent' | 'append'> &
  Pick<AskedServer, 'attempts'> &
  Partial<Pick<TurnDeps, 'maxRounds'>>;

/** Which model answers a turn, and how. */
export interface TurnSettings {
  readonly target: Target;
  readonly web: WebMode;
  readonly thinking: ThinkingLevel | null;
}

/** Runs the turns of a session, one after the other: from the user's input to what is stored in the history. */
export class SessionTurns {
  readonly #deps: SessionDeps;
  readonly #skills: SkillState;
  readonly #reminders: Reminders;
  /** Read when a request is made; the session may change it. */
  readonly #turnSettings: TurnSettings;
  readonly #shownWarnings = new Set<string>();
  readonly #overhead: ContextDeps['overhead'] = { last: null };
  readonly #smallImages: ImageFitting['made'] = new Map();
  #failed: readonly Part[] | null = null;
  #last: Context | null = null;
  /** The question of the last turn in the history, also of a failed one, and the edition in which it was there. */
  #lastMessage: Message | null = null;
  #lastIn = 0;
  #isLastRemoved = false;
  /** The servers of the running turn; null between turns. */
  #route: Route | null = null;
  #patience: Patience | null = null;
  /** The turns that began in this session. */
  readonly said = new Set<number>();
  /** The compaction written before it is due. */
  readonly ahead = new CompactionAhead(() => this.#upcomingCompaction());

  /** The summaries of what left the view at a rest. */
  readonly restSummaries = new RestSummaries((upcoming) => this.#unsummarised(upcoming));

  constructor(deps: SessionDeps, skills: SkillState, reminders: Reminders, turnSettings: TurnSettings) {
    this.#deps = deps;
    this.#skills = skills;
    this.#reminders = reminders;
    this.#turnSettings = turnSettings;
  }

  /** The question of the last turn, if nothing of that turn was stored. */
  get failed(): readonly Part[] | null {
    return this.#failed;
  }

  /** Whether another process removed the last turn of this session. */
  get isLastRemoved(): boolean {
    return this.#isLastRemoved;
  }

  /** Reads what other processes wrote, and drops the question of the last turn if they removed it. */
  async refresh(): Promise<void> {
    const { history } = this.#deps;
    await history.refresh();
    if (this.#lastMessage === null || this.#lastIn === history.edition) return;
    this.#lastIn = history.edition;
    if (await history.holds(this.#lastMessage)) return;
    this.#failed = null;
    this.#lastMessage = null;
    this.#isLastRemoved = true;
  }

  /** Forgets everything that is not in the history, because the conversation has changed. */
  forget(): void {
    this.#failed = null;
    this.#lastMessage = null;
    this.#isLastRemoved = false;
    this.ahead.drop();
  }

  /** Runs a turn that is stored in the history. Ends with `turn-end`; throws the provider's error. */
  async *run(content: readonly Part[], signal: AbortSignal, options: TurnOptions = {}): AsyncGenerator<ChatEvent> {
    this.#failed = content;
    this.#lastMessage = null;
    let failure: unknown = null;
    let kept: string | null = null;
    try {
      yield* this.#answered(content, signal, options);
      this.#route?.answered();
    } catch (thrown) {
      failure = thrown;
    } finally {
      this.#route = null;
      if (this.#failed !== null) kept = (await options.undelivered?.(failure)) ?? null;
    }
    if (kept === null && failure !== null) throw failure;
    if (kept === null) return;
    this.#failed = null;
    yield { type: 'notice', level: 'warning', text: kept };
  }

  async *#answered(content: readonly Part[], signal: AbortSignal, options: TurnOptions): AsyncGenerator<ChatEvent> {
    const { history, tools, settings } = this.#deps;
    // Not whether there are any: those of a server that is starting come later.
    const hasTools = mayCallTools(tools, options) && tools.specs.length > 0;
    const asked = { tools: hasTools, schema: options.schema !== undefined };
    const route = new Route(this.#target, this.#deps, asked, signal);
    this.#route = route;
    this.#patience = new Patience(this.#deps.models.longestWait ?? 0, () => route.next);
    const provider = yield* route.connect();
    yield* askAboutModel(this.#target, hasTools, signal);
    yield* this.#settle(signal);
    yield* this.#takeIn(signal);
    const toolsSent = turnTools(this.#deps, this.#turnSettings, options);
    yield* this.#warnOfHistory();
    const rested = options.whole ? yield* this.#bringAll(content, signal) : yield* this.#rest(signal);
    const followsOutput = endsWithOutput(history, this.said);
    const user = yield* this.#begin(content, toolsSent.isBare, options, signal);
    const given = { ...toolsSent.request, ...(options.schema && { schema: options.schema }) };
    const newContext = async (): Promise<Context> => {
      const context = await this.context(user.id, user.skills?.active ?? [], given);
      this.#last = context;
      return context;
    };
    const turn = new StoredTurn(history, user.turn, followsOutput, await newContext());
    const own: OwnDeps = {
      request: (reason) => this.#fitted(turn.context, turn.context.prepare(reason, [], signal), signal),
      isCurrent: () => history.isCurrent(turn.context.edition),
      append: (messages, onlyCurrent) => turn.append(messages, onlyCurrent),
      patience: this.#patience,
      ...(options.attempts !== undefined && { attempts: options.attempts }),
      next: (failure, hasCalls) =>
        route.goOn(failure, hasCalls ? user.turn : null, async () => {
          turn.context = await newContext();
        }),
    };
    const answering = this.restSummaries.beside(this.#run(provider, own, signal), settings.summarisesBeside);
    yield* this.#end(answering, turn, route, rested);
  }

  /** Takes in what was said elsewhere, and makes room for it. */
  async *#takeIn(signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { history } = this.#deps;
    yield* this.exchange('takeIn');
    await history.refresh();
    if (history.entries.findLast(isMessage)?.from !== undefined)
      yield* (await this.context(null, this.#skills.active)).makeRoom(signal);
  }

  /** Writes the question to the history, with its skills and reminders. */
  async *#begin(
    content: readonly Part[],
    isBare: boolean,
    { repeats }: TurnOptions,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, Message> {
    const { history, cwd, clock, settings } = this.#deps;
    const { record, loaded, dropped } = yield* this.#skills.choose(textOf(content), signal);
    const { line, place } = clock === null ? { line: null, place: {} } : readClock(clock, cwd(), history);
    const { edition } = history;
    const reminders = yield* this.#reminders.for(content);
    if (repeats !== undefined) await requireSaid(history, repeats);
    const message = {
      role: 'user',
      content: [line, ...content, ...reminders].filter((part) => part !== null),
      cwd: cwd(),
      ...place,
      ...(settings.via && { via: settings.via }),
      ...(isBare && { tools: 'none' as const }),
      skills: record,
    } as const;
    const user = await history.begin(message, edition, signal);
    [this.#lastMessage, this.#lastIn, this.#isLastRemoved] = [user, history.edition, false];
    this.said.add(user.turn);
    this.#skills.recorded();
    yield* this.#warnOfHistory();
    if (loaded.length > 0 || dropped.length > 0) yield { type: 'skills', loaded, dropped };
    return user;
  }

  /** Yields the answer and the report of the turn. A turn of which nothing was stored is taken back. */
  async *#end(
    answering: ReturnType<typeof runTurn>,
    stored: StoredTurn,
    route: Route,
    rested: CompactionReport | null,
  ): AsyncGenerator<ChatEvent> {
    try {
      const { kept, ...outcome } = yield* answering;
      await this.#keepOrTakeBack(kept, stored.turn);
      const turn = this.#deps.history.isKept && kept ? stored.turn : null;
      yield* this.#warnOfHistory();
      const compaction = stored.context.compaction ?? rested;
      yield { type: 'turn-end', ...route.answeredBy, ...outcome, compaction, turn };
      yield* this.exchange('giveOut');
    } catch (thrown) {
      if (!(thrown instanceof TurnFailure)) throw thrown;
      await this.#keepOrTakeBack(thrown.kept, stored.turn);
      throw yield* route.failure(thrown.reason);
    }
  }

  async #keepOrTakeBack(isKept: boolean, turn: number): Promise<void> {
    if (isKept) this.#failed = null;
    else await uninterrupted(() => this.takeBack(turn));
  }

  /** Ends a wait of the running turn in favour of the next server. Returns false if there is none. */
  skipWait(): boolean {
    return this.#patience?.skip() ?? false;
  }

  /** The server of the running turn, or of the next. */
  get #target(): Target {
    return this.#route?.target ?? this.#turnSettings.target;
  }

  /** Brings everything into view that fits. It stays there until the next rest. */
  async *#bringAll(content: readonly Part[], signal: AbortSignal): AsyncGenerator<ChatEvent, null> {
    const { history } = this.#deps;
    const context = await this.context(null, this.#skills.active);
    const { block } = await context.whole(estimateParts(content), signal);
    if (block === null) return null;
    const write: WriteBlock = async function* () {
      yield* [];
      return block;
    };
    for await (const event of history.compact(null, write, 'keep', signal)) if (event.type === 'notice') yield event;
    yield { type: 'notice', level: 'info', text: compactionLine(block) };
    return null;
  }

  /** Lets messages leave the view if the user comes back after a pause. */
  async *#rest(signal: AbortSignal): AsyncGenerator<ChatEvent, CompactionReport | null> {
    const rest = restBefore(this.#deps, this.#turnSettings.target);
    if (rest === null) return null;
    return yield* (await this.context(null, this.#skills.active)).rest(rest, signal);
  }

  async #unsummarised(upcoming: boolean): Promise<SummaryToWrite | null> {
    const { history } = this.#deps;
    const rest = nextRest(this.#deps, this.#turnSettings.target);
    const isOpen = upcoming || stateOf(newestBlock(withoutWhole(history.entries))).covered !== null;
    if (rest === null || !history.isKept || !isOpen) return null;
    const context = await this.context(null, this.#skills.active);
    return await context.unsummarised(rest, upcoming, new AbortController().signal);
  }

  /** Runs a turn that is not stored, and in which no tool is run. */
  async *unkept(text: string, tools: readonly ToolSpec[], signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const provider = await this.#turnSettings.target.connect(signal);
    yield* askAboutModel(this.#turnSettings.target, tools.length > 0, signal);
    yield* this.#settle(signal);
    const context = await this.context(null, this.#skills.active, { tools: () => tools });
    this.#last = context;
    const question: NewMessage = { role: 'user', content: [{ type: 'text', text }], cwd: this.#deps.cwd() };
    const own: OwnDeps = {
      request: (reason) => this.#fitted(context, context.prepare(reason, [question], signal), signal),
      isCurrent: () => this.#deps.history.isCurrent(context.edition),
      append: async (messages) => messages.map((message) => ({ ...message, id: 0, turn: 0, at: '' })),
    };
    try {
      const { kept: _, ...outcome } = yield* this.#run(provider, { ...own, maxRounds: 0 }, signal);
      const { compaction } = context;
      yield { type: 'turn-end', provider: this.#turnSettings.target.provider, ...outcome, compaction, turn: null };
    } catch (thrown) {
      throw thrown instanceof TurnFailure ? thrown.reason : thrown;
    }
  }

  /** The context for the running turn, or between turns. */
  async context(
    running: number | null,
    active: readonly string[],
    own: Partial<Pick<ContextDeps, 'tools' | 'tool_choice' | 'schema'>> = {},
  ): Promise<Context> {
    const kept = { shownWarnings: this.#shownWarnings, overhead: this.#overhead, ahead: this.ahead };
    const { history, cache, settings, models, tools } = this.#deps;
    const target = this.#target;
    const given = {
      ...settings,
      ...this.#turnSettings,
      target,
      history,
      cache,
      skills: await this.#skills.library(),
      standing: await this.#deps.standing.read(),
      tools: () => tools.specs,
      toolEffects: tools.effects,
      ...own,
      writers: () => models.writers(target),
    };
    return new Context({ ...given, ...kept }, running, active);
  }

  /** What the next request will consist of, without the user's message. */
  async nextView(signal: AbortSignal): Promise<NextView> {
    const { target } = this.#turnSettings;
    const context = await this.context(null, this.#skills.active);
    const view = await context.viewAfter(restBefore(this.#deps, target), signal);
    return nextViewOf(await context.report(view, signal), view, target);
  }

  /** What the last request consisted of; null before the first one. */
  async sentView(signal: AbortSignal): Promise<ViewReport | null> {
    return this.#last && (await this.#last.report(null, signal));
  }

  /** Undoes a turn, and the given later ones. */
  async takeBack(turn: number, later: readonly number[] = []): Promise<void> {
    this.ahead.drop();
    this.#skills.takeBack(turn);
    await this.#deps.history.undo(turn, later);
  }

  async #upcomingCompaction(): Promise<UpcomingCompaction | null> {
    if (!this.#deps.history.isKept) return null;
    const context = await this.context(null, this.#skills.active);
    const found = await context.upcomingCompaction(new AbortController().signal);
    // A turn that is not stored leaves nothing on disk.
    const cache = { get: this.#deps.cache.get, put: async () => undefined };
    return found && { ...found, deps: { ...found.deps, cache } };
  }

  #fitted(
    context: Context,
    prepared: AsyncGenerator<ChatEvent, ChatRequest>,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, ChatRequest> {
    const { images, memory } = this.#target;
    const limits = memory.facts.takes?.images === false ? null : (images ?? null);
    const { history, cache: stored } = this.#deps;
    const put: TextCache['put'] = (key, text) => storedWhile(stored, history, context.edition).put(key, text);
    const cache = history.isKept ? { get: stored.get, put } : null;
    return fitImages(prepared, { limits, cache, made: this.#smallImages }, signal);
  }

  #run(provider: Provider, own: OwnDeps, signal: AbortSignal): ReturnType<typeof runTurn> {
    const { history, cwd, saveImage, tools } = this.#deps;
    const { model, api_base, server, memory } = this.#target;
    const { isCurrent, append, attempts, ...given } = own;
    const tried = this.#route?.isTrial ? { attempts: 1 } : attempts === undefined ? {} : { attempts };
    const deps: TurnDeps = {
      asked: { provider, model, api_base, server, memory, ...tried },
      log: { isCurrent, append, cwd, undisturbed: (work) => history.undisturbed(work) },
      keepImage: (drawing) => keepImage(drawing, history, saveImage),
      keepFiles: (files) => keptFiles(files, history),
      tools: tools.runner,
      maxRounds: tools.maxRounds,
      ...given,
    };
    return runTurn(deps, signal);
  }

  /** Takes in what other machines have said, or gives them what was said here. */
  async *exchange(direction: 'takeIn' | 'giveOut'): AsyncGenerator<ChatEvent> {
    if (this.#deps.machines !== undefined)
      yield* exchangeEvents(await this.#deps.machines[direction](), this.#deps.history.now());
  }

  async *#settle(signal: AbortSignal): AsyncGenerator<ChatEvent> {
    for (const text of await this.#deps.standing.settle(signal)) yield { type: 'notice', level: 'warning', text };
  }

  /** Shows new notices of the history: the file may be damaged, and repaired, at any time. */
  *#warnOfHistory(): Generator<ChatEvent> {
    for (const text of this.#deps.history.takeNotices()) yield { type: 'notice', level: 'warning', text };
  }
}
