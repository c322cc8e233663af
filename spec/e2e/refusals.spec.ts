import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { RULES, type Rule, refusing, WORDLESS } from '../support/refusing-server.js';
import { chatServer, refusal, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

const dialectOf = (provider: string): Dialect => {
  const found = dialects.find((one) => one.provider === provider);
  if (found === undefined) throw new Error(`There is no dialect of ${provider}.`);
  return found;
};
const rule = (name: string): Rule => {
  const found = RULES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no rule '${name}'.`);
  return found;
};
const hi = (...args: string[]) => runProgram(home, args);

/** Says these lines one after another in one chat. */
const say = (...lines: string[]) => runProgram(home, ['chat'], { input: `${lines.join('\n')}\n` });

/** A server of some rules, and a `hi` that talks to it. */
async function start(provider: string, rules: readonly Rule[], config: JsonObject = {}): Promise<void> {
  const dialect = dialectOf(provider);
  server = await chatServer(refusing(dialect, rules));
  const path = provider === 'openai' ? '/v1' : '';
  home = makeHome({ provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}`, ...config });
}

/** The requests that `hi` made for a run. */
async function asked(...args: string[]) {
  const before = server.requests.length;
  const run = await hi(...args);
  return { ...run, requests: server.requests.length - before };
}

describe('the templates of Qwen 3.5', () => {
  const QWEN: Rule = {
    name: 'a second system message',
    status: 500,
    said: 'System message must be at the beginning.',
    breaks: ({ messages }) =>
      Array.isArray(messages) && messages.filter((one) => isJsonObject(one) && one.role === 'system').length > 1,
  };

  it('take a preamble, a skill and a summary', async () => {
    await start('openai', [QWEN], { preamble: 'Be kind.' });
    mkdirSync(join(home.config, 'skills'));
    writeFileSync(join(home.config, 'skills', 'git.md'), 'Commit often.\n');
    await say('one', 'two', 'three', 'four', 'five');
    expect(await hi('compact')).toMatchObject({ status: 0 });
    expect(await asked('ask', 'and now?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 1 });
    const text = JSON.stringify(server.requests.at(-1)?.body);
    for (const part of ['Be kind.', 'Commit often.', '[Compressed Message Summary]']) expect(text).toContain(part);
  });
});

describe('an image that another model has seen', () => {
  it.each(['images (llama.cpp)'])('is told in words: %s', async (name) => {
    await start('openai', []);
    writeFileSync(join(home.work, 'cat.png'), PNG);
    expect(await hi('ask', '-f', 'cat.png', 'what is it?')).toMatchObject({ status: 0 });
    await server[Symbol.asyncDispose]();
    server = await chatServer(refusing(dialectOf('openai'), [rule(name)]));
    home.writeConfig(
      JSON.stringify({ provider: 'openai', model: 'blind', api_base: `${server.url}/v1`, api_key: 'k' }),
    );
    const first = await asked('ask', 'and now?');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'blind' does not support images: those of earlier messages are only mentioned.");
    expect(await asked('ask', 'and then?')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    const newest = await asked('ask', '-f', 'cat.png', 'this one?');
    expect(newest).toMatchObject({ status: 5, requests: 0 });
    expect(newest.stderr).toContain("The model 'blind' cannot see images.");
    expect(newest.stderr).toContain('The conversation goes on without this message.');
    expect(await asked('ask', 'and then?')).toMatchObject({ status: 0, requests: 1 });
  });
});

describe('content that only its author can read', () => {
  const OPAQUE = /"signature"|"encrypted_content"|"thoughtSignature":"(?!skip_)/;
  const goesBack = () => OPAQUE.test(JSON.stringify(server.requests.at(-1)?.body));

  it.each([
    ['anthropic', 'messages'],
    ['openai', 'responses'],
    ['gemini', 'contents'],
  ])('is sent back with the same key alone: %s', async (provider, api) => {
    const dialect = dialects.find(
      (one) => one.provider === provider && (api === 'responses') === one.title.endsWith('Responses'),
    );
    if (dialect === undefined) throw new Error(provider);
    server = await chatServer(dialect.tools({ name: 'list_files', args: { path: '.' } }), dialect.text('Fine.'));
    const config = {
      provider,
      model: 'm',
      api_base: `${server.url}${dialect.path}`,
      ...(api === 'responses' && { openai: { api } }),
    };
    home = makeHome({ ...config, api_key: 'sk-of-one-account' });
    expect(await hi('ask', 'look')).toMatchObject({ status: 0 });
    expect(await hi('ask', 'and now?')).toMatchObject({ status: 0 });
    expect(goesBack()).toBe(true);
    home.writeConfig(JSON.stringify({ ...config, api_key: 'sk-of-another-account' }));
    expect(await hi('ask', 'and then?')).toMatchObject({ status: 0 });
    expect(goesBack()).toBe(false);
  });
});

describe('a server without tools', () => {
  // All rules at all vendors: spec/session/refusals.
  it('answers at once', async () => {
    await start('openai', [rule('tools (vLLM)')]);
    const first = await asked('ask', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'m' does not support tools here: it answers without them.");
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    expect((await hi('config', 'check')).stdout).toMatch(
      /^- +left out: tools: 'm' refused it\. It is tried again in (?:59|60) minutes, or at once by 'hi config check --live'/m,
    );
  });
});

describe('a refusal with 404', () => {
  const page = (said: string) =>
    `<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1><p>${said}</p></body></html>`;
  // Every form: spec/providers/common/failure.
  it('is judged by its message: tools, in a page', async () => {
    const said = page('Unrecognized request argument supplied: tools');
    server = await chatServer((body) =>
      'tools' in body ? { status: 404, chunks: [said] } : dialectOf('ollama').text('Fine.'),
    );
    home = makeHome({ provider: 'ollama', model: 'm', api_base: server.url });
    const first = await asked('ask', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'m' does not support tools here: it answers without them.");
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
  });

  it('is judged by its message: a level, in a text', async () => {
    const said = 'Unsupported value: high';
    server = await chatServer((body) =>
      body.think === 'high' ? { status: 404, chunks: [said] } : dialectOf('ollama').text('Fine.'),
    );
    home = makeHome({ provider: 'ollama', model: 'gpt-oss', api_base: server.url });
    const first = await asked('ask', '--think', 'high', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'gpt-oss' does not support thinking 'high': 'medium' is used.");
  });

  it('is judged by its message: an image, in a string', async () => {
    const said = JSON.stringify('unsupported content type image_url');
    server = await chatServer((body) =>
      JSON.stringify(body).includes('"images"') ? { status: 404, chunks: [said] } : dialectOf('ollama').text('Fine.'),
    );
    home = makeHome({ provider: 'ollama', model: 'm', api_base: server.url });
    writeFileSync(join(home.work, 'cat.png'), PNG);
    const image = await asked('ask', '-f', 'cat.png', 'what is it?');
    expect(image).toMatchObject({ status: 5 });
    expect(image.stderr).toContain('The conversation goes on without this message.');
    expect(await asked('ask', 'and now?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 1 });
  });
});

describe('a server that does not stream', () => {
  it.each(dialects.slice(2, 3).map((dialect) => [dialect.title, dialect] as const))(
    'answers whole, and is not asked to stream again: %s',
    async (_title, dialect) => {
      const { provider, path, settings } = dialect;
      server = await chatServer(refusing(dialect, [rule('pieces (a gateway)')]));
      const { options } = settings;
      home = makeHome({
        provider,
        model: 'm',
        api_key: 'k',
        api_base: `${server.url}${path}`,
        ...(options && { openai: options }),
      });
      const first = await asked('ask', 'hello');
      expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n' });
      expect(first.stderr).toContain(
        "'m' does not stream here: answers arrive in one piece. (Streaming is not supported.)",
      );
      const chats = () => server.requests.filter(({ path: at }) => at !== '/api/ps');
      expect(chats()).toHaveLength(2);
      expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', stderr: '' });
      expect(chats()).toHaveLength(3);
      expect(chats().at(-1)?.body.stream ?? false).toBe(false);
    },
  );
});

describe('an option of the configuration', () => {
  it('that the model refuses is left out, by its name, until it has another value', async () => {
    const config = { options: { temperature: 0.3, top_p: 0.5 } };
    await start('openai', [rule('an option (Anthropic)')], config);
    const first = await asked('ask', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'m' does not accept the option 'temperature' as configured: it is left out.");
    expect(server.requests.at(-1)?.body).toMatchObject({ top_p: 0.5 });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    expect(server.requests.at(-1)?.body.temperature).toBeUndefined();
    home.writeConfig(
      JSON.stringify({
        provider: 'openai',
        model: 'm',
        api_key: 'k',
        api_base: `${server.url}/v1`,
        options: { temperature: 1 },
      }),
    );
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 2 });
  });

  it("that exceeds the model's output limit is reduced to it", async () => {
    const long: Rule = {
      name: 'a long answer',
      status: 400,
      said: 'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
      breaks: ({ max_tokens }) => Number(max_tokens) > 16_384,
    };
    await start('openai', [long], { options: { max_output_tokens: 32_000 } });
    const first = await asked('ask', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain("'m' writes at most 16384 tokens in one answer.");
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: 16_384 });
  });

  it('that exceeds the window is reduced to what fits', async () => {
    await start('openai', [], { context_window: 8192, options: { max_output_tokens: 8192 } });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1 });
    expect(Number(server.requests.at(-1)?.body.max_tokens)).toBeLessThan(8192);
  });
});

describe('a model of Anthropic with a lower output limit', () => {
  it('than hi requests is asked for no more than its limit', async () => {
    await start('anthropic', [rule('a long answer (Anthropic)')]);
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2, stderr: '' });
    expect(server.requests.at(-1)?.body).toMatchObject({ max_tokens: 8192 });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1 });
  });
});

describe('a refusal that gives no reason', () => {
  const wordless = (name: string): Rule => {
    const found = WORDLESS.find((one) => one.name === name);
    if (found === undefined) throw new Error(`There is no rule '${name}'.`);
    return found;
  };

  it.each(dialects.slice(2, 3).map((dialect) => [dialect.title, dialect] as const))(
    'of an image that another server was shown ends in an answer, and is remembered when it comes again: %s',
    async (_title, dialect) => {
      const { provider, path, settings } = dialect;
      await start('openai', []);
      writeFileSync(join(home.work, 'cat.png'), PNG);
      await hi('ask', '-f', 'cat.png', 'what is it?');
      await server[Symbol.asyncDispose]();
      server = await chatServer(refusing(dialect, [wordless('images')]));
      const { options } = settings;
      home.writeConfig(
        JSON.stringify({
          provider,
          model: 'x',
          api_base: `${server.url}${path}`,
          api_key: 'k',
          ...(options && { openai: options }),
        }),
      );
      const first = await asked('ask', 'and now?');
      expect(first).toMatchObject({ status: 0, requests: 2 });
      const notice =
        "'x' refused the request: it answers without tools, the attachments of earlier messages. (Bad Request.)\n";
      expect(first.stderr).toContain(notice);
      const second = await asked('ask', 'and then?');
      expect(second).toMatchObject({ status: 0, requests: 2 });
      expect(second.stderr).toContain('refused');
      const third = await asked('ask', 'and then?');
      expect(third).toMatchObject({ status: 0, requests: 1 });
      expect(third.stderr).not.toContain('refused');
    },
  );

  it('with status 500 is retried before it is believed, for an hour', async () => {
    const said: Rule = { ...wordless('tools'), status: 500, said: 'Internal Server Error' };
    const answer = refusing(dialectOf('openai'), [said]);
    server = await chatServer((body) => {
      const { headers, ...rest } = answer(body);
      return rest.status === 500
        ? { ...rest, headers: { 'retry-after-ms': '1' } }
        : { ...rest, ...(headers && { headers }) };
    });
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    const first = await asked('ask', 'hello');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 3 });
    expect(first.stderr).toContain("'m' refused the request: it answers without tools. (Internal Server Error.)");
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 3 });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    const known = readFileSync(join(home.folder, 'cache', 'models.json'), 'utf8');
    const [, at = ''] = /"tools": (\d{13})/.exec(known) ?? [];
    expect(Date.now() - Number(at)).toBeLessThan(100_000);
  });

  it('with status 500 for three requests only is not a refusal', async () => {
    const down = () => ({ ...refusal(500, { error: 'Internal Server Error' }), headers: { 'retry-after-ms': '1' } });
    server = await chatServer(down(), down(), down(), dialectOf('openai').text('Fine.'));
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    const run = await asked('ask', 'hello');
    expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 4 });
    expect(run.stderr).not.toContain('without tools');
    expect(server.requests.map(({ body }) => body.tools !== undefined)).toEqual([true, true, false, true]);
  });

  it('with status 500 that nothing fixes is an error after four requests', async () => {
    const down = () => ({ ...refusal(500, { error: 'Internal Server Error' }), headers: { 'retry-after-ms': '1' } });
    server = await chatServer(down);
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    const run = await asked('ask', 'hello');
    expect(run).toMatchObject({ status: 5, requests: 4 });
    expect(run.stderr.match(/^Retry.*$/gm)?.[1]).toMatch(/^Retry 2 in \S+, for the same reason$/);
  });

  it('may be an empty answer', async () => {
    const chat = dialectOf('openai');
    server = await chatServer((body) =>
      wordless('tools').breaks(body) ? { headers: { 'content-type': 'text/event-stream' } } : chat.text('Fine.'),
    );
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    for (const requests of [3, 3, 1])
      expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests });
  });

  it('is retried once by config check --live', async () => {
    const chat = dialectOf('openai');
    let rules = [wordless('tools')];
    server = await chatServer((body) => refusing(chat, rules)(body));
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    await say('hello', 'hello');
    rules = [];
    await hi('ask', 'hello');
    expect(server.requests.at(-1)?.body.tools).toBeUndefined();
    expect(await hi('config', 'check', '--live')).toMatchObject({ status: 0 });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1 });
    expect(server.requests.at(-1)?.body.tools).toBeDefined();
  });

  it('that happens once applies to that question alone', async () => {
    const chat = dialectOf('openai');
    server = await chatServer(refusal(400, { error: { message: 'Bad Request' } }), chat.text('Fine.'));
    home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(server.requests.at(-1)?.body.tools).toBeUndefined();
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    expect(server.requests.at(-1)?.body.tools).toBeDefined();
  });

  it('from a firewall that inspects the conversation blocks nothing', async () => {
    await start('openai', []);
    writeFileSync(join(home.work, 'cat.png'), PNG);
    await hi('ask', '-f', 'cat.png', 'what is it?');
    await server[Symbol.asyncDispose]();
    server = await chatServer(refusing(dialectOf('openai'), [wordless('images (a firewall)')]));
    home.writeConfig(JSON.stringify({ provider: 'openai', model: 'x', api_base: `${server.url}/v1`, api_key: 'k' }));
    const first = await asked('ask', 'and now?');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain('it answers without tools, the attachments of earlier messages. (Access denied.)');
    const newest = await asked('ask', '-f', 'cat.png', 'this one?');
    expect(newest).toMatchObject({ status: 5, stdout: '' });
    expect(newest.stderr).toContain('perhaps from a firewall');
    expect(await asked('ask', 'and then?')).toMatchObject({ status: 0, stdout: 'Fine.\n' });
  });

  it('may be a web page with status 200, from a firewall that inspects the conversation', async () => {
    await start('openai', []);
    writeFileSync(join(home.work, 'cat.png'), PNG);
    await hi('ask', '-f', 'cat.png', 'what is it?');
    await server[Symbol.asyncDispose]();
    const page = { headers: { 'content-type': 'text/html' }, chunks: ['<html><title>Blocked</title></html>'] };
    const chat = dialectOf('openai');
    server = await chatServer((body) => (JSON.stringify(body).includes('image_url') ? page : chat.text('Fine.')));
    home.writeConfig(JSON.stringify({ provider: 'openai', model: 'x', api_base: `${server.url}/v1`, api_key: 'k' }));
    const first = await asked('ask', 'and now?');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(first.stderr).toContain('it answers without tools, the attachments of earlier messages. (a web page)');
    for (const requests of [2, 1]) expect(await asked('ask', 'and then?')).toMatchObject({ status: 0, requests });
  });

  it('that nothing fixes is sent twice in all, which the error says without a notice', async () => {
    const everything: Rule = { name: 'everything', status: 400, said: 'No.', breaks: () => true };
    await start('openai', [everything]);
    const run = await asked('ask', 'hello');
    expect(run).toMatchObject({ status: 5, requests: 2 });
    expect(run.stderr).not.toContain('refused the request');
    expect(run.stderr).toContain('It was sent once more in a plainer form, which was refused too.');
  });

  it.each([
    ['openai', 400, { error: 'Bad Request' }],
    ['openai', 422, { error: '' }],
    ['anthropic', 400, { error: 'Bad Request' }],
    ['ollama', 400, { error: 'Bad Request' }],
  ])('of everything but the plainest form is remembered completely: %s (%i)', async (provider, status, said) => {
    const PLAIN = new Set(['model', 'messages', 'stream', 'max_tokens', 'options']);
    const isPlain = (body: JsonObject) =>
      Object.keys(body).every((key) => PLAIN.has(key)) && !(Number(body.max_tokens) > 4096);
    const chat = dialectOf(provider);
    const answer = refusing(chat, []);
    server = await chatServer((body, path = '') =>
      path === '/api/show' || isPlain(body) ? answer(body, path) : refusal(status, said),
    );
    const path = provider === 'openai' ? '/v1' : '';
    home = makeHome({ provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}` });
    expect(await say('hello', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n\nFine.\n' });
    expect(server.requests).toHaveLength(4);
    expect(await asked('ask', 'hello')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 1 });
  });
});

describe('thinking', () => {
  const RULES_OF_TODAY: readonly Rule[] = [
    {
      name: 'minimal',
      status: 400,
      said: 'Thinking level MINIMAL is not supported for this model.',
      breaks: (body) => JSON.stringify(body).includes('MINIMAL'),
    },
    {
      name: 'disabled',
      status: 400,
      said: '"thinking.type.disabled" is not supported for this model.',
      breaks: (body) => JSON.stringify(body).includes('"disabled"'),
    },
    {
      name: 'budget',
      status: 400,
      said: 'Budget 0 is invalid. This model only works in thinking mode.',
      breaks: (body) => JSON.stringify(body).includes('"thinkingBudget":0'),
    },
  ];

  it.each([
    ['gemini', 'gemini-flash-latest'],
    ['gemini', 'gemini-flash-lite-latest'],
    ['gemini', 'gemini-3.1-pro-preview'],
    ['gemini', 'gemini-2.5-pro'],
    ['anthropic', 'claude-sonnet-5-5'],
    ['anthropic', 'claude-fable-5-1'],
    ['anthropic', 'claude-opus-5-5'],
  ])('off works with %s %s', async (provider, model) => {
    await start(provider, RULES_OF_TODAY, { model });
    expect(await asked('ask', '--think', 'off', 'x')).toMatchObject({ status: 0, requests: 1, stderr: '' });
  });

  it('falls back to the next level if one is refused, and says so once', async () => {
    await start('openai', [rule('a level (OpenAI)')], { model: 'gpt-x', thinking: 'off' });
    const first = await asked('ask', 'x');
    expect(first).toMatchObject({ status: 0, requests: 2 });
    expect(first.stderr).toContain("'gpt-x' does not support thinking 'off': 'high' is used.");
    expect(server.requests.at(-1)?.body).toMatchObject({ reasoning_effort: 'high' });
    expect(await asked('ask', 'x')).toMatchObject({ status: 0, requests: 1, stderr: '' });
  });

  it('is not shown if the organisation may not see it, but used at the requested level', async () => {
    const [, dialect] = dialects;
    if (dialect === undefined) throw new Error('There is none.');
    server = await chatServer(refusing(dialect, [rule('reasoning summaries (OpenAI)')]));
    home = makeHome({
      provider: 'openai',
      model: 'o3',
      api_key: 'k',
      api_base: `${server.url}/v1`,
      openai: { api: 'responses' },
    });
    const first = await asked('ask', '--think', 'high', 'x');
    expect(first).toMatchObject({ status: 0, requests: 2 });
    expect(first.stderr).toContain("'o3' does not show its thinking here.");
    expect(server.requests.at(-1)?.body.reasoning).toEqual({ effort: 'high' });
    expect(await asked('ask', '--think', 'low', 'x')).toMatchObject({ status: 0, requests: 1, stderr: '' });
  });

  it('can be set for one question, and for the rest of a chat', async () => {
    await start('openai', [], { model: 'o-new' });
    await hi('ask', '--think', 'xhigh', 'x');
    expect(server.requests.at(-1)?.body).toMatchObject({ reasoning_effort: 'xhigh' });
    const run = await runProgram(home, ['chat', '--think', 'low'], {
      input: '/think\nx\n/think max\ny\n/think default\nz\n/think hard\n',
    });
    expect(run.stdout).toBe(
      'Thinking: low.\n\nFine.\n\nThinking: max.\n\nFine.\n\nThinking: the default of o-new.\n\nFine.\n',
    );
    expect(run.stderr).toContain(
      "Unknown level of thinking 'hard'.\n    Known: off, low, medium, high, xhigh, max, default.\n",
    );
    expect(server.requests.slice(-3).map(({ body }) => body.reasoning_effort)).toEqual(['low', 'max', undefined]);
    expect(await hi('ask', '--think', 'hard', 'x')).toMatchObject({ status: 2 });
  });
});

describe('an error of the server', () => {
  it('keeps its message if nothing can be adapted', async () => {
    server = await chatServer(
      refusal(400, {
        error: {
          message: 'request (579 tokens) exceeds the available context size (512 tokens)',
          type: 'exceed_context_size_error',
          n_ctx: 512,
        },
      }),
    );
    home = makeHome({ provider: 'openai', model: 'm', api_key: 'k', api_base: `${server.url}/v1` });
    const run = await hi('ask', 'x');
    expect(run.status).toBe(6);
    expect(run.stderr).toContain('exceeds the available context size (512 tokens)');
  });
});
