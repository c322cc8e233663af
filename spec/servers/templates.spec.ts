import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { REAL_SERVERS, startRealServer } from '../support/real-server.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { tellTable } from '../support/server-table.js';
import { type TemplateServer, templateServer, type Written } from '../support/template-server.js';
import { withRealServers } from '../support/where.js';

/**
 * What was said before any of these templates is met: words beside two calls of tools, their results, a call without
 * words, answers.
 */
const BEFORE = ['ALPHA-1', 'BRAVO-2', 'one.txt', 'CHARLIE-3', 'two.txt', 'DELTA-4', 'ECHO-5', 'FOXTROT-6', 'GOLF-7'];
const SUMMARY = 'The user and the assistant talked about gardens. The word is PASSWORD-77.';
const FILES = { 'one.txt': 'CHARLIE-3', 'two.txt': 'DELTA-4', 'three.txt': 'KILO-11' };
const read = (path: keyof typeof FILES) => ['read_file', { path }] as const;

/** The templates that took everything. */
const whole: string[] = [];

/** Made once, by whoever comes first. */
let before: Promise<Home> | null = null;

withRealServers(() => {
  afterAll(async () => {
    (await before)?.remove();
    if (whole.length < templates().length || process.env.HI_TEMPLATES) return;
    const what = `the chat templates of ${whole.length} models, calls and results in the conversation`;
    tellTable([{ server: 'llama.cpp 11434', what, turns: 3, summary: 'in every prompt' }]);
  });

  describe('the chat template of', () => {
    it.concurrent.each(templates())(
      '%s takes a conversation with calls of tools and its summary, whole',
      async (template) => {
        const server = await startRealServer('llama', '--template', template, '--context', '8192');
        await using _ = server;
        await using proxy = await templateServer(new URL(server.url).origin, write);
        const home = makeHome({ provider: 'openai', api_base: `${proxy.url}/v1` });
        fill(home);
        before ??= homeWithCalls();
        cpSync((await before).data, home.data, { recursive: true });
        const lines = ['And now? HOTEL-8', '/compact', 'Look. INDIA-9', 'Thank you. JULIET-10'];
        const run = await runProgram(home, ['chat'], { input: `${lines.join('\n')}\n` });
        expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
        expect(lost(proxy, 'HOTEL-8', BEFORE)).toEqual([]);
        const hasTools = proxy.rendered.some(({ body }) => Array.isArray(body.tools));
        const later = ['PASSWORD-77', 'INDIA-9', ...(hasTools ? ['LIMA-12', 'three.txt', 'KILO-11'] : [])];
        expect(lost(proxy, 'JULIET-10', later)).toEqual([]);
        expect(proxy.rendered.filter(({ status }) => status !== 200)).toEqual([]);
        home.remove();
        whole.push(template);
      },
      600_000,
    );
  });
});

/** All that the real servers have, or those with a name that HI_TEMPLATES names. */
function templates(): readonly string[] {
  const all = readdirSync(join(REAL_SERVERS, 'templates')).map((name) => name.replace(/\.jinja$/, ''));
  return all.filter((name) => name.includes(process.env.HI_TEMPLATES ?? ''));
}

/** A conversation with calls of tools, held with a server that takes everything. */
async function homeWithCalls(): Promise<Home> {
  const replies = [
    { text: 'Let me look. BRAVO-2', calls: [read('one.txt'), read('two.txt')] },
    { text: 'ECHO-5' },
    { calls: [read('one.txt')] },
    { text: 'GOLF-7' },
  ].map(({ calls = [], ...rest }) => ({ ...rest, calls: calls.map(([name, args]) => ({ name, args })) }));
  const server = await startScriptedServer((_, index) => replies[index] ?? {});
  const home = makeHome({ provider: 'openai', api_base: server.base, model: 'm' });
  fill(home);
  const run = await runProgram(home, ['chat'], { input: 'Look at the garden. ALPHA-1\nAgain. FOXTROT-6\n' });
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  expect(server.requests).toHaveLength(4);
  await server.close();
  return home;
}

function fill(home: Home): void {
  for (const [name, words] of Object.entries(FILES)) home.write(name, words);
}

/** What the model would write. */
function write(body: JsonObject): Written {
  const said = JSON.stringify(body.messages);
  if (said.includes('keep the record of')) return { text: SUMMARY };
  const isAsked = said.includes('INDIA-9') && !said.includes('KILO-11') && Array.isArray(body.tools);
  return isAsked ? { text: 'I look. LIMA-12', calls: [read('three.txt')] } : { text: 'It is fine.' };
}

/** Which of the words are not in what the model would read when `asked` is asked. */
function lost({ rendered }: TemplateServer, asked: string, words: readonly string[]): readonly string[] {
  const found = rendered.findLast(({ body }) => newest(body).includes(asked));
  return [asked, ...words].filter((word) => !found?.prompt.includes(word));
}

function newest({ messages }: JsonObject): string {
  const all: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const last = all.findLast((message) => isJsonObject(message) && message.role === 'user');
  return JSON.stringify(last ?? '');
}
