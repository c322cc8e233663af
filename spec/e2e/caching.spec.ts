import { afterEach, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(title: string, config: JsonObject = {}): Promise<void> {
  const dialect = dialects.find((one) => one.title === title);
  if (dialect === undefined) throw new Error(`There is no dialect '${title}'.`);
  server = await chatServer(dialect.text('Hello.'));
  const { provider, settings, path } = dialect;
  const own = settings.options ? { [provider]: settings.options } : {};
  home = makeHome({ provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}`, ...own, ...config });
}

/** Six turns, so many minutes apart, and as many minutes ago. */
async function talkedBefore(minutes: number): Promise<void> {
  for (const times of [6, 5, 4, 3, 2, 1]) {
    const now = (): Date => new Date(Date.now() - times * minutes * 60_000);
    const store = await HistoryStore.open({ folder: home.data, now });
    const { turn } = await store.begin(says('Before.'));
    await store.append(turn, [answers('Yes.')]);
    await store.close();
  }
}

const bodies = () => server.requests.map(({ body }) => body);

it('gives OpenAI one key for all requests of a conversation, and another after a reset', async () => {
  await start('OpenAI Responses');
  await runProgram(home, ['ask', 'a']);
  await runProgram(home, ['ask', 'b']);
  await runProgram(home, ['reset', '-y']);
  await runProgram(home, ['ask', 'c']);
  const [first, second, third] = bodies().map(({ prompt_cache_key }) => prompt_cache_key);
  expect(first).toEqual(expect.stringMatching(/^\S{8,64}$/));
  expect(second).toBe(first);
  expect(third).not.toBe(first);
});

it.each([
  ['for twelve hours where such pauses are the rule', 45, { ttl: '12h' }],
  ['for the usual half an hour where they are shorter', 20, undefined],
  ['nothing where they are longer than twelve hours', 1500, { mode: 'explicit' }],
])('has OpenAI cache %s', async (_what, minutes, options) => {
  const own = { provider: 'openai', model: 'gpt-6.1-sol', api_key: 'k', api_base: 'http://api.openai.com/v1' };
  await start('OpenAI Responses', own);
  await talkedBefore(minutes);
  const env = { HTTP_PROXY: server.url, NO_PROXY: '127.0.0.1' };
  await runProgram(home, ['ask', 'Now.'], { env });
  expect(bodies().map((body) => body.prompt_cache_options)).toEqual([options]);
});

it('gives no key to compatible servers, which may refuse it', async () => {
  await start('OpenAI Chat Completions');
  await runProgram(home, ['ask', 'a']);
  expect(bodies()[0]).not.toHaveProperty('prompt_cache_key');
});

it.each([
  ['for an hour where such pauses are the rule', 6, { type: 'ephemeral', ttl: '1h' }],
  ['for the usual five minutes where they are shorter', 3, { type: 'ephemeral' }],
  ['nothing where they are longer than an hour', 90, null],
])('has Anthropic cache %s', async (_what, minutes, mark) => {
  await start('Anthropic', { preamble: 'Be brief.' });
  await talkedBefore(minutes);
  await runProgram(home, ['ask', 'Now.']);
  const marks = [...JSON.stringify(bodies()[0]).matchAll(/"cache_control":(\{[^}]*\})/g)].map(([, one = '']) =>
    JSON.parse(one),
  );
  expect(marks).toEqual(mark === null ? [] : [mark, mark]);
});

const OWN: readonly (readonly [string, string, (body: JsonObject) => unknown, unknown])[] = [
  ['Anthropic', 'http://api.anthropic.com', (body) => body.tool_choice, { type: 'none' }],
  ['OpenAI Responses', 'http://api.openai.com/v1', (body) => body.tool_choice, 'none'],
  [
    'Gemini',
    'http://generativelanguage.googleapis.com',
    (body) => body.toolConfig,
    { functionCallingConfig: { mode: 'NONE' } },
  ],
];

it.each(OWN)('keeps what %s has in its cache for a question without tools', async (title, api_base, choice, none) => {
  await start(title, { api_base });
  const env = { HTTP_PROXY: server.url, NO_PROXY: '127.0.0.1' };
  for (const options of [[], ['--no-tools']]) await runProgram(home, ['ask', ...options, 'Now.'], { env });
  const [usual, kept] = bodies();
  expect(JSON.stringify(kept?.tools)).toContain('list_files');
  expect(kept?.tools).toEqual(usual?.tools);
  expect(bodies().map(choice)).toEqual([undefined, none]);
});

it('sends no tools where none were sent before, or the web is to be searched', async () => {
  await start('OpenAI Responses', { api_base: 'http://api.openai.com/v1' });
  const env = { HTTP_PROXY: server.url, NO_PROXY: '127.0.0.1' };
  for (const options of [[], [], ['--web']]) await runProgram(home, ['ask', '--no-tools', ...options, 'Now.'], { env });
  expect(bodies().map(({ tools }) => tools)).toEqual([undefined, undefined, [{ type: 'web_search' }]]);
});
