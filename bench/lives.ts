import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Message, textOf } from '../lib/chat/message.js';
import { estimateTokens } from '../lib/chat/request.js';
import { askedIn, mayAsk } from '../lib/recall/asked.js';
import { Recall } from '../lib/recall/recall.js';
import { tokenBound } from '../lib/recall/recall-unasked.js';
import { recalledParts, recallForModel } from '../lib/recall/show/for-model.js';
import { askedRows } from './lives-asked.js';
import { type Life, type LifeQuestion, lifeOf, numbers } from './recall-lives.js';
import { setNames, type Talk, talks } from './recall-talks.js';
import type { Row } from './row.js';

/** The numbers of messages of the lives, and from where on evidence is looked for in each. */
const SIZES = [
  { size: 8000, from: 0.5 },
  { size: 74_000, from: 0.86 },
] as const;

/** What automatic recall may add, and what is in view besides. */
const TOKENS = 3000;
const VIEW = { tokens: 3000, messages: 6 };

/**
 * `days`: the newest evidence is 3 to 10 bursts old; `months`: at least this many. Lives are asked every `STEP` bursts.
 */
const DAYS = { least: 3, most: 10 };
const MONTHS = 72;
const STEP = 8;
const SHARE_OF_MONTHS = 0.35;

/** Questions about nothing that was said, with those about a talk that is left out. */
const SMALL_TALK = [
  ...['What is 2+2?', 'What is the capital of Mongolia?', 'Write a haiku about autumn leaves', 'Why is the sky blue?'],
  ...['How do I reverse a list in Python?', "Translate 'good evening, dear neighbours' into Italian"],
  ...['Explain quantum entanglement simply', 'Give me a recipe for pancakes with blueberries', 'How do vaccines work?'],
  ...['What is the difference between TCP and UDP?', 'Who wrote Anna Karenina?', 'Tell me a joke about penguins'],
  ...['Convert 37 degrees Celsius to Fahrenheit', 'Suggest a name for a black kitten', 'Summarise the plot of Hamlet'],
  ...['How tall is Mount Kilimanjaro?', 'Write a regex that matches IPv4 addresses', "What does 'serendipity' mean?"],
  ...['What time is it in Tokyo when it is noon in Berlin?', 'How do I unclog a kitchen sink?'],
];

/** What one question brought. */
interface Outcome {
  readonly isThere: boolean;
  readonly isThereAfterCall: boolean;
  readonly tokens: number;
}

/** How much of the evidence automatic recall brings in lives mixed from all talks. No rows without talks. */
export async function rows(): Promise<readonly Row[]> {
  const all = setNames().map(talks);
  const [people] = all.filter((set) => set.some(({ messages }) => messages.some(({ name, role }) => name !== role)));
  const [, leftOut] = people ?? [];
  if (leftOut === undefined) return [];
  const told = all.flat().filter((talk) => talk !== leftOut);
  let rows: readonly Row[] = [];
  for (const { size, from } of SIZES) {
    const life = lifeOf(told, size, numbers());
    rows = [...rows, ...(await lifeRows(life, from, leftOut)), ...(await askedRows(life))];
  }
  return rows;
}

async function lifeRows(life: Life, from: number, leftOut: Talk): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-lives-'));
  try {
    const asked = await outcomes(life, from, leftOut, folder);
    const where = `${Math.round(life.messages.length / 1000)}k messages`;
    return [
      ...evidenceRows(`${where}, evidence of days ago in the request`, asked.days, 72, 80),
      ...evidenceRows(`${where}, evidence of months ago in the request`, asked.months, 55, 64),
      {
        what: `${where}, recalled for a question about nothing`,
        value: mean(asked.nothing),
        unit: 'tokens',
        limit: 700,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function evidenceRows(what: string, asked: readonly Outcome[], least: number, leastAfterCall: number): readonly Row[] {
  const percent = (isThere: (one: Outcome) => boolean): number =>
    100 * mean(asked.map((one) => (isThere(one) ? 1 : 0)));
  return [
    { what: `${what}, ${asked.length} questions`, value: percent(({ isThere }) => isThere), unit: '%', least },
    {
      what: 'the same, with one call of the tool',
      value: percent(({ isThereAfterCall }) => isThereAfterCall),
      unit: '%',
      least: leastAfterCall,
    },
    { what: 'the same: recalled', value: mean(asked.map(({ tokens }) => tokens)), unit: 'tokens', limit: 2000 },
  ];
}

const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one, 0) / list.length;

/** Asks while the life goes on, as its user would. */
async function outcomes({ messages, ends, questions }: Life, from: number, leftOut: Talk, folder: string) {
  const random = numbers();
  const last = ends.length - 1;
  const archive = new GrowingArchive(messages);
  const recall = new Recall({
    folder,
    history: { reading: async () => archive, undisturbed: async (work) => await work() },
    writes: true,
  });
  const askAll = async (these: readonly Pick<LifeQuestion, 'q' | 'gold'>[]): Promise<readonly Outcome[]> => {
    const found: Outcome[] = [];
    for (const question of these) found.push(await outcome(recall, archive.rest(), question));
    return found;
  };
  let days: readonly Outcome[] = [];
  for (let burst = Math.ceil((from * last) / STEP) * STEP; burst <= last; burst += STEP) {
    archive.grow(ends[burst - 1] ?? 0);
    await recall.calibrate(600_000);
    const ofDays = questions.filter((one) => burst - one.burst >= DAYS.least && burst - one.burst <= DAYS.most);
    days = [...days, ...(await askAll(ofDays))];
  }
  const months = await askAll(questions.filter(({ burst }) => last - burst >= MONTHS && random() < SHARE_OF_MONTHS));
  const ofNothing = [...leftOut.questions.filter((_, index) => index % 2 === 0).map(({ q }) => q), ...SMALL_TALK];
  const nothing = await askAll(ofNothing.map((q) => ({ q, gold: [] })));
  recall.close();
  return { days, months, nothing: nothing.map(({ tokens }) => tokens) };
}

/** What is in view or recalled for a question, or found by one call of the tool with its words. */
async function outcome(
  recall: Recall,
  messages: readonly Message[],
  { q, gold }: Pick<LifeQuestion, 'q' | 'gold'>,
): Promise<Outcome> {
  const seen = inView(messages);
  const known = { isSeen: (id: number) => seen.has(id), isSaid: () => false };
  const asked = askedIn(q);
  const reminded = mayAsk(asked) ? await recall.remind(asked, known, TOKENS, Number.POSITIVE_INFINITY) : 'late';
  const [recalled = null] = reminded === 'late' ? [] : recalledParts(reminded.reminders, asked, TOKENS);
  const isThere = gold.some((id) => seen.has(id) || recalled?.recalled.includes(id));
  const tokens = recalled === null ? 0 : tokenBound(recalled.text);
  if (isThere || gold.length === 0) return { isThere, isThereAfterCall: isThere, tokens };
  const now = new Date(messages.at(-1)?.at ?? 0);
  const { recalled: found } = await recallForModel(recall, { query: q }, now, '', new AbortController().signal);
  const shown = new Set(Array.from(found.matchAll(/#(\d+)/g), ([, id]) => Number(id)));
  return { isThere, isThereAfterCall: gold.some((id) => shown.has(id)), tokens };
}

/** The ids of the newest messages, as many as stay in view when a conversation rests: at least the last exchange. */
function inView(messages: readonly Message[]): ReadonlySet<number> {
  const ids = new Set<number>();
  let left = VIEW.tokens;
  for (const { id, content } of messages.slice(-VIEW.messages).reverse()) {
    left -= estimateTokens(textOf(content).length);
    if (left < 0 && ids.size >= 2) break;
    ids.add(id);
  }
  return ids;
}

/** The messages so far, none of them sealed. */
class GrowingArchive {
  readonly log = 'life';
  readonly pieces = [];
  readonly #messages: readonly Message[];
  #count = 0;

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
  }

  grow(count: number): void {
    this.#count = count;
  }

  get restVersion(): string {
    return String(this.#count);
  }

  rest(): readonly Message[] {
    return this.#messages.slice(0, this.#count);
  }

  readonly read = () => [];
  readonly readFrom = () => [];
  readonly json = () => Buffer.alloc(0);
  readonly close = () => undefined;

  async ifCurrent(work: () => void): Promise<boolean> {
    work();
    return true;
  }

  async recover(thrown: unknown): Promise<void> {
    throw thrown;
  }

  readAt(): never {
    throw new Error('There are no pieces.');
  }
}
