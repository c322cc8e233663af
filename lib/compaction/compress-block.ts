import { type NewCompressBlock, restingOn } from '../chat/entry.js';
import type { Message, RestsOn } from '../chat/message.js';
import { estimateTokens } from '../chat/request.js';
import { type BlockState, type Fact, restOf, stateOf } from '../view/block-state.js';
import { ratiosOf } from '../view/calibration.js';
import { pinsOver } from '../view/pinned.js';
import { totalCharacters } from '../view/size.js';
import { type Turn, turnsOf } from '../view/turns.js';
import { cutOf, isSent, keptBy, type Position } from '../view/view.js';
import { sizeAfter } from './plan.js';
import type { CompactionInput, Plan } from './strategy.js';

/** The parts of a block that the strategy decides; the rest follows from the plan. */
export interface Outcome
  extends Pick<NewCompressBlock, 'content' | 'strategy' | 'source' | 'usage' | 'model' | 'provider' | 'api_base'> {
  /** The fields that a new summary changes; the others are copied from the previous block. */
  readonly state?: Partial<BlockState>;
}

/** The block for a plan. */
export function compressBlockOf(input: CompactionInput, plan: Plan, { state, ...outcome }: Outcome): NewCompressBlock {
  const turns = turnsOf(input.entries);
  const cut = placeOf(input, plan, turns);
  const before = (message: Message) => message.turn < cut.turn || (message.turn === cut.turn && message.id < cut.id);
  const old = stateOf(plan.basis.block);
  const shortened = new Set(plan.shortened.map(({ id }) => id));
  const pinned = pinsOver(cut.turn, input.entries, plan.basis.block, input.running);
  const asked = plan.basis.messages.findLast(({ role }) => role === 'user')?.id;
  // The block itself contains the pinned messages, so the log need not be read for them.
  const isInLog = ({ id }: Message) => id === asked || !pinned.some((one) => one.id === id);
  const rests_on = restsOn(plan, outcome);
  return {
    type: 'compress',
    ...outcome,
    ...(outcome.content !== '' && { rests_on }),
    first_kept: plan.basis.messages[plan.cut]?.id ?? null,
    messages_compacted: plan.leaving,
    messages_kept: plan.kept.length,
    tokens_before: plan.tokens_before,
    tokens_after: sizeAfter(input, plan, outcome.content),
    state: {
      ...old,
      covered: null,
      record: state?.prose === undefined ? old.record : null,
      named: plan.kept.filter(({ id }) => old.named.includes(id)).map(({ id }) => id),
      ...state,
      facts: marked(state?.facts ?? old.facts, rests_on, plan),
      cut,
      also: plan.kept.filter((message) => before(message) && isInLog(message)).map(({ id }) => id),
      open: openBefore(cut, input, plan, turns),
      pruned: plan.kept.filter(({ id }) => shortened.has(id) || old.pruned.includes(id)).map(({ id }) => id),
      size: estimateTokens(totalCharacters(plan.kept) + outcome.content.length),
      ratios: ratiosOf(plan.basis),
    },
    ...(pinned.length > 0 && { pins: { until: input.running ?? input.entries.at(-1)?.id ?? 0, messages: pinned } }),
  };
}

/** The least trusted source of the text: of the previous text, and of the messages that a model summarised. */
function restsOn({ basis, compacted }: Plan, { source }: Outcome): RestsOn {
  return restingOn(basis.block, source === 'model' || source === 'cache' ? compacted : []);
}

/** In a text that includes other people's words, marks the earlier facts that do not. Code copies them, so they cannot have changed. */
function marked(facts: readonly Fact[], rests_on: RestsOn, { basis: { block } }: Plan): readonly Fact[] {
  if (rests_on === 'own' || block === null) return facts;
  const own = stateOf(block).facts.filter((fact) => restOf(fact, block) === 'own');
  return facts.map(({ rests_on: _, ...fact }) => {
    const isOwn = own.some(({ kind, text }) => kind === fact.kind && text === fact.text);
    return isOwn ? { ...fact, rests_on: 'own' } : fact;
  });
}

/** Never before the cut of the previous block: messages that left the view do not return. */
function placeOf(
  { entries }: CompactionInput,
  { basis, cut }: Plan,
  turns: readonly Turn[],
): { turn: number; id: number } {
  const first = basis.messages[cut];
  const end = (turns.at(-1)?.id ?? 0) + 1;
  const place = first ? { turn: first.turn, id: first.id } : { turn: end, id: end };
  if (basis.block === null) return place;
  const old = cutOf(basis.block, entries);
  return old.turn > place.turn || (old.turn === place.turn && old.id > place.id) ? { ...old } : place;
}

/** Unfinished turns of other processes before the cut, which would otherwise be lost. A turn without a message for a day counts as crashed. */
function openBefore(
  cut: Position,
  { entries, running }: CompactionInput,
  { basis }: Plan,
  turns: readonly Turn[],
): readonly number[] {
  const keeps = keptBy(basis.block, entries);
  const newest = turns.reduce((latest, { at }) => Math.max(latest, timeOf(at)), Number.NEGATIVE_INFINITY);
  const isAlive = ({ at }: Turn) => newest - timeOf(at) <= DAY;
  return turns
    .filter((turn) => turn.id < cut.turn && !isSent(turn, running) && isAlive(turn) && turn.messages.some(keeps))
    .map(({ id }) => id);
}

/** An invalid time counts as long ago. */
function timeOf(at: string): number {
  const time = Date.parse(at);
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time;
}

const DAY = 24 * 60 * 60 * 1000;
