import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { undoneTurns } from '../../lib/chat/entry-list.js';
import type { Message, Part, Usage } from '../../lib/chat/message.js';
import { blockAfterArrival } from '../../lib/compaction/run-strategy.js';
import type { CompactionInput, CompactionSettings } from '../../lib/compaction/strategy.js';
import { pinnable } from '../../lib/view/block-state.js';
import { type Measure, measure } from '../../lib/view/measure.js';
import { totalCharacters } from '../../lib/view/size.js';
import { firstNeeded, type View, view } from '../../lib/view/view.js';
import { memoryCache, pass, SETTINGS } from './compaction.js';
import { Log } from './log.js';
import { FAULTS, ideal, type ScriptedModel } from './summarisers.js';

/** What happened at one step of a simulated conversation, for the specs to judge. */
export type Happening =
  | { readonly kind: 'request'; readonly view: View; readonly measure: Measure; readonly running: number }
  | {
      readonly kind: 'pass';
      readonly input: CompactionInput;
      readonly before: View;
      readonly after: View;
      readonly block: NewCompressBlock | null;
      readonly model: ScriptedModel;
      readonly works: boolean;
      readonly due: boolean;
    }
  | { readonly kind: 'disturbance' };

/** A conversation that goes on by the dice: the same seed gives the same one. */
export class Simulation {
  readonly log = new Log();
  readonly settings: CompactionSettings;
  readonly fixed: number;
  readonly cache = memoryCache();
  /** What is pinned now, by id. */
  readonly pinned = new Map<number, Message>();
  readonly #random: () => number;
  readonly #density: number;
  readonly #faulty: number;
  readonly #arrives: number;
  #elsewhere: number[] = [];
  #calls = 0;

  constructor(seed: number) {
    this.#random = mulberry(seed);
    const context_window = this.#pick([4000, 4000, 4000, 4000, 8000, 8000, 16_000, 32_000, 128_000]);
    this.settings = {
      ...SETTINGS,
      context_window,
      strategy: this.#pick(['summary', 'summary', 'summary', 'replace', 'truncate']),
      keep_recent: 1 + Math.floor(this.#random() * 12),
      keep_ratio: 0.25 + this.#random() / 2,
    };
    this.fixed = Math.floor(context_window * this.#pick([0, 0, 0.1, 0.3, this.#random()]));
    this.#density = this.#pick([0, 0.5, 1, 1, 2.5]);
    this.#faulty = this.#pick([0, 0, 0.3, 1]);
    this.#arrives = this.#pick([0, 0, 0.2, 0.6]);
  }

  async *run(turns: number): AsyncGenerator<Happening> {
    for (let turn = 0; turn < turns; turn++) {
      yield* this.#disturb();
      if (this.#random() < this.#arrives) yield* this.#makeRoom();
      const running = this.#ask();
      const rounds = this.#random() < 0.5 ? 0 : Math.floor(this.#random() * 6);
      for (let round = 0; round <= rounds; round++) {
        yield* this.#beforeRequest(running);
        if (this.#random() < this.#arrives) this.#arrive();
        yield this.#request(running);
        if (this.#random() < this.#arrives) this.#arrive();
        if (round < rounds) this.#work(running);
        else this.#answer(running);
      }
    }
  }

  /** What other processes, the user's second thoughts and a restart do to a conversation. */
  *#disturb(): Generator<Happening> {
    const dice = this.#random();
    if (dice < 0.1) {
      this.#elsewhere.push(this.log.user(this.#text()).id);
    } else if (dice < 0.2 && this.#elsewhere.length > 0) {
      const turn = this.#elsewhere.pop() ?? 0;
      this.log.message('assistant', [{ type: 'text', text: this.#text() }], { turn, stop_reason: 'end' });
      yield { kind: 'disturbance' };
    } else if (dice < 0.24) {
      const last = this.log.entries.findLast((entry) => !('type' in entry) && entry.turn === entry.id);
      if (last) this.log.undo(last.id);
      for (const { id, turn } of [...this.pinned.values()]) if (turn === last?.id) this.pinned.delete(id);
      yield { kind: 'disturbance' };
    } else if (dice < 0.27) {
      const first = firstNeeded(this.log.entries) ?? 0;
      const kept = this.log.reloaded().filter(({ id }) => id >= first);
      this.log.entries.splice(0, this.log.entries.length, ...kept);
    } else if (dice < 0.33) {
      this.#pin();
      yield { kind: 'disturbance' };
    } else if (dice < 0.34) {
      const [unpinned] = this.pinned.keys();
      if (unpinned !== undefined) this.log.mark({ type: 'unpin', messages: [unpinned] });
      if (unpinned !== undefined) this.pinned.delete(unpinned);
      yield { kind: 'disturbance' };
    } else if (dice < 0.38) {
      this.#redo();
      yield { kind: 'disturbance' };
    }
  }

  /**
   * Another process takes in turns of other machines: whole, behind everything, with their own calls and the size that
   * their windows had.
   */
  #arrive(): void {
    for (let left = 1 + Math.floor(this.#random() * 4); left > 0; left -= 1) {
      const from = this.#pick(['laptop', 'server']);
      const { id: turn } = this.log.arrived(this.#text(), from);
      const call = { call_id: `call-${Math.floor(this.#random() * 3)}`, name: 'write_file' } as const;
      if (this.#random() < 0.3) {
        const called: Part = { type: 'tool_call', ...call, args: { path: 'a.txt' } };
        this.log.message('assistant', [called], { turn, from, stop_reason: 'tool_calls' });
        this.log.message('tool', [{ type: 'tool_result', ...call, result: this.#text() }], { turn, from });
      }
      const usage = { input_tokens: 110_000, output_tokens: 5, cached_tokens: 0, context_tokens: 110_005 };
      const more = { turn, from, stop_reason: 'end', model: 'main', usage } as const;
      this.log.message('assistant', [{ type: 'text', text: this.#text() }], more);
    }
  }

  /** What was taken in before a turn, and what then leaves so that nobody waits for a summary of it. */
  *#makeRoom(): Generator<Happening> {
    this.#arrive();
    const { due, context_tokens } = this.measured(null);
    if (!due) return;
    const input = { entries: [...this.log.entries], running: null, fixed_tokens: this.fixed, context_tokens };
    this.log.block(blockAfterArrival({ ...input, settings: this.settings, reason: 'auto', focus: null }));
    yield { kind: 'disturbance' };
  }

  /** Takes the newest undo back, whatever came after it. */
  #redo(): void {
    const undone = [...undoneTurns(this.log.entries)];
    if (undone.length > 0) this.log.mark({ type: 'redo', turns: undone.slice(-1) });
  }

  /** Pins something that was said, as long as all pins take no more than a quarter of the window. */
  #pin(): void {
    const said = view(this.log.entries, null).messages.filter(({ role }) => role !== 'tool');
    const message = pinnable(this.#pick([...said, ...said.slice(0, 1), ...this.#first].slice(-50)));
    const all = totalCharacters([...this.pinned.values(), message]);
    if (message.content.length === 0 || all > this.settings.context_window) return;
    this.log.mark({ type: 'pin', message });
    this.pinned.set(message.id, message);
  }

  /** The first message, which is picked where nothing is in view. */
  get #first(): readonly Message[] {
    return [{ id: 1, turn: 1, at: '', role: 'user', cwd: '/', content: [] }];
  }

  async *#beforeRequest(running: number): AsyncGenerator<Happening> {
    const { due } = this.measured(running);
    const dice = this.#random();
    if (due) yield await this.#pass(running, 'auto', due);
    else if (dice < 0.02) yield await this.#pass(running, 'manual', due);
    else if (dice < 0.04) yield await this.#pass(running, 'overflow', due);
  }

  async #pass(running: number, reason: CompactionInput['reason'], due: boolean): Promise<Happening> {
    const works = this.#random() >= this.#faulty;
    const model = works ? ideal() : this.#pick(Object.values(FAULTS))();
    const input: CompactionInput = {
      entries: [...this.log.entries],
      running,
      fixed_tokens: this.fixed,
      context_tokens: this.measured(running).context_tokens,
      settings: this.settings,
      reason,
      focus: null,
    };
    const before = view(input.entries, running);
    const { block } = await pass(input, [model], this.cache);
    if (block) this.log.block(block);
    return { kind: 'pass', input, before, after: view(this.log.entries, running), block, model, works, due };
  }

  measured(running: number | null): Measure {
    return measure(view(this.log.entries, running), this.log.entries, this.fixed, this.settings, 'main');
  }

  #request(running: number): Happening {
    return { kind: 'request', view: view(this.log.entries, running), measure: this.measured(running), running };
  }

  #ask(): number {
    const message = this.log.user(this.#text());
    if (this.#random() < 0.1) this.#replaceLast({ ...message, content: [...message.content, image] });
    return message.id;
  }

  #work(turn: number): void {
    const count = 1 + Math.floor(this.#random() * 3);
    const calls = Array.from({ length: count }, () => `call-${this.#calls++}`);
    this.log.message(
      'assistant',
      [
        ...(this.#random() < 0.3 ? [{ type: 'text', text: this.#text() } satisfies Part] : []),
        ...calls.map(
          (call_id): Part => ({ type: 'tool_call', call_id, name: 'write_file', args: { path: `${call_id}.txt` } }),
        ),
      ],
      { turn, stop_reason: 'tool_calls', ...this.#usage(turn) },
    );
    const results = calls.map(
      (call_id): Part => ({ type: 'tool_result', call_id, name: 'write_file', result: this.#text(3) }),
    );
    if (this.#random() < 0.5) this.log.message('tool', results, { turn });
    else for (const result of results) this.log.message('tool', [result], { turn });
  }

  #answer(turn: number): void {
    const stop_reason = this.#pick(['end', 'end', 'interrupted', 'length'] as const);
    this.log.message('assistant', [{ type: 'text', text: this.#text() }], { turn, stop_reason, ...this.#usage(turn) });
  }

  #usage(turn: number): { readonly model: string; readonly usage?: Usage } {
    if (this.#density === 0 || this.#random() < 0.1) return { model: 'main' };
    const { estimated_tokens } = this.measured(turn);
    const input_tokens = Math.floor((this.fixed + estimated_tokens) * this.#density);
    return {
      model: this.#random() < 0.05 ? 'other' : 'main',
      usage: { input_tokens, output_tokens: 5, cached_tokens: 0, context_tokens: input_tokens + 5 },
    };
  }

  /** A text that begins with a mark of its own, so that it can be told whether anybody has seen it. */
  #text(factor = 1): string {
    const mark = `M${(this.log.entries.at(-1)?.id ?? 0) + 1}-${this.#calls}.`;
    const length = Math.floor(this.settings.context_window * 4 * 0.2 * factor * this.#random() ** 4);
    return `${mark} ${this.#pick(FILLERS).repeat(Math.ceil(length / 8))}`;
  }

  #replaceLast(message: Message): void {
    this.log.entries.splice(-1, 1, message);
  }

  #pick<Item>(items: readonly Item[]): Item {
    const found = items[Math.floor(this.#random() * items.length)];
    if (found === undefined) throw new Error('Nothing to pick from.');
    return found;
  }
}

const image: Part = { type: 'image', mime: 'image/png', sha256: 'ab'.repeat(32), bytes: 4_000_000 };

/** Eight UTF-16 units each. */
const FILLERS = ['plain wo', '天地玄黄宇宙洪荒', '🙂🙃🙂🙃', '</messag', '\nHuman: ', '<|end|> ', 'KEY-one '] as const;

/** A small random number generator with a seed (mulberry32). */
function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
