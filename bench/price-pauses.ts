import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prose } from '../spec/support/prose.js';
import { CLOCK, homeIn, run } from './price.js';
import { dollars, type Piece } from './price-cache.js';
import { type AskedOnce, RULES, startPricedServer } from './price-vendor.js';
import type { Row } from './row.js';

const PAUSES = [4, 10, 45, 120];
const QUESTIONS = 20;

/** The characters of a question and of an answer. */
const SAID = { question: 160, answer: 1600 };

/** What a request can ask the vendor to do, in seconds. */
const CHOICES = { anthropic: [300, 3600, 0], openai: [1800, 12 * 3600, 0] } as const;

type Vendor = keyof typeof CHOICES;

/** What 20 questions at one pace cost, against the cheapest choice of what the vendor is to keep, known beforehand. */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-pauses-'));
  const clock = join(root, 'clock.cjs');
  writeFileSync(clock, CLOCK);
  const found: Row[] = [];
  try {
    for (const vendor of ['anthropic', 'openai'] as const)
      for (const minutes of PAUSES) {
        const asked = await askAtPace(vendor, minutes, join(root, `${vendor}-${minutes}`), clock);
        const value = costOf(vendor, asked, null) / leastOf(vendor, asked);
        const what = `${QUESTIONS} questions at pauses of ${minutes} minutes, ${RULES[vendor].model}: dollars against the least`;
        found.push({ what, value, unit: '×', limit: 1.1 });
      }
    return found;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function askAtPace(vendor: Vendor, minutes: number, root: string, clock: string): Promise<readonly AskedOnce[]> {
  const server = await startPricedServer(vendor);
  // The longer life is only asked for at OpenAI's own address.
  const own = { api_base: 'http://api.openai.com/v1', openai: { api: 'responses' } };
  const home = homeIn(root, 'own', vendor, server, vendor === 'openai' ? own : {});
  const env = { HTTP_PROXY: server.base.replace('/v1', ''), NO_PROXY: '127.0.0.1' };
  const begin = Date.now();
  try {
    for (let number = 0; number < QUESTIONS; number += 1) {
      const at = 60 * minutes * number;
      server.next({ files: [], answer: prose(SAID.answer, number) }, at);
      await run(['ask', '-'], home, clock, begin + 1000 * at - Date.now(), prose(SAID.question, 1000 + number), env);
    }
    return server.asked;
  } finally {
    await server.close();
  }
}

/** The dollars for these requests; with `lives`, if each had asked the vendor to keep it for so many seconds. */
function costOf(vendor: Vendor, asked: readonly AskedOnce[], lives: readonly number[] | null): number {
  const { cache, prices } = RULES[vendor];
  const held = cache();
  return asked.reduce((sum, { pieces, at, output }, number) => {
    const sent = lives === null ? pieces : marked(vendor, pieces, lives[number] ?? 0);
    return sum + dollars(held.take(sent, at), output, prices.main);
  }, 0);
}

/** The request with another choice: at Anthropic a mark at its end, which covers all before it. */
function marked(vendor: Vendor, pieces: readonly Piece[], life: number): readonly Piece[] {
  const none = vendor === 'anthropic' ? null : life;
  return pieces.map(({ text }, at) => ({
    text,
    kept: vendor === 'anthropic' && life > 0 && at === pieces.length - 1 ? life : none,
  }));
}

/**
 * The least that the same requests cost with one choice for the first of them and another for the others, the last one
 * kept or not.
 */
function leastOf(vendor: Vendor, asked: readonly AskedOnce[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (const early of CHOICES[vendor])
    for (const late of CHOICES[vendor])
      for (const last of [late, 0])
        for (let change = 0; change < asked.length; change += 1) {
          const lives = asked.map((_, at) => (at === asked.length - 1 ? last : at < change ? early : late));
          least = Math.min(least, costOf(vendor, asked, lives));
        }
  return least;
}
