import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { citedIn } from '../../lib/chat/marked-text.js';
import { type Message, textOf } from '../../lib/chat/message.js';
import type { ChatRequest, TextCache } from '../../lib/chat/request.js';
import { HiError } from '../../lib/errors.js';
import type { HistoryStore } from '../../lib/history/store.js';
import { redo } from '../../lib/session/past-turns.js';
import type { Session } from '../../lib/session/session.js';
import { view } from '../../lib/view/view.js';
import { memoryCache } from '../support/compaction.js';
import { archived, openIn, quickFolder, unzstd } from '../support/history.js';
import fc, { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';
import { drain, type Script, type Stage, stage } from '../support/session.js';
import { scripted } from '../support/summarisers.js';

const WINDOW = 4000;
const SETTINGS = {
  strategy: 'summary',
  trigger_ratio: 0.8,
  max_input_tokens: null,
  keep_recent: 4,
  keep_ratio: 0.5,
  target_ratio: 0.5,
  fallback_keep: 6,
  timeout_ms: 10_000,
  idle_timeout_ms: 10_000,
  archive: 'keep',
  block_role: 'system',
} as const;

/** How often each is done, among the others. */
const WEIGHTS = {
  ...{ say: 8, grow: 2, both: 2, idle: 2, compact: 3, uncompact: 3, undo: 2, rewind: 1, redo: 3, pin: 3, unpin: 1 },
  ...{ off: 1, on: 2, reset: 1, unreset: 1, restart: 1 },
};
type Deed = keyof typeof WEIGHTS | 'night';
const NAMES = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];

/** What often comes one after another. */
const PHRASES: readonly (readonly Deed[])[] = [
  ['grow', 'compact', 'uncompact'],
  ['grow', 'compact', 'say', 'compact', 'uncompact', 'uncompact'],
  ['undo', 'redo'],
  ['grow', 'undo', 'compact', 'redo'],
  ['pin', 'undo', 'compact', 'redo', 'grow', 'compact'],
  ['rewind', 'undo', 'redo', 'redo'],
  ['off', 'say', 'pin', 'compact', 'undo', 'redo', 'on'],
  ['grow', 'idle', 'grow'],
];

/** What comes one after another where a night lies between. */
const NIGHTS: readonly (readonly Deed[])[] = [
  ['grow', 'night', 'say'],
  ['grow', 'night', 'say', 'uncompact', 'say', 'night', 'both'],
  ['pin', 'grow', 'night', 'grow', 'undo', 'night', 'redo', 'say', 'compact', 'uncompact'],
];

/** What one of two processes does; `size` is that of what it says, or how far it goes back. */
const step = (deed: fc.Arbitrary<Deed>) => fc.record({ deed, who: fc.nat(1), size: fc.nat(5) });
const single = step(fc.oneof(...NAMES.map((name) => ({ weight: WEIGHTS[name], arbitrary: fc.constant(name) }))));
const phraseOf = (names: readonly Deed[]) => fc.tuple(...names.map((name) => step(fc.constant(name))));
const phrase = fc.constantFrom(...PHRASES).chain(phraseOf);
const nights = fc
  .array(fc.constantFrom(...NIGHTS, ...PHRASES.filter((names) => !names.includes('off'))).chain(phraseOf), {
    minLength: 3,
    maxLength: 6,
  })
  .map((steps) => steps.flat());
const deeds = fc
  .array(fc.oneof({ weight: 3, arbitrary: single.map((one) => [one]) }, { weight: 2, arbitrary: phrase }), {
    minLength: 5,
    maxLength: 20,
    size: 'max',
  })
  .map((steps) => steps.flat());

/** It names every mark it is shown, with its id and one that does not exist, and half of what it wrote before. */
const writer = () =>
  scripted(({ user }) => {
    const shown = [...user.matchAll(/id="(\d+)">\n((?:unheard|mark)-\d+)/g)].map(
      ([, id, mark]) => `On ${mark} [#${id} #987654].`,
    );
    const before = /<earlier-summary>\n([\s\S]*?)\n<\/earlier-summary>/.exec(user)?.[1]?.split('\n') ?? [];
    return ['They talked.', ...before.filter((_, index) => index % 2 === 1), ...shown].slice(0, 12).join('\n');
  });

const answering: Script = async function* (request) {
  const [mark = 'none'] = /(?:unheard|mark)-\d+/.exec(textOf(request.messages.at(-1)?.content ?? [])) ?? [];
  const text = `Answer to ${mark}. ${prose(100, request.messages.length)}`;
  yield { type: 'text', text };
  yield { type: 'part', part: { type: 'text', text } };
  yield { type: 'end', stop_reason: 'end', usage: null };
};

/** One process. */
interface Process {
  readonly set: Stage;
  readonly store: HistoryStore;
  readonly session: Session;
}

const HOUR = 3_600_000;
const RESTS = { rest: { cache_life: HOUR / 12, after: HOUR } };

async function start(folder: string, now: () => Date, cache: TextCache): Promise<Process> {
  const store = await openIn(folder, { now });
  const deps = { history: store, compaction: SETTINGS, writers: () => [writer()], cache };
  const set = await stage([answering], deps, WINDOW, undefined, undefined, RESTS);
  return { set, store, session: set.session };
}

async function end({ set, store }: Process): Promise<void> {
  set.session.ahead.drop();
  set.session.restSummaries.stop();
  await store.close();
  await set.close();
}

const signal = new AbortController().signal;
const idsOf = (messages: readonly Message[]): readonly number[] => messages.map(({ id }) => id);
const saidIn = ({ id, role, content }: Message) => ({ id, role, text: textOf(content) });
const sentIn = (request: ChatRequest | undefined): string =>
  JSON.stringify([...(request?.system ?? []), ...(request?.messages ?? [])]).slice(0, -1);

/** Two processes on one conversation, and what is known of it without them. */
class World {
  readonly folder = quickFolder();
  readonly #cache = memoryCache();
  #time = Date.UTC(2026, 10, 22, 10);
  readonly #now = (): Date => new Date(this.#time);
  readonly #processes: Process[] = [];
  #marks = 0;
  /** Whether anything was said off the record. */
  #isUnheard = false;
  /** What was said on the record since the last reset, and before it. */
  #said: string[] = [];
  #before: string[] | null = null;
  /** The texts that are pinned, with their turns, and the turns that are undone. */
  #pins = new Map<number, { readonly turn: number; readonly text: string }>();
  readonly #undone = new Set<number>();
  /** The views before each undo that may be taken back. */
  #undos: { readonly turns: readonly number[]; readonly messages: readonly Message[] }[] = [];
  /** Whether anything was compacted, or brought back, since the first of them. */
  #hasCompacted = false;
  /** What was in view before the last compaction, while nothing else happened. */
  #uncompacted: readonly Message[] | null = null;
  /** The last request of each process, while only messages were added. */
  readonly #last: (string | null)[] = [null, null];

  async open(): Promise<void> {
    for (const _ of [0, 1]) this.#processes.push(await start(this.folder, this.#now, this.#cache));
    for (let turn = 0; turn < 6; turn += 1) await this.do('say', turn % 2, 3);
  }

  async close(): Promise<void> {
    for (const process of this.#processes) await end(process);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async do(deed: Deed, who: number, size: number): Promise<void> {
    const { session, store } = this.#at(who);
    const [uncompacted, isOff] = [this.#uncompacted, !store.isKept];
    const bytes = isOff ? this.#bytes() : null;
    if (deed !== 'uncompact') this.#uncompacted = null;
    if (deed === 'compact' || deed === 'uncompact') this.#hasCompacted = true;
    if (!['say', 'grow', 'idle', 'night'].includes(deed)) this.#disturb();
    try {
      await this.#try(deed, who, size, uncompacted);
    } catch (thrown) {
      // What cannot be done is refused, and nothing else happens.
      if (!(thrown instanceof HiError && thrown.code === 'usage')) throw thrown;
    }
    // Off the record nothing is written but by others.
    if (bytes !== null && deed !== 'both' && deed !== 'on' && deed !== 'restart')
      expect(this.#bytes() === bytes).toBe(true);
    if (store === this.#at(who).store && !session.history.isKept) return;
    await this.check();
  }

  async #try(deed: Deed, who: number, size: number, uncompacted: readonly Message[] | null): Promise<void> {
    const { session, store } = this.#at(who);
    switch (deed) {
      case 'say':
        return await this.#say(who, size);
      case 'grow':
        for (let more = 0; more < 3; more += 1) await this.#say(who, 4 + (more % 2));
        return;
      case 'both':
        await Promise.all([this.#say(0, size), this.#say(1, 5 - size)]);
        return this.#disturb();
      case 'idle':
        await session.ahead.begin();
        return await new Promise((resolve) => setTimeout(resolve, 5));
      case 'compact': {
        await store.refresh();
        const before = store.view(null).messages;
        await drain(session.compact({ focus: null, strategy: null }, signal));
        if (store.view(null).messages.length < before.length && store.isKept) this.#uncompacted = before;
        return;
      }
      case 'uncompact': {
        const { messages } = await session.uncompact(signal);
        expect(store.view(null).messages).toHaveLength(messages);
        if (uncompacted !== null && store.isKept) expect(store.view(null).messages).toEqual(uncompacted);
        this.#uncompacted = null;
        return;
      }
      case 'undo':
        return await this.#undo(who, async () => void (await session.undo()));
      case 'rewind': {
        await store.refresh();
        const begun = store.view(null).messages.filter(({ id, turn }) => id === turn);
        const turn = begun.at(-1 - (size >> 1))?.id;
        return turn === undefined ? undefined : await this.#undo(who, async () => void (await session.rewind(turn)));
      }
      case 'redo':
        return await this.#redo(who);
      case 'pin': {
        const { message } = await session.pins.pin({ place: 1 + size });
        if (store.isKept) this.#pins.set(message.id, { turn: message.turn, text: textOf(message.content) });
        return;
      }
      case 'unpin': {
        const { id } = await session.pins.unpin({ place: 1 });
        if (store.isKept) this.#pins.delete(id);
        return;
      }
      case 'off':
        return await session.goOffRecord();
      case 'on':
        await session.goOnRecord();
        return;
      case 'reset':
        if (!store.isKept || !this.#at(1 - who).store.isKept || this.#said.length === 0) return;
        await session.reset({ purge: false });
        this.#before = this.#said;
        return this.#forget([]);
      case 'unreset':
        if (!store.isKept || !this.#at(1 - who).store.isKept || this.#before === null) return;
        if (this.#said.length > 0) return;
        await session.undoReset();
        this.#forget(this.#before);
        this.#before = null;
        return;
      case 'restart':
        await end(this.#at(who));
        this.#processes[who] = await start(this.folder, this.#now, this.#cache);
        return;
      case 'night':
        session.restSummaries.begin(size > 2);
        await session.restSummaries.settle(10_000);
        this.#time += 10 * HOUR;
        return;
    }
  }

  async #say(who: number, size: number): Promise<void> {
    const { session, store, set } = this.#at(who);
    this.#marks += 1;
    this.#isUnheard ||= !store.isKept;
    const text = `${!store.isKept ? 'unheard' : 'mark'}-${this.#marks} ${prose(size ** 4 * 6, this.#marks)}`;
    const events = await drain(session.send({ text, texts: [], attachments: [] }, signal));
    const compacted = events.some(({ type }) => type === 'compact');
    if (compacted) this.#disturb();
    const sent = sentIn(set.requests.at(-1));
    const before = this.#last[who] ?? null;
    if (before !== null && store.isKept) expect(sent.startsWith(before)).toBe(true);
    this.#last[who] = compacted || !store.isKept ? null : sent;
    if (!store.isKept) return;
    this.#said.push(text, `Answer to mark-${text.split(' ')[0]?.slice(5)}.`);
    this.#undos = [];
  }

  async #undo(who: number, act: () => Promise<void>): Promise<void> {
    const { store } = this.#at(who);
    await store.refresh();
    const before = store.view(null).messages;
    await act();
    if (!store.isKept) return;
    const left = new Set(store.view(null).messages.map(({ turn }) => turn));
    const turns = [...new Set(before.map(({ turn }) => turn))].filter((turn) => !left.has(turn));
    for (const turn of turns) this.#undone.add(turn);
    if (this.#undos.length === 0) this.#hasCompacted = false;
    this.#undos.push({ turns, messages: before });
  }

  /** What is redone is in view again, just as it was where nothing was compacted since. */
  async #redo(who: number): Promise<void> {
    const { session, store } = this.#at(who);
    const turns = await redo(session.history);
    if (!store.isKept) return;
    for (const turn of turns) this.#undone.delete(turn);
    const undo = this.#undos.pop();
    const now = store.view(null).messages;
    if (undo === undefined) return;
    expect(turns).toEqual(expect.arrayContaining([...undo.turns]));
    const ids = new Set(idsOf(now));
    const before = new Set(idsOf(undo.messages));
    // A compaction may have gone by the oldest of them meanwhile.
    const kept = undo.messages.filter(({ id }) => ids.has(id));
    expect(now.filter(({ id }) => before.has(id)).map(saidIn)).toEqual(kept.map(saidIn));
    if (!this.#hasCompacted) expect(kept).toHaveLength(undo.messages.length);
    expect(kept.some(({ turn }) => turns.includes(turn))).toBe(true);
  }

  /** What holds at any time, judged by what is on disk. */
  async check(): Promise<void> {
    const fresh = await openIn(this.folder);
    const entries: readonly Entry[] = await archived(fresh);
    const messages = entries.filter(isMessage);
    const now = fresh.view(null);
    // The view is a function of the log: all of it, what a start reads, and what each process has.
    expect(view(entries, null)).toEqual(now);
    for (const { store } of this.#processes) {
      if (!store.isKept) continue;
      await store.refresh();
      expect(store.view(null)).toEqual(now);
    }
    await fresh.close();
    // Nothing is lost, and nothing of what was said off the record is there.
    const texts = messages.map(({ content }) => textOf(content));
    expect([...this.#said].filter((text) => !texts.some((one) => one.startsWith(text)))).toEqual([]);
    expect(texts).toHaveLength(this.#said.length);
    if (this.#isUnheard) expect(/unheard-\d+/.exec(this.#onDisk())?.[0]).toBeUndefined();
    // What is pinned is in view.
    const sent = now.messages.map(({ content }) => textOf(content));
    for (const { turn, text } of this.#pins.values()) if (!this.#undone.has(turn)) expect(sent).toContain(text);
    // No summary names a message that there is not.
    const ids = new Set(idsOf(messages));
    expect(citedIn(now.block?.content ?? '').filter((id) => !ids.has(id))).toEqual([]);
  }

  #at(who: number): Process {
    const process = this.#processes[who];
    if (process === undefined) throw new Error('There are two processes.');
    return process;
  }

  #disturb(): void {
    this.#last.fill(null);
  }

  #forget(said: string[]): void {
    this.#said = said;
    this.#pins = new Map();
    this.#undone.clear();
    this.#undos = [];
  }

  #bytes(): string {
    const path = join(this.folder, 'history.json.zst');
    return existsSync(path) ? readFileSync(path, 'latin1') : '';
  }

  #onDisk(): string {
    const files = readdirSync(this.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    return files
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
      .map((bytes) => bytes.toString('latin1') + (unzstd(bytes) ?? ''))
      .join('\n');
  }
}

const keepsPromises = (lives: typeof deeds, count: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(lives, async (all) => {
      const world = new World();
      try {
        await world.open();
        for (const { deed, who, size } of all) await world.do(deed, who, size);
      } finally {
        await world.close();
      }
    }),
    { numRuns: cases(count) },
  );

it('keeps its promises whatever two processes do to one conversation', async () => {
  await keepsPromises(deeds, 5);
}, 1_200_000);

it('keeps them over nights, at which it rests', async () => {
  await keepsPromises(nights, 3);
}, 1_200_000);
