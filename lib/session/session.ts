import type { ChatEvent, CompactionReport } from '../chat/event.js';
import { type NewMessage, type Part, textOf, typedText } from '../chat/message.js';
import type { ChatRequest, ToolSpec } from '../chat/request.js';
import type { ThinkingLevel } from '../chat/thinking-level.js';
import type { WebMode } from '../chat/web-mode.js';
import type { Preview } from '../compaction/preview.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import type { Provider } from '../providers/common/provider.js';
import type { Recall } from '../recall/recall.js';
import type { SkillLibrary } from '../skills/common/skill.js';
import { askAboutModel } from './ask-about-model.js';
import { type CompactionOrder, Context, type ContextDeps } from './context.js';
import type { SessionDeps, Target, UserInput } from './deps.js';
import { fitImages, type ImageFitting } from './images/fit-images.js';
import { newestTurn, userContentOf } from './newest-turn.js';
import { type Status, statusOf } from './session-status.js';
import { SkillState } from './skill-state.js';
import { runTurn, type TurnDeps, TurnFailure } from './turn.js';

/** What a turn has of its own. */
type OwnDeps = Pick<TurnDeps, 'request' | 'append'> & Partial<Pick<TurnDeps, 'maxRounds'>>;

/** One conversation: what the user can do with it. Whatever talks to a model yields what happens; everything throws `HiError`s the reader can act on. */
export class Session {
  readonly #deps: SessionDeps;
  #target: Target;
  #web: WebMode;
  #thinking: ThinkingLevel | null;
  readonly #skills: SkillState;
  readonly #shownWarnings = new Set<string>();
  readonly #overhead: ContextDeps['overhead'] = { last: null };
  readonly #smallImages: ImageFitting['made'] = new Map();
  /** What was asked in a turn of which nothing was kept, for `retry`. */
  #failed: readonly Part[] | null = null;

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#target = deps.target;
    this.#web = deps.web;
    this.#thinking = deps.thinking;
    this.#skills = new SkillState(deps.history, (target) => deps.skills(target));
  }

  get target(): Target {
    return this.#target;
  }

  /** Whether the model may search the web. */
  get web(): WebMode {
    return this.#web;
  }

  useWeb(mode: WebMode): void {
    this.#web = mode;
  }

  /** How hard the model should think; null leaves it to the vendor. */
  get thinking(): ThinkingLevel | null {
    return this.#thinking;
  }

  useThinking(level: ThinkingLevel | null): void {
    this.#thinking = level;
  }

  get history(): HistoryStore {
    return this.#deps.history;
  }

  /**
   * One turn, by another model if one is named. Ends with `turn-end`, also when it was interrupted. Throws the provider's error; what was shown of the
   * answer is then kept.
   */
  async *send(input: UserInput, signal: AbortSignal, model: string | null = null): AsyncGenerator<ChatEvent> {
    const content: Part[] = [];
    for (const { kind, mime, bytes, name } of input.attachments) {
      content.push({ type: kind, mime, sha256: await this.history.attach(bytes), bytes: bytes.length, name });
    }
    for (const text of [...input.texts, input.text]) if (text !== '') content.push({ type: 'text', text });
    if (model === null) yield* this.#turn(content, signal);
    else yield* this.#turnBy(await this.#deps.find(model, signal), content, signal);
  }

  /** The last turn once more, by another model if one is named; the turn it replaces is taken out of the view. */
  async *retry(model: string | null, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const target = model === null ? this.#target : await this.#deps.find(model, signal);
    await this.history.refresh();
    const content = this.#failed ?? userContentOf(this.history, this.history.crashedTurn ?? newestTurn(this.history));
    if (content === null)
      throw new HiError('usage', 'There is no message to retry.', { hint: 'Send a message first.' });
    const replaced = this.#failed === null && this.history.crashedTurn === null ? newestTurn(this.history) : null;
    if (replaced !== null) await this.#takeBack(replaced);
    yield* this.#turnBy(target, content, signal);
  }

  async *#turnBy(target: Target, content: readonly Part[], signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const usual = this.#target;
    this.#target = target;
    try {
      yield* this.#turn(content, signal);
    } finally {
      this.#target = usual;
    }
  }

  /** Takes the last turn out of the view and returns what the user had said. */
  async undo(): Promise<string> {
    await this.history.refresh();
    const turn = newestTurn(this.history);
    const content = userContentOf(this.history, turn);
    if (turn === null || content === null) throw new HiError('usage', 'There is no turn to undo.');
    await this.#takeBack(turn);
    return typedText(content);
  }

  /** What the user said last, null when nothing was said yet. */
  lastInput(): string | null {
    const content = this.#failed ?? userContentOf(this.history, newestTurn(this.history));
    return content === null ? null : typedText(content);
  }

  /** An answer in full context of which nothing is kept. */
  async *aside(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    yield* this.#unkept(text, [], signal);
  }

  /** A request as a turn sends it, with the tools, of which nothing is kept and no tool is run. */
  async *tryOut(text: string, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    yield* this.#unkept(text, this.#deps.toolSpecs, signal);
  }

  async *#unkept(text: string, tools: readonly ToolSpec[], signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const provider = await this.#target.connect(signal);
    yield* askAboutModel(this.#target, tools.length > 0, signal);
    const context = await this.#context(null, this.activeSkills, tools);
    const question: NewMessage = { role: 'user', content: [{ type: 'text', text }], cwd: this.#deps.cwd() };
    const own: OwnDeps = {
      request: (reason) => this.#fitted(context.prepare(reason, [question], signal)),
      append: async () => [],
    };
    try {
      const outcome = yield* this.#run(provider, { ...own, maxRounds: 0 }, signal);
      const { compaction } = context;
      yield { type: 'turn-end', provider: this.#target.provider, ...outcome, compaction, turn: null };
    } catch (thrown) {
      throw thrown instanceof TurnFailure ? thrown.reason : thrown;
    }
  }

  /** Adds what a local command printed to the conversation, without asking the model. */
  async note(text: string): Promise<void> {
    await this.history.note({ role: 'user', content: [{ type: 'text', text }], cwd: this.#deps.cwd() });
  }

  /** Compacts by hand, below the trigger too. Returns what it did, null when there was nothing to do. */
  async *compact(
    order: Omit<CompactionOrder, 'reason'>,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, CompactionReport | null> {
    await this.#target.ask?.(signal);
    await this.history.refresh();
    const context = await this.#context(null, this.activeSkills);
    return yield* context.compact({ ...order, reason: 'manual' }, signal);
  }

  /** What `compact` would do, without asking any model; null when there is nothing to compact. */
  async previewCompaction(order: Omit<CompactionOrder, 'reason'>, signal: AbortSignal): Promise<Preview | null> {
    await this.history.refresh();
    return await (await this.#context(null, this.activeSkills)).preview({ ...order, reason: 'manual' }, signal);
  }

  /** Clears the conversation; a copy is kept for `undoReset` unless `purge`. */
  async reset(options: { readonly purge: boolean }): Promise<void> {
    await this.history.reset(options);
    this.#failed = null;
  }

  /** Brings back what the last reset cleared, and puts aside what was said since. */
  async undoReset(): Promise<void> {
    await this.history.undoReset();
    this.#failed = null;
  }

  /** Answers with another model from now on. */
  async useModel(name: string, signal: AbortSignal): Promise<void> {
    this.#target = await this.#deps.find(name, signal);
  }

  /** The skills as they were found at the start. */
  skills(): Promise<SkillLibrary> {
    return this.#skills.library(this.#target);
  }

  /** The skills whose text goes with the next request unless it changes them. */
  get activeSkills(): readonly string[] {
    return this.#skills.active;
  }

  /** What finds anything that was ever said. Nothing of it is loaded before. */
  async finder(): Promise<Recall> {
    return await this.#deps.finder();
  }

  /** The tools the model may call. */
  get toolSpecs(): readonly ToolSpec[] {
    return this.#deps.toolSpecs;
  }

  /** Loads a skill with the next message and keeps it. */
  pinSkill(name: string): void {
    this.#skills.override({ pin: [name], drop: [] });
  }

  /** Drops a skill with the next message. */
  dropSkill(name: string): void {
    this.#skills.override({ pin: [], drop: [name] });
  }

  /** The text of a skill and why it is in or out. Throws a `HiError` naming the nearest skill. */
  async explainSkill(name: string): Promise<string> {
    return await this.#skills.explain(name, this.#target);
  }

  /** How long the conversation is and how full the window. */
  async status(signal: AbortSignal): Promise<Status> {
    await this.history.refresh();
    const measured = await (await this.#context(null, this.activeSkills)).measure(signal);
    return statusOf(this.history, measured, this.#target.context_window);
  }

  async *#turn(content: readonly Part[], signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { history, cwd, ephemeral } = this.#deps;
    const provider = await this.#target.connect(signal);
    yield* askAboutModel(this.#target, this.toolSpecs.length > 0, signal);
    await history.refresh();
    yield* this.#warnOfHistory();
    const selection = yield* this.#skills.choose(textOf(content), this.#target, signal);
    this.#failed = content;
    const user = await history.begin({ role: 'user', content, cwd: cwd(), skills: selection.record });
    this.#skills.recorded();
    yield* this.#warnOfHistory();
    const { loaded, dropped } = selection;
    if (loaded.length > 0 || dropped.length > 0) yield { type: 'skills', loaded, dropped };
    const context = await this.#context(user.id, selection.record.active);
    const own: OwnDeps = {
      request: (reason) => this.#fitted(context.prepare(reason, [], signal)),
      append: (messages) => {
        for (const { usage } of messages) if (usage !== undefined) context.learnRatio(usage);
        return history.append(user.turn, messages);
      },
    };
    try {
      const outcome = yield* this.#run(provider, own, signal);
      this.#failed = null;
      const turn = ephemeral ? null : user.turn;
      yield* this.#warnOfHistory();
      yield { type: 'turn-end', provider: provider.name, ...outcome, compaction: context.compaction, turn };
    } catch (thrown) {
      if (!(thrown instanceof TurnFailure)) throw thrown;
      if (thrown.kept) this.#failed = null;
      else await this.#takeBack(user.turn);
      throw thrown.reason;
    }
  }

  #fitted(prepared: AsyncGenerator<ChatEvent, ChatRequest>): AsyncGenerator<ChatEvent, ChatRequest> {
    const { images, memory } = this.#target;
    const limits = memory.facts.takes?.images === false ? null : (images ?? null);
    const cache = this.#deps.ephemeral ? null : this.#deps.cache;
    return fitImages(prepared, { limits, cache, made: this.#smallImages });
  }

  #run(provider: Provider, own: OwnDeps, signal: AbortSignal): ReturnType<typeof runTurn> {
    const { maxRounds, cwd, tools } = this.#deps;
    const { model, memory, spent } = this.#target;
    const keepImage: TurnDeps['keepImage'] = async (drawing) =>
      (await import('./keep-image.js')).keepImage(drawing, this.history, this.#deps.savePicture);
    return runTurn({ provider, model, memory, spent, tools, maxRounds, cwd, keepImage, ...own }, signal);
  }

  async #context(running: number | null, active: readonly string[], tools = this.#deps.toolSpecs): Promise<Context> {
    const kept = { shownWarnings: this.#shownWarnings, overhead: this.#overhead };
    const loaded = { skills: await this.skills(), writers: this.#deps.writers(this.#target) };
    const given = { tools, web: this.#web, thinking: this.#thinking, target: this.#target };
    return new Context({ ...this.#deps, ...given, ...loaded, ...kept }, running, active);
  }

  async #takeBack(turn: number): Promise<void> {
    this.#skills.takeBack(turn);
    await this.history.undo(turn);
  }

  /** Shows the notices of the history that are new: the file may be damaged, and repaired, at any time. */
  *#warnOfHistory(): Generator<ChatEvent> {
    for (const text of this.history.takeNotices()) yield { type: 'notice', level: 'warning', text };
  }
}
