import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { PrefixChecks } from '../support/prefix-checks.js';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';

let claude: PrefixChecks;
let server: VendorServer;
let home: Home;

beforeEach(async () => {
  claude = new PrefixChecks();
  server = await chatServer(claude.answer);
  const common = { provider: 'anthropic', model: 'claude-sonnet-5-5', api_key: 'k', api_base: server.url };
  home = makeHome({ ...common, small_model: { ...common, model: 'claude-haiku-5-5' }, project_instructions: 'on' });
  mkdirSync(join(home.work, 'project/.git'), { recursive: true });
  home.write('project/AGENTS.md', 'Be brief here.');
  home.write('notes.txt', 'Notes.');
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function hi(...args: string[]): Promise<Run> {
  const run = await runProgram(home, args);
  expect(run).toMatchObject({ status: 0 });
  return run;
}

/** Asks, with calls in between, and finds all thinking that the rule allows in each request and no notice on stderr. */
async function ask(...args: string[]): Promise<void> {
  const before = claude.requests.length;
  const run = await hi('ask', ...args);
  expect(run.stderr).not.toContain('thinking');
  const made = claude.requests.slice(before);
  expect(made.filter(({ isRefused }) => isRefused)).toEqual([]);
  for (const { thinking, allowed } of made) expect(thinking).toEqual(allowed);
  // A loop of calls never goes on without what the model thought in it.
  for (const [at, { thinking }] of made.entries()) expect(thinking.length).toBeGreaterThanOrEqual(at);
}

const WAYS: Readonly<Record<string, () => Promise<unknown>>> = {
  'a compaction': () => hi('compact', '--strategy', 'truncate'),
  'a memory line': () => hi('remember', 'Likes tea.'),
  'a skill': async () => {
    mkdirSync(join(home.config, 'skills'), { recursive: true });
    writeFileSync(join(home.config, 'skills/tea.md'), 'How to make tea.');
  },
  'a search': () => ask('--web', 'What is new? look 1'),
  'a question without tools': () => ask('--no-tools', 'Only say it.'),
  'a question with other tools': () => ask('--tools', 'read_file,list_files', 'And now? look 1'),
  'a folder with instructions': async () => {
    const { work } = home;
    home = { ...home, work: join(work, 'project') };
    await ask('What is here? look 2');
    home = { ...home, work };
  },
  'something forgotten': () => hi('forget', 'second', '-y'),
  'a turn taken back': () => hi('forget', '--last', '-y'),
  'a system prompt': () => ask('-s', 'You are a pirate.', 'Who are you? look 1'),
  'a summary': () => hi('compact'),
};

it('sends thinking back exactly where nothing before it has changed, and is never refused', async () => {
  await ask('The first. look 2');
  await ask('The second.');
  await ask('The third. look 1');
  for (const [way, change] of Object.entries(WAYS)) {
    await change();
    await ask(`After ${way}. look 2`);
    await ask('One more.');
    await ask('Once more. look 1');
  }
  expect(claude.requests.filter(({ thinking }) => thinking.length > 2).length).toBeGreaterThan(20);
}, 120_000);
