import { existsSync, readFileSync } from 'node:fs';
import { afterEach, expect, it } from '@jest/globals';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { KEY, openTerminal, type Terminal } from '../support/terminal.js';
import { openVendorHouse, type VendorHouse } from '../support/vendor-house.js';

/*
 * A newcomer's first ten minutes on five machines: what hi asks before the first answer. docs/configure.md has the keys
 * and the seconds; with HI_FIRST_MINUTES=1 they are printed.
 */

const GREETING = 'Welcome to hi';
const QUESTION = 'how high is the sky?';

let home: Home;
let terminal: Terminal;
let house: VendorHouse | undefined;
let begun = 0;
let keys = 0;

function start(args: readonly string[], env: Readonly<Record<string, string>>): void {
  terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: { ...home.env, ...env }, cwd: home.work, columns: 100 });
  begun = performance.now();
  keys = args.join(' ').length + 'hi '.length;
}

function type(text: string): void {
  keys += text.startsWith('\x1b') ? text.length / 3 : text.length;
  terminal.type(text);
}

async function answer(question: string | RegExp, typed: string): Promise<void> {
  await terminal.until(question, 20_000);
  type(typed);
  type(KEY.enter);
}

/** Waits for the answer. Resolves to how many questions hi asked before it. */
async function questionsBefore(machine: string): Promise<number> {
  await terminal.until(/^hi> how high is the sky\?\n+Very high\.\n+hi> *$/m, 20_000);
  const seconds = (performance.now() - begun) / 1000;
  const questions = terminal.transcript().match(/^✔ /gm)?.length ?? 0;
  if (process.env.HI_FIRST_MINUTES)
    process.stderr.write(`| ${machine} | ${questions} | ${keys} | ${seconds.toFixed(1)} |\n`);
  return questions;
}

async function opened(...args: Parameters<typeof openVendorHouse>): Promise<VendorHouse> {
  house = await openVendorHouse(args[0], { text: 'Very high.', ...args[1] });
  return house;
}

afterEach(async () => {
  await terminal?.close();
  await house?.close();
  house = undefined;
  home?.remove();
});

it('asks for provider, key and model where there is nothing, and ends in the chat with the question of hi ask', async () => {
  home = makeHome(null);
  const { base } = await opened('anthropic', { key: 'sk-ant-1', models: ['claude-one', 'claude-two'] });
  start(['ask', ...QUESTION.split(' ')], { ANTHROPIC_BASE_URL: base });
  await terminal.until(GREETING);
  await answer('Which provider', KEY.down);
  await answer('API key for Anthropic', 'sk-ant-1');
  await answer('Which model?', '');
  expect(await questionsBefore('nothing')).toBe(3);
  expect(existsSync(home.configFile)).toBe(true);
});

it.each([
  ['a key in the environment', 'openai', 'OPENAI_BASE_URL', { OPENAI_API_KEY: 'sk-1' }],
  ['Ollama running', 'ollama', 'OLLAMA_HOST', {}],
  ['llama.cpp at OPENAI_BASE_URL', 'openai', 'OPENAI_BASE_URL', {}],
] as const)('asks nothing with %s', async (machine, vendor, variable, env) => {
  home = makeHome(null);
  const { base } = await opened(vendor, { models: ['local'] });
  start([], { [variable]: base, ...env });
  await answer(/^hi> *$/m, QUESTION);
  expect(await questionsBefore(machine)).toBe(0);
});

it('says that an old history is kept, and asks as much as where there is nothing', async () => {
  home = makeHome(null);
  const store = await HistoryStore.open({ folder: home.data, now: () => new Date() });
  const { turn } = await store.begin(says('Are you there?'));
  await store.append(turn, [answers('Always.')]);
  await store.close();
  const { base } = await opened('openai', { models: ['local'] });
  start([], {});
  await terminal.until('What was said before is kept.');
  await answer('Which provider', KEY.up);
  await answer('Address of the server', 'http://127.0.0.1:9');
  await answer('API key of the server', '');
  await answer('What now?', '');
  // What was typed is offered again.
  await answer('leave empty to keep http://127.0.0.1:9', base);
  await answer(/try again[\s\S]*API key of the server/, '');
  await answer(/Always\.\n+hi> *$/, QUESTION);
  expect(await questionsBefore('an old history, with a mistyped address')).toBe(6);
  expect(JSON.parse(readFileSync(home.configFile, 'utf8'))).toMatchObject({ model: 'local', api_base: base });
});
