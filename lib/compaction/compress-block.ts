import { type NewCompressBlock, restingOn } from '../chat/entry.js';
import { citedIn, citing } from '../chat/marked-text.js';
import { isPart, type Message, type RestsOn, type ToolCallPart } from '../chat/message.js';
import { estimateTokens, type ToolEffect, type ToolEffects } from '../chat/request.js';
import {
  type Artifacts,
  type BlockState,
  FACT_KINDS,
  type Fact,
  pinsOver,
  restOf,
  type Skipped,
  skippedLine,
  stateOf,
} from '../view/block-state.js';
import { ratiosOf } from '../view/measure.js';
import { nameOfImage } from '../view/shorten.js';
import { artifactRoom, type LimitSettings, totalCharacters } from '../view/size.js';
import { cutOf, isSent, keptBy, type Position, type Turn, turnsOf } from '../view/view.js';
import { sizeAfter } from './plan.js';
import type { CompactionInput, Plan } from './strategy.js';

/** The parts of a block that the strategy decides; the rest follows from the plan. */
interface Outcome
  extends Pick<
    NewCompressBlock,
    'content' | 'strategy' | 'source' | 'usage' | 'model' | 'provider' | 'api_base' | 'server'
  > {
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

/**
 * In a text that includes other people's words, marks the earlier facts that do not. Code copies them, so they cannot
 * have changed.
 */
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

/**
 * Unfinished turns of other processes before the cut, which would otherwise be lost. A turn without a message for a day
 * counts as crashed.
 */
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

/** The text of a block, and the fields it is generated from. */
interface Content {
  readonly content: string;
  readonly state: Partial<BlockState>;
}

/** The example has no brackets, because it would be read as a citation. */
const CITED = 'A number in brackets, such as #12, is the id of an older message that the words before it rest on.';

/** The summary's prose, followed by what code has kept: the facts, what tools did, and the user's language. */
export function fixedContentOf(
  plan: Plan,
  summary: { readonly prose: string; readonly ledger: Ledger },
  language: string | null,
  settings: LimitSettings,
  effects: ToolEffects,
  skipped: Skipped | null,
): Content {
  const known: Artifacts = stateOf(plan.basis.block).artifacts;
  const artifacts = collectArtifacts(known, plan.compacted, effects, artifactRoom(settings));
  const { facts, forgotten } = summary.ledger;
  const sections = [
    summary.prose,
    facts.length > 0 ? `Facts on record:\n${listed(facts)}` : '',
    describeArtifacts(artifacts),
    citedLine(summary.prose, facts),
    skippedLine(skipped),
    languageLine(language),
  ];
  return {
    content: sections.filter(Boolean).join('\n\n'),
    state: { facts, forgotten, artifacts, language, prose: summary.prose.length, skipped },
  };
}

/** The line that explains citations; empty if the prose and the facts have none. */
export function citedLine(prose: string, facts: readonly Fact[]): string {
  return citedIn(prose).length > 0 || facts.some(({ ids }) => ids !== undefined) ? CITED : '';
}

/** The line about the user's language; empty for none. Models drift towards English, never away from it. */
export function languageLine(language: string | null): string {
  return language === null || language === 'English' ? '' : `The user writes in ${language}.`;
}

/** Messages that no summary covers, and more of them. Nothing is known of `unloaded` ones, which are the oldest. */
export function together(before: Skipped | null, more: readonly Message[], unloaded: number): Skipped | null {
  const messages = (before?.messages ?? 0) + more.length + unloaded;
  if (messages === 0) return null;
  const from = unloaded > 0 ? '' : (before?.from ?? more[0]?.at ?? '');
  return { messages, from, until: more.at(-1)?.at ?? before?.until ?? '' };
}

/**
 * The effects of tool calls in these messages, added to those recorded before; failed calls do not count. Each list has
 * its newest items last, and at most a third of `room` characters.
 */
export function collectArtifacts(
  before: Artifacts,
  messages: readonly Message[],
  effects: ToolEffects,
  room: number,
): Artifacts {
  const parts = messages.flatMap(({ content }) => content);
  const failed = new Set(parts.filter(isPart('tool_result')).flatMap(({ call_id, error }) => (error ? [call_id] : [])));
  const calls = parts.filter(isPart('tool_call')).filter(({ call_id }) => !failed.has(call_id));
  const images = parts.filter((part) => part.type === 'image' || part.type === 'document');
  return {
    read: newest([...before.read, ...paths(calls, effects, 'read')], room / 3),
    written: newest([...before.written, ...paths(calls, effects, 'write')], room / 3),
    commands: before.commands + calls.filter(({ name }) => effectOf(name, effects)?.kind === 'command').length,
    images: newest([...before.images, ...images.map(nameOfImage)], room / 3),
  };
}

/** The paths that these calls read or wrote. */
function paths(calls: readonly ToolCallPart[], effects: ToolEffects, kind: 'read' | 'write'): readonly string[] {
  return calls.flatMap(({ name, args }) => {
    const effect = effectOf(name, effects);
    const path = effect?.kind === kind ? args[effect.argument] : undefined;
    return typeof path === 'string' ? [path] : [];
  });
}

/** A model may call a tool by any name, even `constructor`. */
const effectOf = (name: string, effects: ToolEffects): ToolEffect | undefined =>
  Object.hasOwn(effects, name) ? effects[name] : undefined;

/** The artifacts as text, one line for each kind; empty for none. */
export function describeArtifacts({ read, written, commands, images }: Artifacts): string {
  return [
    written.length > 0 ? `Files written: ${written.join(', ')}` : '',
    read.length > 0 ? `Files read: ${read.join(', ')}` : '',
    commands > 0 ? `Commands run: ${commands}` : '',
    images.length > 0 ? `Images seen, no longer in view: ${images.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join('\n');
}

function newest(items: readonly string[], room: number): readonly string[] {
  const kept: string[] = [];
  let left = room;
  for (const item of [...new Set([...items].reverse())]) {
    left -= item.length + 2;
    if (left < 0) break;
    kept.push(item);
  }
  return kept.reverse();
}

/** The most characters of a fact. */
const LINE = 240;
/** The most ids of messages behind a fact; the newest are kept. */
const MOST_IDS = 5;

/** Facts, and how many were dropped for lack of room. */
export interface Ledger {
  readonly facts: readonly Fact[];
  readonly forgotten: number;
}

/**
 * The previous facts without those declared outdated by number, followed by the new ones. A repeated fact keeps its
 * place, gets its new kind, and keeps the ids of all its messages. Beyond `room` characters, the oldest facts of the
 * least important kind are dropped first, and counted.
 */
export function mergeLedgers(
  before: Ledger,
  added: readonly Fact[],
  outdated: readonly number[],
  room: number,
): Ledger {
  const facts = new Map<string, Fact>();
  before.facts.forEach((fact, index) => {
    if (!outdated.includes(index + 1)) facts.set(keyOf(fact.text), fact);
  });
  for (const { kind, text, ids = [] } of added) {
    const line = oneLine(text);
    const key = keyOf(line);
    const all = [...new Set([...(facts.get(key)?.ids ?? []), ...ids])].slice(-MOST_IDS);
    if (line !== '') facts.set(key, { kind, text: line, ...(all.length > 0 && { ids: all }) });
  }
  const kept = [...facts.values()];
  let forgotten = before.forgotten;
  while (kept.length > 0 && sizeOf(kept) > room) {
    kept.splice(leastLasting(kept), 1);
    forgotten += 1;
  }
  return { facts: kept, forgotten };
}

/** The facts as shown to the model that writes the next summary. */
export function numberedFacts(facts: readonly Fact[]): string {
  return facts.map(({ kind, text, ids }, index) => `${index + 1}. ${kind}: ${citing(text, ids)}`).join('\n');
}

/** The facts as shown to the model that continues the conversation. */
export function listed(facts: readonly Fact[]): string {
  return facts.map(({ kind, text, ids }) => `- ${kind}: ${citing(text, ids)}`).join('\n');
}

function leastLasting(facts: readonly Fact[]): number {
  for (const kind of FACT_KINDS) {
    const found = facts.findIndex((fact) => fact.kind === kind);
    if (found >= 0) return found;
  }
  return 0;
}

const sizeOf = (facts: readonly Fact[]): number => listed(facts).length;

const keyOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s.,;:!]+/g, ' ')
    .trim();

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return [...line].slice(0, LINE).join('');
}
