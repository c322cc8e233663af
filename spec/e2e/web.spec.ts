import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, namedSse, ndjson, sse, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
import { citedText, PAGES, searchBlocks, WEB_ANSWERS } from '../support/web-answers.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(config: JsonObject, ...answers: readonly VendorAnswer[]): Promise<void> {
  server = await chatServer(...answers);
  home = makeHome({ model: 'm', api_key: 'k', api_base: server.url, ...config });
}

const hi = (...args: string[]) => runProgram(home, args);
const answerOf = (title: string): VendorAnswer => WEB_ANSWERS[title]?.answer ?? {};
const configOf = (title: string): JsonObject => WEB_ANSWERS[title]?.config ?? {};
const lastBody = () => server.requests.at(-1)?.body ?? {};
const toolsOf = (body: JsonObject): readonly JsonObject[] =>
  Array.isArray(body.tools) ? (body.tools as JsonObject[]) : [];

const AT_VENDOR = [
  ['openai', 'gpt-6.1-sol', 'http://api.openai.com/v1', { type: 'web_search' }],
  ['anthropic', 'claude-sonnet-5-5', 'http://api.anthropic.com', { type: 'web_search_20260318' }],
  ['anthropic', 'claude-haiku-4-5-20251001', 'http://api.anthropic.com', { type: 'web_search_20250305' }],
] as const;

it.each(AT_VENDOR)('searches from the configured place at %s by %s', async (provider, model, api_base, tool) => {
  server = await chatServer(answerOf(provider === 'openai' ? 'OpenAI Responses' : 'Anthropic'));
  const place = { user_location: { country: 'NO', city: 'Oslo' } };
  const own = provider === 'openai' && { openai: { api: 'responses' } };
  home = makeHome({ provider, model, api_key: 'k', api_base, options: place, ...own });
  const env = { HTTP_PROXY: server.url, NO_PROXY: '127.0.0.1' };
  await runProgram(home, ['ask', '--web', 'x'], { env });
  const body = lastBody();
  const { user_location } = { ...toolsOf(body).at(-1) };
  expect(toolsOf(body).at(-1)).toMatchObject(tool);
  expect([user_location, body.user_location]).toEqual([{ ...place.user_location, type: 'approximate' }, undefined]);
});

describe.each([
  ['OpenAI Responses', { type: 'web_search' }],
  ['Anthropic', { type: 'web_search_20250305', name: 'web_search' }],
  ['Gemini', { googleSearch: {} }],
])('the search of %s', (title, tool) => {
  it('is offered in addition to the tools, or without them, and not by default', async () => {
    await start(configOf(title), answerOf(title));
    expect(await hi('ask', '--web', 'x')).toMatchObject({ status: 0, stdout: 'It is cold.\n' });
    const tools = toolsOf(lastBody());
    expect(tools.at(-1)).toMatchObject(tool);
    expect(JSON.stringify(tools)).toContain('read_file');
    expect(await hi('ask', '--web', '--no-tools', 'x')).toMatchObject({ status: 0 });
    expect(toolsOf(lastBody())).toHaveLength(1);
    expect(lastBody().tool_choice).toBeUndefined();
    await hi('ask', 'x');
    expect(server.requests).toHaveLength(3);
    expect(toolsOf(lastBody())).not.toContainEqual(expect.objectContaining(tool));
  });
});

it.each([
  ['"web": "on"', 'on', [], true],
  ['"web": "auto"', 'auto', [], true],
  ['"web": "on" and --no-web', 'on', ['--no-web'], false],
])('is offered as configured with %s', async (_how, web, options, isOffered) => {
  await start({ ...configOf('OpenAI Responses'), web }, answerOf('OpenAI Responses'));
  expect(await hi('ask', ...options, 'x')).toMatchObject({ status: 0, stdout: 'It is cold.\n' });
  expect(toolsOf(lastBody()).some(({ type }) => type === 'web_search')).toBe(isOffered);
});

describe('a search that pauses the answer', () => {
  const opening = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 10, output_tokens: 1 } } };
  const piece = (stop_reason: string, ...blocks: readonly JsonObject[]): VendorAnswer =>
    namedSse(
      opening,
      ...blocks,
      { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    );
  const text = (index: number, words: string) => citedText(index, words, []);

  it('continues in the same turn, with everything that was said', async () => {
    await start(
      { provider: 'anthropic' },
      piece('pause_turn', ...text(0, 'Let me see. '), ...searchBlocks(1)),
      piece('pause_turn', ...searchBlocks(0, 'srvtoolu_2')),
      piece('end_turn', ...citedText(0, 'It is cold.', PAGES)),
    );
    const run = await hi('ask', '--web', '--json', 'How is the weather?');
    expect(JSON.parse(run.stdout)).toMatchObject({
      text: 'Let me see. It is cold.',
      stop_reason: 'end',
      sources: PAGES,
      usage: { input_tokens: 30, output_tokens: 15 },
    });
    expect(server.requests).toHaveLength(3);
    const sent = lastBody().messages as { role: string; content: JsonObject[] }[];
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(sent[1]?.content).toMatchObject([
      { type: 'text', text: 'Let me see. ' },
      { type: 'server_tool_use', id: 'srvtoolu_1', input: { query: 'weather oslo' } },
      { type: 'web_search_tool_result', content: [{ encrypted_content: 'SEALED' }, { encrypted_content: 'SEALED' }] },
      { type: 'server_tool_use', id: 'srvtoolu_2' },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_2' },
    ]);
    const history = JSON.parse((await hi('history', '--json')).stdout);
    expect(history.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
  });

  it('ends after a while, with a notice', async () => {
    await start({ provider: 'anthropic' }, piece('pause_turn', ...text(0, 'x')));
    const run = await hi('ask', '--web', 'x');
    expect(run).toMatchObject({ status: 0, stdout: `${'x'.repeat(11)}\n` });
    expect(run.stderr).toContain('The search paused 10 times; the answer may be incomplete.');
  });

  it('keeps the partial answer if it cannot be continued', async () => {
    await start({ provider: 'anthropic' }, piece('pause_turn', ...text(0, 'So far.')), {
      status: 400,
      chunks: [JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: 'no' } })],
    });
    expect(await hi('ask', '--web', 'x')).toMatchObject({ status: 5, stdout: 'So far.\n' });
    expect((await hi('history')).stdout).toContain('So far.\n[interrupted]');
  });
});

it('sends what Anthropic found and its citations back while it may search, and leaves them out otherwise', async () => {
  await start({ provider: 'anthropic' }, answerOf('Anthropic'));
  await hi('ask', '--web', 'x');
  await hi('ask', '--web', 'y');
  expect(lastBody().messages).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use' },
        { type: 'web_search_tool_result' },
        { type: 'text', text: 'It is cold.', citations: PAGES.map((page) => ({ ...page, encrypted_index: 'E' })) },
      ],
    },
    { role: 'user' },
  ]);
  await hi('ask', 'z');
  const [, said] = lastBody().messages as { content: JsonObject[] }[];
  expect(said?.content).toEqual([{ type: 'text', text: 'It is cold.' }]);
});

describe('Gemini before its third generation', () => {
  const config = { provider: 'gemini', model: 'gemini-2.5-flash' };

  it('gets the search in place of the tools if it was requested explicitly, with a notice', async () => {
    await start(config, answerOf('Gemini'));
    expect((await hi('ask', '--web', 'x')).stderr).toContain(
      'gemini-2.5-flash supports a web search or tools, not both',
    );
    expect(lastBody()).toMatchObject({ tools: [{ googleSearch: {} }] });
    expect(lastBody()).not.toHaveProperty('toolConfig');
  });

  it('keeps its tools with "auto"', async () => {
    await start({ ...config, web: 'auto' }, answerOf('Gemini'));
    expect((await hi('ask', 'x')).stderr).not.toContain('not both');
    expect(JSON.stringify(lastBody())).not.toContain('googleSearch');
  });
});

describe('a server of OpenAI’s protocol', () => {
  const plain = sse({ choices: [{ index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }] }, '[DONE]');
  const NOTICE = 'No web search: ';

  it('is reported once to have no search, and answers without', async () => {
    await start({ provider: 'openai' }, plain);
    const run = await runProgram(home, ['chat', '--web'], { input: 'a\nb\n' });
    expect(run).toMatchObject({ status: 0, stdout: 'Hello.\n\nHello.\n' });
    expect(run.stderr.split(NOTICE)).toHaveLength(2);
  });

  it('is not reported with "auto"', async () => {
    await start({ provider: 'openai', web: 'auto' }, plain);
    expect((await hi('ask', 'x')).stderr).toBe('');
  });

  it.each([
    ['the plugin of OpenRouter when it was asked for by name', 'openrouter.ai', ['--web'], [{ id: 'web' }]],
    ['no plugin, which costs, with "auto"', 'openrouter.ai', [], undefined],
    ['nothing at Perplexity, which always searches', 'api.perplexity.ai', ['--web'], undefined],
  ])('gets %s', async (_what, host, options, plugins) => {
    await start({ provider: 'openai', api_key: null, api_base: `http://${host}/api/v1`, web: 'auto' }, plain);
    const run = await runProgram(home, ['ask', ...options, 'x'], { env: { HTTP_PROXY: server.url } });
    expect(run).toEqual({ status: 0, stdout: 'Hello.\n', stderr: '' });
    expect(lastBody().plugins).toEqual(plugins);
  });
});

it('is not sent the search again if the model refuses it, with one notice', async () => {
  const refused = {
    status: 400,
    chunks: [JSON.stringify({ error: { message: "Hosted tool 'web_search' is not supported with m." } })],
  };
  const answer = answerOf('OpenAI Responses');
  await start(configOf('OpenAI Responses'), refused, answer, answer);
  const first = await hi('ask', '--web', 'x');
  expect(first).toMatchObject({ status: 0, stdout: 'It is cold.\n' });
  expect(first.stderr).toContain("'m' cannot search the web here: it answers without searching.");
  expect((await hi('ask', '--web', 'y')).stderr).not.toContain('cannot search');
  const offered = server.requests.map(({ body }) => toolsOf(body).some(({ type }) => type === 'web_search'));
  expect(offered).toEqual([true, false, false]);
});

it('is a setting of the chat', async () => {
  await start(configOf('OpenAI Responses'), answerOf('OpenAI Responses'));
  const run = await runProgram(home, ['chat'], { input: '/web\n/web on\nx\n/web off\ny\n/web sometimes\n' });
  expect(run.stdout).toBe('Web search: off.\n\nWeb search: on.\n\nIt is cold.\n\nWeb search: off.\n\nIt is cold.\n');
  expect(run.stderr).toContain("Unknown setting 'sometimes'");
  expect(server.requests.map(({ body }) => toolsOf(body).some(({ type }) => type === 'web_search'))).toEqual([
    true,
    false,
  ]);
});

describe('the search of Ollama', () => {
  const line = (message: JsonObject, done = false): JsonObject => ({
    model: 'm',
    message: { role: 'assistant', content: '', ...message },
    done,
    ...(done && { done_reason: 'stop', prompt_eval_count: 7, eval_count: 3 }),
  });
  const searching = ndjson(
    line({ content: 'Let me see. ' }),
    line({ tool_calls: [{ function: { name: 'web_search', arguments: { query: 'weather oslo' } } }] }),
    line({}, true),
  );
  const results = { chunks: [JSON.stringify({ results: PAGES.map((page) => ({ ...page, content: 'Minus 3.' })) })] };
  const answer = ndjson(line({ content: 'It is cold.' }), line({}, true));
  const notThere = { status: 404, chunks: ['404 page not found'] };
  const posts = () => server.requests.filter(({ method }) => method === 'POST');

  it('is a tool that hi runs, with the key, in the same answer', async () => {
    await start({ provider: 'ollama' }, searching, results, answer);
    const run = await hi('ask', '--web', '--json', 'How is the weather?');
    expect(JSON.parse(run.stdout)).toMatchObject({
      text: 'Let me see. It is cold.',
      stop_reason: 'end',
      sources: PAGES,
      usage: { input_tokens: 14, output_tokens: 6 },
      tool_calls: [],
    });
    const [first, search, last] = posts();
    expect(JSON.stringify(first?.body.tools)).toContain('web_search');
    expect(search).toMatchObject({ path: '/api/web_search', body: { query: 'weather oslo', max_results: 5 } });
    expect(search?.headers.authorization).toBe('Bearer k');
    expect(last?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'web_search' } }] },
      { role: 'tool', tool_name: 'web_search', content: expect.stringContaining('Minus 3.') },
    ]);
    const history = JSON.parse((await hi('history', '--json')).stdout);
    expect(history.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant']);
  });

  it('goes through a server that is signed in', async () => {
    await start({ provider: 'ollama' }, searching, notThere, results, answer);
    expect(await hi('ask', '--web', 'x')).toMatchObject({ status: 0, stdout: 'Let me see. It is cold.\n' });
    expect(posts().map(({ path }) => path)).toEqual([
      '/api/chat',
      '/api/web_search',
      '/api/experimental/web_search',
      '/api/chat',
    ]);
  });

  it('uses the address of the cloud with the key of OLLAMA_API_KEY', async () => {
    await start({ provider: 'ollama', api_key: null, api_base: 'http://ollama.com' }, searching, results, answer);
    const env = { HTTP_PROXY: server.url, OLLAMA_API_KEY: 'of-the-cloud' };
    const run = await runProgram(home, ['ask', '--web', 'x'], { env });
    expect(run).toMatchObject({ status: 0, stdout: 'Let me see. It is cold.\n' });
    expect(posts().map(({ path, headers }) => [path, headers.authorization])).toContainEqual([
      'http://ollama.com/api/web_search',
      'Bearer of-the-cloud',
    ]);
  });

  it('that fails is reported to the model and to the user', async () => {
    const refused = { status: 401, chunks: ['{"error":"unauthorized"}'] };
    await start({ provider: 'ollama' }, searching, refused, refused, answer);
    const run = await hi('ask', '--web', 'x');
    expect(run).toMatchObject({ status: 0, stdout: 'Let me see. It is cold.\n' });
    expect(run.stderr).toContain('The web search failed: Ollama refused the key.');
    expect(JSON.stringify(posts().at(-1)?.body)).toContain('Ollama refused the key');
  });

  it('leaves other calls to the other tools', async () => {
    const both = ndjson(
      line({
        tool_calls: ['web_search', 'list_files'].map((name) => ({
          function: { name, arguments: { query: 'x', path: '.' } },
        })),
      }),
      line({}, true),
    );
    const lists = ndjson(
      line({ tool_calls: [{ function: { name: 'list_files', arguments: { path: '.' } } }] }),
      line({}, true),
    );
    await start({ provider: 'ollama' }, both, results, lists, answer);
    const { tool_calls, text } = JSON.parse((await hi('ask', '--web', '--json', 'x')).stdout);
    expect(text).toBe('It is cold.');
    expect(tool_calls).toMatchObject([{ name: 'list_files' }]);
  });

  it('is not offered without a key, silently with "auto"', async () => {
    await start({ provider: 'ollama', api_key: null }, answer);
    expect((await hi('ask', '--web', 'x')).stderr).toContain("No web search: Ollama's search needs a key");
    home.writeConfig(JSON.stringify({ provider: 'ollama', model: 'm', api_base: server.url, web: 'auto' }));
    expect((await hi('ask', 'x')).stderr).not.toContain('No web search');
    for (const { body } of posts()) expect(JSON.stringify(body.tools ?? [])).not.toContain('web_search');
  });
});
