import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { entriesAt } from '../support/forgetting.js';
import { type Keeping, lifeOf, losing, type Planted } from '../support/long-life.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type SentRequest, startScriptedServer } from '../support/scripted-server.js';

/** A few in the suite; HI_LIFE_TURNS=600 lives the whole life, with sixty facts and some forty compactions. */
const TURNS = Number(process.env.HI_LIFE_TURNS ?? 60);
const WAYS: readonly Keeping[] = ['memory', 'pin', 'talk'];

const isSummary = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('<conversation>');

const life = lifeOf(TURNS);
const wishes = life.flatMap(({ wish }) => wish ?? []);

/** The messages of the user that were answered, by their step. */
function answeredIn(home: Home): ReadonlyMap<number, number> {
  const messages = read(home).filter(isMessage);
  const ended = new Set(messages.filter(({ stop_reason }) => stop_reason === 'end').map(({ turn }) => turn));
  const asked = messages.filter(({ id, turn }) => id === turn && ended.has(turn));
  return new Map(asked.map(({ id, content }) => [Number(/^Step (\d+)/.exec(textOf(content))?.[1]), id]));
}

function read(home: Home): readonly Entry[] {
  try {
    return entriesAt(home.historyFile);
  } catch {
    return [];
  }
}

/** The wishes that are kept in the way that is meant for them, and the lines that keep the others that were said. */
function wishesIn(home: Home, answered: ReadonlyMap<number, number>) {
  const memory = memoryOf(home);
  const pinned = JSON.stringify(read(home).filter((entry) => 'type' in entry && entry.type === 'pin'));
  const kept: Planted[] = [];
  const lines: string[] = [];
  for (const [step, { wish }] of life.entries()) {
    const id = answered.get(step);
    if (wish === undefined || id === undefined) continue;
    const way = WAYS[wishes.indexOf(wish) % WAYS.length];
    const isKept = way === 'talk' || (way === 'memory' ? memory : pinned).includes(wish.text);
    if (isKept) kept.push(wish);
    else lines.push(way === 'memory' ? `/remember ${wish.text}` : `/pin #${id}`);
  }
  return { kept, lines };
}

function memoryOf(home: Home): string {
  try {
    return readFileSync(join(home.config, 'memory.md'), 'utf8');
  } catch {
    return '';
  }
}

/** What is said from a step on, and what keeps each wish. */
function scriptFrom(step: number): readonly string[] {
  return life.slice(step).flatMap(({ said, wish }) => {
    if (wish === undefined) return [said];
    const way = WAYS[wishes.indexOf(wish) % WAYS.length];
    return way === 'memory' ? [said, `/remember ${wish.text}`] : way === 'pin' ? [said, '/pin 2'] : [said];
  });
}

it(`keeps ten of ten instructions and every fact in view through ${TURNS} turns, however often the program is killed`, async () => {
  const summarise = losing({ obedient: true });
  const lacking: string[] = [];
  let kept: readonly Planted[] = [];
  const server = await startScriptedServer((request) => {
    const said = String(request.messages.at(-1)?.content);
    if (isSummary(request)) return { text: summarise({ system: '', user: said, max_output_tokens: 1 }), delay: 50 };
    const sent = JSON.stringify(request.messages);
    for (const { text } of kept) if (!sent.includes(text)) lacking.push(`${said.slice(0, 9)}: ${text}`);
    return { text: life[Number(/Step (\d+)/.exec(said)?.[1])]?.answered ?? 'Well.', delay: 5 };
  });
  const context_window = TURNS > 200 ? 32_000 : 16_000;
  const home = makeHome({
    ...{ provider: 'openai', model: 'scripted', api_base: server.base, clock: false, context_window },
    small_model: { model: 'scripted', context_window: 200_000 },
    tools: { enabled: false },
    recall: { auto: false },
  });
  try {
    let [kills, answered] = [0, answeredIn(home)];
    while (answered.size < TURNS) {
      const step = life.findIndex((_, index) => !answered.has(index));
      const { kept: now, lines } = wishesIn(home, answered);
      kept = now;
      const input = `${[...lines, ...scriptFrom(step)].join('\n')}\n`;
      const { status } = await runProgram(home, ['chat'], {
        input,
        during: ({ kill, ended }) => {
          const before = server.requests.length;
          void (async () => {
            // It gets to its first request however slow the machine is, and is killed a little later.
            while (server.requests.length === before && (await Promise.race([ended, sleep(5, null)])) === null);
            await sleep(Math.random() * (TURNS > 200 ? 900 : 400));
            kill('SIGKILL');
          })();
        },
      });
      if (status === null) kills += 1;
      answered = answeredIn(home);
    }
    kept = wishesIn(home, answered).kept;
    for (const line of wishesIn(home, answered).lines) await runProgram(home, ['chat'], { input: `${line}\n` });
    const { status } = await runProgram(home, ['ask', 'What do you know?']);
    expect(status).toBe(0);
    const last = JSON.stringify(server.requests.at(-1)?.messages);
    const facts = life.flatMap(({ fact }) => fact ?? []);
    const passes = read(home).filter((entry) => 'type' in entry && entry.type === 'compress').length;
    expect({
      wishes: wishes.filter(({ text }) => last.includes(text)).length,
      facts: facts.filter(({ text }) => last.includes(text)).length,
      lacking,
    }).toEqual({ wishes: 10, facts: TURNS / 10, lacking: [] });
    expect(kills).toBeGreaterThan(3);
    expect(passes).toBeGreaterThanOrEqual(TURNS > 200 ? 35 : 4);
    if (TURNS > 200) console.info({ turns: TURNS, kills, passes, requests: server.requests.length });
  } finally {
    await server.close();
    home.remove();
  }
}, 3_600_000);
