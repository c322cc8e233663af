import { createHash } from 'node:crypto';
import { hasForeignParts, isCommandOutput } from '../chat/entry.js';
import { addUsage, type ChatEvent, usageEvent } from '../chat/event.js';
import { citedIn, citingOnly } from '../chat/marked-text.js';
import type { Message, Usage } from '../chat/message.js';
import {
  asTokens,
  type TextCache,
  type TextModel,
  type TextPrompt,
  type Tokens,
  type WrittenText,
} from '../chat/request.js';
import { asHiError, HiError } from '../errors.js';
import type { Fact } from '../view/block-state.js';
import { charactersOf, totalCharacters } from '../view/size.js';
import { monotonic } from '../waits.js';
import { type Ledger, mergeLedgers, numberedFacts } from './compress-block.js';
import { type Material, type Reply, readReply, summaryInput, summaryPrompt } from './prompt.js';
import type { CompactionDeps, SummaryLimits } from './strategy.js';

/** What to summarise, and how long the summary may be. */
interface Task extends SummaryLimits, Omit<Material, 'transcript' | 'facts' | 'most_output' | 'brief'> {
  readonly messages: readonly Message[];
  /** How many older messages are missing because they are not loaded. */
  readonly unread: number;
  /** Whether all messages are read, however many requests that takes. */
  readonly all: boolean;
  readonly ledger: Ledger;
  /** The ids of undone messages, which must not be cited. */
  readonly undone: ReadonlySet<number>;
  /** The most characters of all facts together. */
  readonly factRoom: number;
  /** The main model's window in tokens: at least this much is read. */
  readonly context_window: number;
  /** Real tokens for one estimated token. */
  readonly ratio: number;
  /** The limits for a nearby model; the same as for others if absent. */
  readonly near?: SummaryLimits;
}

/** A summary and its usage. */
export interface Summary {
  readonly prose: string;
  readonly ledger: Ledger;
  /** `cache` when no model was asked. */
  readonly source: 'model' | 'cache';
  /** Null when no model was asked. */
  readonly writer: Pick<TextModel, 'provider' | 'model' | 'api_base' | 'server'> | null;
  readonly usage: Usage | null;
}

/**
 * Writes a summary with the first model that succeeds. Messages that do not fit its window are summarised part by part,
 * each part starting from the result of the previous one; every result is cached, so that an interrupted pass continues
 * where it stopped. Throws the last model's `HiError` when all fail, and an abort error when `signal` aborts.
 */
export async function* summarise(
  task: Task,
  { models, cache }: CompactionDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, Summary> {
  const began = monotonic();
  let over = 0;
  let failure = new HiError('config', 'There is no model to write the summary.', { hint: 'Set small_model.' });
  for (const [index, model] of models.entries()) {
    const { idle_timeout_ms: idle, timeout_ms } = (model.isNear && task.near) || task;
    if (timeout_ms <= over) break;
    if (index > 0) yield { type: 'notice', level: 'info', text: insteadOf(models[index - 1], model, failure) };
    const total = new AbortController();
    const timer = setTimeout(() => total.abort(), timeout_ms - (monotonic() - began));
    try {
      return yield* fold(task, model, cache, { idle, total: total.signal }, signal);
    } catch (thrown) {
      if (!(thrown instanceof HiError) || signal.aborted) throw thrown;
      failure = thrown;
      if (total.signal.aborted) over = timeout_ms;
    } finally {
      clearTimeout(timer);
    }
  }
  throw failure;
}

function insteadOf(failed: TextModel | undefined, next: TextModel, failure: HiError): string {
  return `'${failed?.model}' could not write the summary: ${failure.message} '${next.model}' writes it instead.`;
}

/** The summary of all messages by one model, in as many calls as its window requires. */
async function* fold(
  task: Task,
  model: TextModel,
  cache: TextCache,
  limits: Limits,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, Summary> {
  await model.ask?.(signal);
  const citable = citableIn(task);
  const said = saidByUser(task);
  const attached = new Set(task.messages.filter(hasForeignParts).map(({ id }) => id));
  let prose = task.earlier;
  let ledger: Ledger = { ...task.ledger, facts: citingThese(task.ledger.facts, citable) };
  let source: Summary['source'] = 'cache';
  let usage: Usage | null = null;
  let share = 1;
  const first = callFor(model, task, share, prose, ledger).room;
  const messages = task.all ? task.messages : newestOf(task.messages, first, task.context_window * 4);
  if (messages.length < task.messages.length + task.unread)
    yield { type: 'notice', level: 'warning', text: partly(task, messages) };
  // Runs once even without messages, to shorten the current summary.
  for (let next = -1; next < messages.length; ) {
    const { room, least, ...call } = callFor(model, task, share, prose, ledger);
    if (room < least) throw tooSmall(model);
    const part = take(messages, Math.max(0, next), room);
    const prompt = summaryPrompt({ ...task, ...call, transcript: part.transcript });
    let answer: Recalled;
    try {
      answer = yield* recallOr(cache, prompt, call.budget, () => requestText(model, prompt, limits, signal));
    } catch (thrown) {
      if (!(thrown instanceof HiError) || thrown.code !== 'window' || share < LEAST_SHARE) throw thrown;
      share /= 2;
      continue;
    }
    for (const { id } of messages.slice(Math.max(0, next), part.next)) citable.add(id);
    const added = withProvenance(citingThese(answer.reply.added, citable), said, attached);
    prose = citingOnly(answer.reply.prose, (id) => citable.has(id)).trim();
    ledger = mergeLedgers(ledger, added, answer.reply.outdated, task.factRoom);
    if (answer.written) source = 'model';
    const taken = answer.written?.usage ?? null;
    usage = usage && taken ? addUsage(usage, taken) : (taken ?? usage);
    next = part.next;
  }
  return { prose, ledger, source, writer: source === 'model' ? model : null, usage };
}

/** The ids that a summary may copy from the current record. */
function citableIn({ earlier, ledger, undone }: Task): Set<number> {
  const cited = [...citedIn(earlier), ...ledger.facts.flatMap(({ ids = [] }) => ids)];
  return new Set(cited.filter((id) => !undone.has(id)));
}

/**
 * The ids of messages that hold nothing but what the user typed: of those to summarise, and of those behind earlier
 * preferences.
 */
function saidByUser({ messages, ledger }: Task): ReadonlySet<number> {
  const own = messages.filter((message) => message.role === 'user' && !hasForeignParts(message));
  const typed = own.filter((message) => !isCommandOutput(message)).map(({ id }) => id);
  return new Set([...typed, ...ledger.facts.flatMap(({ kind, ids = [] }) => (kind === 'pref' ? ids : []))]);
}

/**
 * A preference cites messages that the user typed, or it is none: a page may say what the user wants. What cites others
 * says so in its text, which code copies from block to block.
 */
function withProvenance(
  facts: readonly Fact[],
  said: ReadonlySet<number>,
  attached: ReadonlySet<number>,
): readonly Fact[] {
  return facts.map((fact) => {
    const { kind, text, ids = [] } = fact;
    if (kind !== 'pref' || (ids.length > 0 && ids.every((id) => said.has(id)))) return fact;
    const mark = ids.every((id) => said.has(id) || attached.has(id)) ? OR_ATTACHED : NOT_THE_USER;
    return { ...fact, kind: 'fact', text: ids.length === 0 ? text : `${mark} ${text}` };
  });
}

const NOT_THE_USER = 'Not said by the user:';
const OR_ATTACHED = 'Said or only attached by the user:';

function citingThese(facts: readonly Fact[], citable: ReadonlySet<number>): readonly Fact[] {
  return facts.map(({ ids = [], ...fact }) => {
    const known = ids.filter((id) => citable.has(id));
    return known.length === 0 ? fact : { ...fact, ids: known };
  });
}

/**
 * About how many requests one summary may take; later ones hold a little less, as facts accumulate. A million messages
 * would take hundreds of requests and about an hour.
 */
const MOST_REQUESTS = 24;
/**
 * A backlog is shortened at the front in steps of this many requests, so that a later attempt starts at the same
 * message and finds the cached replies.
 */
const STEP = 4;

/** The newest messages that `MOST_REQUESTS` requests can read, and at least `least` characters. */
function newestOf(messages: readonly Message[], room: number, least: number): readonly Message[] {
  const excess = totalCharacters(messages) + FRAME * messages.length - Math.max(MOST_REQUESTS * room, least);
  if (room < LEAST_BRIEF_ROOM || excess <= 0) return messages;
  const skipped = Math.ceil(excess / (STEP * room)) * STEP * room;
  let characters = 0;
  return messages.slice(
    messages.findIndex((message) => {
      characters += charactersOf(message) + FRAME;
      return characters > skipped;
    }),
  );
}

function partly(task: Task, messages: readonly Message[]): string {
  const [read, all] = [messages.length, task.messages.length + task.unread];
  return `The summary is made from the newest ${read} of ${all} messages; the older ones would take too many requests. They stay in the history, and \`hi history --find TEXT\` finds them; \`hi compact --all\` reads them too.`;
}

/** The size of instructions and headings, in tokens, and of the brief ones. */
const INSTRUCTIONS = 740;
const BRIEF_INSTRUCTIONS = 165;
/** The fewest characters of conversation worth a call, and worth one with the brief instructions. */
const LEAST_ROOM = 2000;
const LEAST_BRIEF_ROOM = 600;
/** The length of the tags around a message, in characters. */
const FRAME = 60;

/** The share of the window for the prompt; the reply has the rest. */
const PROMPT_SHARE = 0.7;
/** The largest share of the summariser's own window that a summary may take, because the next call reads it. */
const SUMMARY_SHARE = 0.15;
/** The smallest share that a prompt is cut to after the server refused it as too long. */
const LEAST_SHARE = 0.2;

/** The room in one call: this `share` of the estimated room. */
function callFor(
  { context_window }: TextModel,
  task: Task,
  share: number,
  earlier: string,
  { facts }: Ledger,
): Pick<Material, 'earlier' | 'facts' | 'budget' | 'brief' | 'most_output'> & {
  readonly room: number;
  readonly least: number;
} {
  const budget = asTokens(Math.min(task.budget, Math.floor((SUMMARY_SHARE * context_window) / task.ratio)));
  const prompt = (PROMPT_SHARE * context_window) / task.ratio;
  const taken = earlier.length + numberedFacts(facts).length;
  const room = (instructions: number) => Math.floor(share * (prompt - budget - instructions)) * 4 - taken;
  const brief = room(INSTRUCTIONS) < LEAST_ROOM;
  return {
    earlier,
    facts,
    budget,
    brief,
    most_output: Math.floor((1 - PROMPT_SHARE) * context_window),
    room: room(brief ? BRIEF_INSTRUCTIONS : INSTRUCTIONS),
    least: brief ? LEAST_BRIEF_ROOM : LEAST_ROOM,
  };
}

function tooSmall({ context_window, model }: TextModel): HiError {
  return new HiError(
    'window',
    `The window of '${model}' (${context_window} tokens) is too small to write a summary in.`,
    {
      hint: 'Set a small_model with a larger context_window.',
    },
  );
}

function take(messages: readonly Message[], from: number, room: number): { transcript: string; next: number } {
  let transcript = '';
  let next = from;
  for (const message of messages.slice(from)) {
    const text = summaryInput(message, room - FRAME);
    if (next > from && transcript.length + text.length > room) break;
    transcript += text;
    next += 1;
  }
  return { transcript, next };
}

/** The time limits of a model. */
interface Limits {
  /** The longest time without data, in milliseconds; twice as long before the first data. */
  readonly idle: number;
  /** Aborts at the time limit of the whole pass. */
  readonly total: AbortSignal;
}

/**
 * Asks a model for a text. Yields its progress, and its usage at the end. Throws a `HiError` when it fails or takes too
 * long, even if it ignores its signal, and an abort error when `signal` aborts.
 */
export async function* requestText(
  model: TextModel,
  prompt: TextPrompt,
  { idle, total }: Limits,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, WrittenText> {
  const silence = new AbortController();
  const giveUp = AbortSignal.any([signal, total, silence.signal]);
  let characters = 0;
  let notify = (): void => undefined;
  let timer = setTimeout(() => silence.abort(), 2 * idle);
  const onProgress = (count: number) => {
    if (giveUp.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(), idle);
    characters = count;
    notify();
  };
  try {
    giveUp.throwIfAborted();
    const stopped = rejectionOf(giveUp);
    const outcome = Promise.race([stopped, model.write(prompt, onProgress, giveUp)]);
    for (;;) {
      const progress = new Promise<null>((resolve) => {
        notify = () => resolve(null);
      });
      const text = await Promise.race([outcome, progress]);
      if (text === null) {
        yield { type: 'compact-progress', characters };
        continue;
      }
      if (text.usage) yield usageEvent('summary', model, text.usage);
      return text;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    const waited = (characters === 0 ? 2 * idle : idle) / 1000;
    if (silence.signal.aborted) throw tooSlow(`'${model.model}' sent nothing for ${waited} s`, thrown);
    if (total.aborted) throw tooSlow(`'${model.model}' did not finish in time`, thrown);
    throw asHiError(thrown);
  } finally {
    clearTimeout(timer);
    // The consumer stopped reading, so the rest of the answer is not needed.
    silence.abort();
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function tooSlow(what: string, cause: unknown): HiError {
  return new HiError('network', `${what}.`, {
    cause,
    hint: 'Raise compaction.timeout_ms and compaction.idle_timeout_ms, or set a faster small_model.',
  });
}

/** A valid reply, and the model's text for it; null if it was cached. */
interface Recalled {
  readonly reply: Reply;
  readonly written: WrittenText | null;
}

/**
 * The cached reply to the same prompt if it is valid, else a new one from `write`, which is cached if it is valid.
 * The model is not part of the key: a summary by one model serves all of them. Throws like `readReply`.
 */
export async function* recallOr(
  cache: TextCache,
  prompt: TextPrompt,
  budget: Tokens,
  write: () => AsyncGenerator<ChatEvent, WrittenText>,
): AsyncGenerator<ChatEvent, Recalled> {
  const key = createHash('sha256').update(JSON.stringify(prompt)).digest('hex');
  const stored = await cache.get(key);
  const known = stored === null ? null : goodReply(stored, budget);
  if (known) return { reply: known, written: null };
  const written = yield* write();
  const reply = readReply(written, budget);
  await cache.put(key, written.text);
  return { reply, written };
}

function goodReply(text: string, budget: Tokens): Reply | null {
  try {
    return readReply({ text, stop_reason: 'end' }, budget);
  } catch {
    return null;
  }
}
