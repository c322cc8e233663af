import assert from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { ARRIVAL, type Entry, isCompressBlock } from '../../lib/chat/entry.js';
import type { Message, Part } from '../../lib/chat/message.js';
import { fallback } from '../../lib/compaction/truncate.js';
import { stateOf } from '../../lib/view/block-state.js';
import { leastLeft, realSize } from '../../lib/view/measure.js';
import { cutBefore, lastGroup, validCuts } from '../../lib/view/shorten.js';
import { estimateView, triggerOf } from '../../lib/view/size.js';
import { BLOCK_PREFIX, firstNeeded, newestBase, present, type View, view, viewFrom } from '../../lib/view/view.js';
import { NOTHING, pass } from '../support/compaction.js';
import fc, { cases } from '../support/properties.js';
import { type Happening, Simulation } from '../support/simulation.js';
import { scripted } from '../support/summarisers.js';

type Request = Extract<Happening, { kind: 'request' }>;
type Pass = Extract<Happening, { kind: 'pass' }>;

const RUNS = cases(80);
const idsOf = (messages: readonly Message[]): readonly number[] => messages.map(({ id }) => id);

describe('a conversation that is compacted again and again', () => {
  it(`keeps every promise in ${RUNS} generated conversations`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 8 }), async (seed, turns) => {
        const simulation = new Simulation(seed);
        const witness = new Witness(simulation);
        for await (const happening of simulation.run(turns)) {
          if (happening.kind === 'request') witness.request(happening);
          else if (happening.kind === 'pass') await witness.pass(happening);
          else witness.before = null;
        }
        witness.end();
      }),
      { numRuns: RUNS },
    );
  }, 120_000);
});

/**
 * No block: nobody was asked, or the user asked by hand, no summary was written, and there is room or nothing shorter
 * to send without one.
 */
function expectNothingToDo({ input, model }: Pass): void {
  if (model.asked.length === 0) return;
  assert.equal(input.reason, 'manual');
  const hasRoom = (input.context_tokens ?? 0) < triggerOf(input.settings);
  assert.ok(hasRoom || fallback(input).messages_compacted === 0);
}

/**
 * Watches a simulation and judges every step; with `assert`, for `expect` takes several times as long and this is
 * millions of comparisons.
 */
class Witness {
  before: Request | null = null;
  readonly #simulation: Simulation;
  readonly #seen = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  request(request: Request): void {
    expectPairs(request.view);
    expectNewest(request, this.#simulation.log.entries);
    expectPrefix(request.view);
    expectPinned(request.view, this.#simulation);
    this.#expectStablePrefix(request);
    this.#expectSameAfterReload(request);
    this.#expectWithinLimit(request);
    this.before = request;
  }

  async pass(event: Pass): Promise<void> {
    for (const { user } of event.model.asked) for (const mark of marksIn(user)) this.#seen.add(mark);
    expectFramed(event);
    if (event.block === null) {
      expectNothingToDo(event);
      return;
    }
    this.before = null;
    expectPairs(event.after);
    expectCoverage(event, this.#seen);
    expectGain(event);
    expectKept(event);
    expectFactsCarried(event);
    if (event.block.source === 'fallback') expectFallback(event);
    else await this.#expectIdempotent(event);
    if (event.block.source === 'model') await this.#expectCached(event);
    this.#expectNoThrash(event);
  }

  /** P14: between passes each request begins with the one before, byte for byte. */
  #expectStablePrefix({ view: now, running }: Request): void {
    if (this.before === null) return;
    const old = this.before.view.messages;
    if (this.before.running === running) assert.ok(now.messages.length >= old.length);
    for (const [index, message] of old.entries()) {
      const same = now.messages[index];
      if (same !== message) assert.equal(JSON.stringify(same), JSON.stringify(message));
    }
    assert.deepEqual(now.block, this.before.view.block);
  }

  /**
   * P16: what is read back from the disk, from the first entry that is needed, gives the same request and the same
   * numbers.
   */
  #expectSameAfterReload({ view: now, running, measure }: Request): void {
    const { log } = this.#simulation;
    const first = firstNeeded(log.entries) ?? 0;
    const opened = log.entries.filter(({ id }) => id >= first);
    assert.deepEqual(view(opened, running), now);
    assert.deepEqual(this.#simulation.measured(running), measure);
  }

  /** P8: a second pass without new messages does nothing and asks nobody. */
  async #expectIdempotent({ input }: Pass): Promise<void> {
    const model = scripted(() => 'asked again');
    const { context_tokens: _, ...rest } = input;
    const again = await pass({ ...rest, entries: this.#simulation.log.entries, reason: 'manual' }, [model]);
    assert.deepEqual(again, { block: null, events: [NOTHING] });
    assert.equal(model.asked.length, 0);
  }

  /** P10: what was summarised once costs no call again and gives the same text. */
  async #expectCached({ input, block, model: { context_window } }: Pass): Promise<void> {
    const model = scripted(() => 'asked again', { context_window });
    const again = await pass(input, [model], this.#simulation.cache);
    assert.equal(model.asked.length, 0);
    assert.equal(again.block?.source, 'cache');
    assert.equal(again.block.content, block?.content);
  }

  /** P12: a log that ends anywhere, as after a crash, gives a request that is whole. */
  end(): void {
    const { entries } = this.#simulation.log;
    for (let end = entries.length; end > 0; end -= 1 + Math.floor(end / 4)) {
      const cut = view(entries.slice(0, end), null);
      expectPairs(cut);
      expectPrefix(cut);
    }
  }

  /** P13: right after a pass none is due; after three failures nobody is asked. */
  #expectNoThrash({ input, model }: Pass): void {
    assert.equal(this.#simulation.measured(input.running).due, false);
    const tried = input.entries.filter((entry) => isCompressBlock(entry) && entry.strategy !== ARRIVAL);
    const failures = tried.slice(-3);
    const paused = failures.length === 3 && failures.every((entry) => 'source' in entry && entry.source === 'fallback');
    if (paused && input.reason !== 'manual') assert.equal(model.asked.length, 0);
  }

  /**
   * P15: no request reaches the limit in force, but where what cannot leave does so by itself, or what could is shorter
   * than any summary.
   */
  #expectWithinLimit({ view: now, measure: { context_tokens, estimated_tokens, trigger } }: Request): void {
    const { fixed } = this.#simulation;
    if (context_tokens < trigger || fixed >= trigger) return;
    const { ratio, hidden } = realSize(context_tokens - fixed, estimated_tokens);
    const least = fixed + hidden + leastLeft(now) * ratio;
    const older = estimateView(now) - leastLeft(now);
    assert.ok(least > 0.94 * trigger || older < 128);
  }
}

/** P1: every result has its call before it, every call its result after it, and no request begins with a result. */
function expectPairs({ messages }: View): void {
  const open = new Set<string>();
  for (const part of messages.flatMap<Part>(({ content }) => content)) {
    if (part.type === 'tool_call') open.add(part.call_id);
    if (part.type === 'tool_result') assert.ok(open.delete(part.call_id));
  }
  assert.equal(open.size, 0);
  assert.notEqual(messages[0]?.role, 'tool');
}

/** P4: the newest user message is sent word for word, and so is what the running turn has not read yet. */
function expectNewest({ view: now, running }: Request, entries: readonly Entry[]): void {
  const turn = entries.filter((entry): entry is Message => !('type' in entry) && entry.turn === running);
  const asked = turn.find(({ role }) => role === 'user');
  assert.ok(asked && now.messages.includes(asked));
  const group = turn.slice(lastGroup(turn));
  assert.deepEqual(now.messages.slice(-group.length), group);
}

/** P20: what is pinned is sent word for word, whatever was compacted. */
function expectPinned({ messages }: View, { pinned }: Simulation): void {
  for (const { id, content } of pinned.values()) {
    const sent = messages.find((message) => message.id === id);
    assert.ok(sent);
    for (const part of content) assert.ok(sent.content.some((one) => JSON.stringify(one) === JSON.stringify(part)));
  }
}

/** P6: one block at most, and it begins as promised. */
function expectPrefix(now: View): void {
  const { system } = present(now, 'system');
  assert.ok(system.length <= 1);
  for (const text of system) assert.ok(text.startsWith(BLOCK_PREFIX));
}

/** P19: nothing in the conversation closes the frame it is shown in. */
function expectFramed({ model }: Pass): void {
  for (const { user } of model.asked) {
    assert.equal(user.match(/<\/conversation\b/g)?.length, 1);
    assert.equal(user.includes('<|'), false);
    assert.equal(user.match(/<message\b/g)?.length, user.match(/<\/message\b/g)?.length);
  }
}

/** P7, P11: what leaves was shown to a summariser that succeeded, or waits behind a fallback for the next one. */
function expectCoverage({ input, block, after }: Pass, seen: ReadonlySet<string>): void {
  const basis = viewFrom(newestBase(input.entries), input.entries, input.running);
  const stays = new Set(idsOf(after.messages));
  const left = basis.messages.filter(({ id }) => !stays.has(id));
  if (block?.source === 'model' || block?.source === 'cache') {
    for (const message of left) for (const mark of marksIn(JSON.stringify(message.content))) assert.ok(seen.has(mark));
  } else if (block?.source === 'fallback') {
    const next = viewFrom(newestBase([...input.entries]), input.entries, input.running);
    assert.deepEqual(idsOf(next.messages), idsOf(basis.messages));
  } else if (input.settings.strategy !== 'truncate') assert.deepEqual(left, []);
}

/** P3: a pass makes the view smaller, and brings it below the trigger unless only what may not leave is left. */
function expectGain({ input, block, after }: Pass): void {
  if (block?.source === 'fallback') return;
  const basis = viewFrom(newestBase(input.entries), input.entries, input.running);
  assert.ok(estimateView(after) < estimateView(basis));
  assert.ok(block && block.tokens_after <= block.tokens_before);
  const least = after.messages.length - lastGroup(after.messages) + 1 + (after.pinned?.size ?? 0);
  if (after.messages.length > least && input.fixed_tokens < 0.7 * triggerOf(input.settings)) {
    assert.ok(input.fixed_tokens + estimateView(after) < triggerOf(input.settings));
  }
}

/** P5: the newest messages stay, as many as were asked for and what belongs to them, whenever they fit. */
function expectKept({ input, before, after, block }: Pass): void {
  const { strategy, keep_recent } = input.settings;
  if (strategy !== 'summary' || block?.source === 'fallback' || input.reason === 'overflow') return;
  const basis = viewFrom(newestBase(input.entries), input.entries, input.running);
  const wished = basis.messages.length - keep_recent;
  const recent = basis.messages.slice(cutBefore(validCuts(basis.messages), wished));
  const ratio = Math.max(1, ((input.context_tokens ?? 0) - input.fixed_tokens) / Math.max(1, estimateView(before)));
  const asked = basis.messages.filter(({ role }) => role === 'user').slice(-1);
  const pinned = basis.messages.filter(({ id }) => basis.pinned?.has(id));
  const size = estimateView({ block: null, messages: [...asked, ...pinned, ...recent] }) * Math.min(3, ratio);
  const extras = (basis.block?.content.length ?? 0) / 4;
  const hidden = realSize((input.context_tokens ?? 0) - input.fixed_tokens, estimateView(before)).hidden;
  if (input.fixed_tokens + hidden + size + extras + 1000 < 0.7 * triggerOf(input.settings)) {
    assert.deepEqual(idsOf(after.messages).slice(-recent.length), idsOf(recent));
  }
}

/**
 * P9: a fact that was once returned stays until it is declared outdated or, when there is no room, counted as
 * forgotten.
 */
function expectFactsCarried({ input, after }: Pass): void {
  const old = stateOf(newestBase(input.entries));
  const now = stateOf(after.block);
  const texts = new Set(now.facts.map(({ text }) => text));
  if (now.forgotten === old.forgotten) for (const { text } of old.facts) assert.ok(texts.has(text));
  for (const text of texts) assert.ok(after.block?.content.includes(text));
}

/** P11: a failure leaves the newest messages, and the text of the last summary that succeeded. */
function expectFallback({ input, before, after, block }: Pass): void {
  assert.equal(block?.content, before.block?.content ?? '');
  const size = Math.max(input.fixed_tokens + estimateView(before) * 3, input.context_tokens ?? 0);
  const fits = size < 0.9 * triggerOf(input.settings);
  if (fits && input.reason !== 'overflow') {
    const newest = idsOf(before.messages).slice(-input.settings.fallback_keep);
    assert.deepEqual(idsOf(after.messages).slice(-newest.length), newest);
  }
}

function marksIn(text: string): readonly string[] {
  return text.match(/M\d+-\d+\./g) ?? [];
}
