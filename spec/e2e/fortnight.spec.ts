import { execFileSync, spawnSync } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { undoneTurns } from '../../lib/chat/entry-list.js';
import { textOf } from '../../lib/chat/message.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';

/**
 * A short day in the suite; HI_FORTNIGHT_DAYS=14 HI_FORTNIGHT_SUMMARY=15000 lives the whole fortnight, with 6 to 30
 * questions a day.
 */
const DAYS = Number(process.env.HI_FORTNIGHT_DAYS ?? 1);
const SUMMARY = Number(process.env.HI_FORTNIGHT_SUMMARY ?? 1000);
const SHORT_DAY = 9;
const PATIENCE = 4 * SUMMARY + 20_000;

const canFake = spawnSync('faketime', ['-f', '+1d', 'true']).status === 0;

const FILLER = 'and so on '.repeat(60).trim();

/** What becomes of a question. */
type Fate = 'answered' | 'early' | 'late' | 'refused';

/** A request as the server saw it. */
interface Seen {
  /** Which process sent it. */
  readonly who: string;
  readonly isSummary: boolean;
  readonly body: string;
  /** What was in the slot when it came; null if the slot was free. */
  readonly behind: Seen | null;
  isAbandoned: boolean;
}

/** A server that answers one request after the other. */
class OneSlot {
  readonly seen: Seen[] = [];
  readonly #waiting: (readonly [Seen, ServerResponse])[] = [];
  #running: Seen | null = null;
  readonly #server = createServer(async (message, response) => {
    const body = await text(message);
    if (message.method === 'GET') return void response.end(JSON.stringify({ data: [{ id: 'scripted' }] }));
    const who = message.url?.split('/')[1] ?? '';
    const isSummary = body.includes('<conversation>');
    const one: Seen = { who, isSummary, body, behind: this.#running, isAbandoned: false };
    this.seen.push(one);
    response.on('close', () => {
      one.isAbandoned = !response.writableFinished;
      if (this.#running === one) this.#running = null;
      this.#next();
    });
    this.#waiting.push([one, response]);
    this.#next();
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #next(): void {
    if (this.#running !== null) return;
    const [one, response] = this.#waiting.shift() ?? [];
    if (one === undefined || response === undefined) return;
    if (response.destroyed) {
      this.#next();
      return;
    }
    this.#running = one;
    void this.#answer(one, response);
  }

  async #answer({ isSummary, body }: Seen, response: ServerResponse): Promise<void> {
    const asked = JSON.parse(body).messages.findLast(({ role }: { role: string }) => role === 'user');
    // What was recalled comes after what was typed.
    const [token = '', fate] = /q-\d+-\d+ (early|late|refused|answered)/.exec(JSON.stringify(asked.content)) ?? [];
    if (isSummary) await sleep(SUMMARY);
    if (!isSummary && fate === 'refused') {
      response.writeHead(429, { 'content-type': 'application/json' });
      return void response.end(JSON.stringify({ error: { message: 'No credit.', code: 'insufficient_quota' } }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const say = (content: string, finish_reason: string | null = null): void =>
      void response.write(
        `data: ${JSON.stringify({ id: '1', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`,
      );
    if (!isSummary && fate === 'early') return;
    say(isSummary ? '=== SUMMARY ===\nThey talked [#1].' : `Answer to ${token.split(' ')[0]}: `);
    if (!isSummary && fate === 'late') return;
    say(isSummary ? '' : FILLER, 'stop');
    response.end('data: [DONE]\n\n');
  }
}

/** Numbers below one that look random, the same in every run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

let home: Home;
let server: OneSlot;
let base: string;
const open: Terminal[] = [];
beforeEach(async () => {
  server = new OneSlot();
  base = await server.open();
  const tools = { enabled: false };
  home = makeHome({
    provider: 'openai',
    model: 'scripted',
    api_base: base,
    context_window: 16_000,
    max_input_tokens: 1500,
    tools,
  });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((terminal) => terminal.close()));
  server.close();
  home.remove();
});

const entries = (): readonly Entry[] => JSON.parse(execFileSync('zstd', ['-dcq', home.historyFile]).toString());
const isAtPrompt = (screen: string): boolean => /(?:^|\n)hi(?: \d+%)?>$/.test(screen.trimEnd());
const reach = (who: string) => ({ HI_API_BASE: `${base}/${who}/v1` });

function startChat(who: string, day: number): Terminal {
  const under = canFake ? ['faketime', '-f', `+${day}d`] : [];
  const [file = RUNTIME, ...args] = [...under, RUNTIME, PROGRAM, 'chat'];
  const terminal = openTerminal(file, args, {
    env: { ...home.env, ...reach(who) },
    cwd: home.work,
    columns: 100,
    rows: 40,
  });
  open.push(terminal);
  return terminal;
}

/** Asks in a terminal, as a user does, and does with the question what is meant for it. */
async function ask(terminal: Terminal, token: string, fate: Fate, isPasted: boolean): Promise<void> {
  const line = `${token} ${fate}`;
  if (isPasted) terminal.paste(`${FILLER}\n${line}`);
  else terminal.type(`${line} ${FILLER}`);
  terminal.type(KEY.enter);
  if (fate === 'answered')
    await terminal.until((screen) => screen.includes(`Answer to ${token}: `) && isAtPrompt(screen), PATIENCE);
  if (fate === 'early') {
    while (!server.seen.some(({ isSummary, body }) => !isSummary && body.includes(token))) await sleep(10);
    await sleep(50);
    terminal.type(control('c'));
  }
  if (fate === 'late') {
    await terminal.until(`Answer to ${token}:`, PATIENCE);
    terminal.type(control('c'));
    await terminal.until(
      (screen) =>
        screen.slice(screen.lastIndexOf(`Answer to ${token}:`)).includes('(interrupted)') && isAtPrompt(screen),
      PATIENCE,
    );
  }
  if (fate !== 'early' && fate !== 'refused') return;
  // The line is back in the prompt.
  await terminal.until((screen) => screen.split(`> ${line}`).length > 2, PATIENCE);
  await sleep(50);
  terminal.type(control('c'));
  await terminal.until(isAtPrompt, PATIENCE);
}

const words = (entry: Entry): string => (isMessage(entry) ? textOf(entry.content) : '');

it(`${DAYS} of 14 days of daily use: every answered word is kept once, no cancelled one is sent, no question waits for a summary, and every number is right`, async () => {
  const chance = chances(35);
  const kept = new Set<string>();
  const gone = new Map<string, number>();
  const wrong: string[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    const before = day === 0 ? 0 : entries().filter(isMessage).length;
    const windows = [startChat('a', day), startChat('b', day)] as const;
    for (const window of windows) await window.until(isAtPrompt, PATIENCE);
    if (day > 0 && !windows[0].screen().includes(` · ${before} messages · `)) wrong.push(`header of day ${day}`);
    const count = DAYS < 14 ? SHORT_DAY : 6 + Math.floor(chance() * 25);
    for (let number = 0; number < count; number += 1) {
      const token = `q-${day}-${number}`;
      const window = windows[chance() < 0.7 ? 0 : 1];
      const drawn =
        DAYS < 14 ? (['answered', 'early', 'answered', 'late', 'answered', 'refused'] as const)[number] : undefined;
      const luck = chance();
      const fate: Fate = drawn ?? (luck < 0.1 ? 'early' : luck < 0.2 ? 'late' : luck < 0.25 ? 'refused' : 'answered');
      await ask(window, token, fate, fate === 'answered' && chance() < 0.1);
      if (fate === 'early' || fate === 'refused') gone.set(token, server.seen.length);
      else kept.add(token);
      const then = fate === 'answered' ? chance() : 1;
      if (then < 0.1) {
        window.type(`/retry${KEY.enter}`);
        await window.until((screen) => screen.split(`Answer to ${token}:`).length > 2 && isAtPrompt(screen), PATIENCE);
      } else if (then < 0.2) {
        window.type(`/undo${KEY.enter}`);
        await window.until(
          (screen) =>
            screen.includes(`· ${token} answered`) &&
            !isAtPrompt(screen) &&
            /\nhi(?: \d+%)?> \S/.test(screen.slice(screen.lastIndexOf(`· ${token} answered`))),
          PATIENCE,
        );
        window.type(control('c'));
        await window.until(isAtPrompt, PATIENCE);
        kept.delete(token);
        gone.set(token, server.seen.length);
      } else if (then < 0.3) {
        window.type(`!echo note-${token}${KEY.enter}`);
        await window.until(
          (screen) => screen.includes(`· ${`note-${token}\n`.length} characters added`) && isAtPrompt(screen),
          PATIENCE,
        );
      }
    }
    const cron = `q-${day}-999`;
    await runProgram(home, ['ask', `${cron} answered`], { env: reach('cron') });
    kept.add(cron);
    const all = entries();
    windows[0].type(`/status${KEY.enter}`);
    await windows[0].until(new RegExp(`messages +${all.filter(isMessage).length} kept`), PATIENCE);
    for (const window of windows) {
      window.type(control('d'));
      await window.exit();
    }
    const undone = undoneTurns(all);
    const said = all.filter((entry) => isMessage(entry) && entry.role === 'user' && !undone.has(entry.turn));
    const answered = all.filter((entry) => isMessage(entry) && entry.role === 'assistant' && !undone.has(entry.turn));
    for (const token of kept) {
      const turns = said.filter((entry) => new RegExp(`${token} (?:answered|late)`).test(words(entry)));
      const replies = answered.filter((entry) => words(entry).includes(`Answer to ${token}: `));
      const [turn] = turns;
      if (
        turns.length !== 1 ||
        replies.length !== 1 ||
        turn?.id !== (replies[0] as { turn?: number } | undefined)?.turn
      )
        wrong.push(`${token}: ${turns.length} ${replies.length}`);
    }
  }
  for (const [token, at] of gone)
    if (server.seen.slice(at).some(({ body, isSummary }) => !isSummary && new RegExp(`${token} `).test(body)))
      wrong.push(`${token} was sent again`);
  const waited = server.seen.filter(
    ({ isSummary, who, behind }) => !isSummary && behind?.isSummary && behind.who === who && !behind.isAbandoned,
  );
  expect({ wrong, waited: waited.length }).toEqual({ wrong: [], waited: 0 });
  expect(server.seen.some(({ isSummary }) => isSummary)).toBe(true);
}, 7_200_000);
