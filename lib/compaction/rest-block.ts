import { type NewCompressBlock, REST } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { asTokens, type TextCache } from '../chat/request.js';
import { pick } from '../registry.js';
import {
  type BlockState,
  FACT_KINDS,
  type Fact,
  proseOf,
  type Skipped,
  skippedLine,
  stateOf,
} from '../view/block-state.js';
import { isRestDue, type Rest, type Staying, stayingAt } from '../view/rest.js';
import { newestBase, newestBlock, type View, viewFrom } from '../view/view.js';
import {
  citedLine,
  collectArtifacts,
  compressBlockOf,
  describeArtifacts,
  languageLine,
  listed,
  together,
} from './compress-block.js';
import { strategies } from './index.js';
import { wholeLines } from './prompt.js';
import { backlogStart, findRecord, type Gap, isGivenUp, type RestRecord, sizeForRecord } from './rest-record.js';
import type { CompactionInput, Plan } from './strategy.js';

/** What leaves the view at a rest, and what of that no summary covers. */
export interface Leaving {
  readonly sent: View;
  readonly stays: Staying;
  /** What left before and is not summarised yet, oldest first. */
  readonly before: readonly Message[];
  /** The newest messages that left, before and now, as far as they are summarised unasked. */
  readonly gap: Gap;
  /** The older ones. */
  readonly older: readonly Message[];
}

/** What would leave. Pure. */
export function leavingAt(input: CompactionInput, rest: Rest): Leaving {
  const sent = viewFrom(newestBlock(input.entries), input.entries, input.running);
  const stays = stayingAt(sent, rest);
  const before = uncoveredIn(input, sent);
  const all = [...before, ...stays.leaving].sort((one, other) => one.turn - other.turn || one.id - other.id);
  const from = backlogStart(all, rest.ratio);
  return { sent, stays, before, gap: { block: sent.block, messages: all.slice(from) }, older: all.slice(0, from) };
}

/** The messages that left the view without a summary yet, oldest first. */
export function uncoveredIn(
  { entries, running }: Pick<CompactionInput, 'entries' | 'running'>,
  sent: View,
): readonly Message[] {
  const ids = new Set(sent.messages.map(({ id }) => id));
  return viewFrom(newestBase(entries), entries, running).messages.filter(({ id }) => !ids.has(id));
}

/**
 * The block of a rest: what left, with the newest summary that is ready in the cache. Asks no model. Null if nothing
 * would change.
 */
export async function restBlock(
  input: CompactionInput,
  rest: Rest,
  cache: TextCache,
): Promise<NewCompressBlock | null> {
  const leaving = leavingAt(input, rest);
  const { sent, stays, before, gap, older } = leaving;
  const isNamed = stays.named.some((id) => !stateOf(sent.block).named.includes(id));
  if (stays.leaving.length === 0 && !isNamed) return null;
  const all = await findRecord(gap, cache);
  const ready = all ?? (before.length === 0 ? null : await findRecord({ block: sent.block, messages: before }, cache));
  const covered = all === null ? (ready === null ? [] : before) : gap.messages;
  const isOpen = (message: Message): boolean => !covered.includes(message);
  const open = gap.messages.filter(isOpen);
  const unloaded = newestBase(input.entries) === null ? (input.unloaded ?? 0) : 0;
  const skipped = together(stateOf(sent.block).skipped, older.filter(isOpen), unloaded);
  const { content, ...state } = contentOf(sent, ready, together(skipped, open, 0), rest);
  const [first] = open;
  return compressBlockOf(input, planOf(input, rest, leaving, covered, unloaded), {
    content,
    strategy: REST,
    source: ready === null ? 'none' : 'cache',
    state: { ...state, skipped, named: stays.named, covered: first ? { turn: first.turn, id: first.id } : null },
  });
}

function planOf(
  { context_tokens = 0 }: CompactionInput,
  { ratio }: Rest,
  { sent, stays }: Leaving,
  covered: readonly Message[],
  unloaded: number,
): Plan {
  return {
    basis: sent,
    cut: stays.cut,
    compacted: covered,
    leaving: stays.leaving.length + unloaded,
    kept: stays.kept,
    shortened: [],
    condenses: false,
    changes: true,
    tokens_before: asTokens(context_tokens),
    ratio,
    room: asTokens(0),
  };
}

/** The shares of the block for prose, if the facts need theirs, and for the names of files. */
const PROSE_SHARE = 0.46;
const ARTIFACT_SHARE = 0.1;

/** The most tokens of prose in a block of this size. */
export const proseRoom = ({ sizes, ratio }: Rest): number => (PROSE_SHARE * sizes.block) / ratio;

/** The text of the block, in so many tokens, and the state it is generated from, which may have more than the text. */
function contentOf(
  { block }: View,
  ready: RestRecord | null,
  open: Skipped | null,
  rest: Rest,
): Pick<BlockState, 'facts' | 'forgotten' | 'artifacts' | 'language' | 'prose' | 'record'> & {
  readonly content: string;
} {
  const { facts, forgotten, artifacts, language } = ready ?? stateOf(block);
  const whole = ready?.prose ?? proseOf(block);
  const room = (4 * rest.sizes.block) / rest.ratio;
  const ending = [
    describeArtifacts(collectArtifacts(artifacts, [], {}, ARTIFACT_SHARE * room)),
    skippedLine(open),
    citedLine(whole, facts),
    languageLine(language),
  ].filter(Boolean);
  const free = room - ending.join('\n\n').length;
  const prose = wholeLines(whole, Math.floor(Math.max(PROSE_SHARE * room, free - factsText(facts).length)));
  const shown = mostLasting(facts, free - prose.length);
  return {
    content: [prose, factsText(shown), ...ending].filter(Boolean).join('\n\n'),
    facts,
    forgotten,
    artifacts,
    language,
    prose: prose.length,
    record: prose === whole ? null : whole,
  };
}

const factsText = (facts: readonly Fact[]): string => (facts.length === 0 ? '' : `Facts on record:\n${listed(facts)}`);

/** The facts that fit: wishes and decisions first, and of one kind the newest. */
function mostLasting(facts: readonly Fact[], room: number): readonly Fact[] {
  const shown = new Set<Fact>();
  let left = room - factsText([]).length - 20;
  for (const kind of FACT_KINDS.toReversed()) {
    for (const fact of facts.filter((one) => one.kind === kind).reverse()) {
      const size = listed([fact]).length + 1;
      if (size > left) continue;
      left -= size;
      shown.add(fact);
    }
  }
  return facts.filter((fact) => shown.has(fact));
}

/** The fewest characters that are worth a summary. */
const LEAST_GAP = 2000;

/**
 * The messages to summarise while nobody waits: those that left at a rest or, if `upcoming` is set, that would leave
 * after a long pause from now. Null if there are too few of them, or their summary exists or has failed too often.
 */
export async function gapToSummarise(
  input: CompactionInput,
  rest: Rest,
  upcoming: boolean,
  cache: TextCache,
): Promise<Gap | null> {
  if (!pick(strategies, input.settings.strategy, 'compaction strategy').writes) return null;
  const block = newestBlock(input.entries);
  const sent = viewFrom(block, input.entries, input.running);
  const isUpcoming = upcoming && isRestDue(sent, rest);
  const gap = isUpcoming ? leavingAt(input, rest).gap : { block, messages: uncoveredIn(input, sent) };
  const size = gap.messages.reduce((sum, message) => sum + sizeForRecord(message), 0);
  if (size < LEAST_GAP || (await findRecord(gap, cache)) !== null) return null;
  return (await isGivenUp(gap, cache)) ? null : gap;
}
