import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';
import { chatServer, namedSse, sse, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
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

const LIST = `2 sources:
1. Oslo today  https://weather.example/oslo?day=1
2. Met office  https://met.example/no
`;

/** Those that say which words of the answer rest on a page. */
const SAY_WHAT = ['OpenAI Responses', 'Anthropic', 'Gemini'];

describe.each(Object.entries(WEB_ANSWERS))('an answer of %s that cites pages', (title, { config, answer }) => {
  it('lists them under the answer, not on stdout, stores them, and includes them in the output for scripts', async () => {
    await start(config, answer);
    const run = await runProgram(home, ['ask', 'How is the weather?']);
    const saysWhat = SAY_WHAT.includes(title);
    const quoted = saysWhat ? LIST.replace(/https.*$/gm, '$&\n   “It is cold.”') : LIST;
    expect(run).toEqual({ status: 0, stdout: 'It is cold.\n', stderr: quoted });
    const [, said] = JSON.parse((await runProgram(home, ['history', '--json'])).stdout);
    const stored = PAGES.map((page) => ({ ...page, ...(saysWhat && { cited: ['It is cold.'] }) }));
    expect(said).toMatchObject({ role: 'assistant', sources: stored });
    // It does not affect the next question.
    const next = await runProgram(home, ['ask', '--json', 'And now?']);
    expect(next).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.parse(next.stdout)).toMatchObject({ text: 'It is cold.', sources: PAGES });
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('It is cold.');
  });
});

it.each([
  ['Anthropic', ' [1][2]'],
  ['Perplexity', ''],
])('shows the sources of %s in the history, and in the events for scripts', async (title, marks) => {
  const { config = {}, answer = {} } = WEB_ANSWERS[title] ?? {};
  await start(config, answer);
  const lines = (await runProgram(home, ['ask', '-o', 'stream-json', 'x'])).stdout.trim().split('\n');
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'result', sources: PAGES });
  expect((await runProgram(home, ['history'])).stdout).toContain(
    `It is cold.${marks}\nSources:\n  1. Oslo today  https://weather.example/oslo?day=1\n  2. Met office  https://met.example/no\n`,
  );
  expect((await runProgram(home, ['history', '--md'])).stdout).toContain(
    `It is cold.${marks}\n\nSources:\n\n1. [Oslo today](<https://weather.example/oslo?day=1>)\n2. [Met office](<https://met.example/no>)\n`,
  );
});

/** What Claude says around a search, cut at what it cites. */
const SEARCHED = namedSse(
  { type: 'message_start', message: { model: 'm', usage: { input_tokens: 7, output_tokens: 1 } } },
  ...citedText(0, 'I search for it.', []),
  ...searchBlocks(1),
  ...citedText(3, 'It is **cold**', [PAGES[0]]),
  ...citedText(4, ', and ', []),
  ...citedText(5, 'snow falls', PAGES),
  ...citedText(6, ' today.', []),
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
);

const MARKED = 'It is **cold** [1], and snow falls [1][2] today.';

async function onTerminal(...args: readonly string[]): Promise<string> {
  const terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: home.env, cwd: home.work });
  expect(await terminal.exit()).toMatchObject({ status: 0 });
  const shown = terminal.transcript();
  await terminal.close();
  return shown;
}

it('shows the number of each source behind its words on a terminal and wherever the answer is shown again', async () => {
  await start({ provider: 'anthropic' }, SEARCHED);
  expect(await onTerminal('ask', 'x')).toContain(`I search for it.\n\n${MARKED}\n${LIST.trimEnd()}`);
  expect(await onTerminal('history')).toContain(`\n${MARKED}\nSources:\n  1.`);
  expect((await runProgram(home, ['history'])).stdout).toContain(`I search for it.\n${MARKED}\nSources:`);
  await runProgram(home, ['chat'], { input: '/export page.html\n' });
  const page = readFileSync(join(home.work, 'page.html'), 'utf8');
  expect(page).toContain('<strong>cold</strong> <a href="https://weather.example/oslo?day=1"');
  expect(page.match(/>\[[12]\]<\/a>/g)).toEqual(['>[1]</a>', '>[1]</a>', '>[2]</a>']);
});

it('writes no number into a pipe, with --raw or into the text for scripts, which get where they belong', async () => {
  await start({ provider: 'anthropic' }, SEARCHED);
  const text = 'I search for it.\n\nIt is **cold**, and snow falls today.';
  const piped = await runProgram(home, ['ask', 'x']);
  expect(piped.stdout).toBe(`${text}\n`);
  expect(piped.stderr).toContain('day=1\n   “It is **cold**” “snow falls”\n');
  expect(await onTerminal('ask', '--raw', 'x')).not.toContain('[1]');
  expect(JSON.parse((await runProgram(home, ['ask', '--json', 'x'])).stdout).text).toBe(text);
  const lines = (await runProgram(home, ['ask', '-o', 'stream-json', 'x'])).stdout.trim().split('\n');
  const events: unknown[] = lines.map((line) => JSON.parse(line));
  const cited = events.filter(isJsonObject).filter(({ type }) => type === 'citation');
  expect(cited.map(({ numbers }) => numbers)).toEqual([[1], [1, 2]]);
});

it('quotes what rests on a page in the list where that is known only after it was shown', async () => {
  const { config = {}, answer = {} } = WEB_ANSWERS.Gemini ?? {};
  const chunks = (answer.chunks ?? []).map((chunk) =>
    String(chunk).replace('[{"text":"It is cold."', '[{"text":"It is cold. Wet."'),
  );
  await start(config, { ...answer, chunks });
  expect(await onTerminal('ask', 'x')).toMatch(
    /^It is cold. Wet.\n2 sources:\n1. .*\n {3}“It is cold.”\n2. .*\n {3}“It is cold.”/,
  );
  expect((await runProgram(home, ['history'])).stdout).toContain('\nIt is cold. [1][2] Wet.\nSources:');
});

it.each([
  ['It is cold. ([oslo](x)) It rains.', 12, 'It is cold.'],
  ['Oslo has 3.5 degrees ([oslo](x)).', 21, 'Oslo has 3.5 degrees'],
  ['One. Two ([oslo](x)).', 9, 'Two'],
  ['- One\n- Two ([oslo](x))', 12, '- Two'],
])('takes for what a citation is about the sentence before it: %j', async (text, start_index, passage) => {
  const answer = WEB_ANSWERS['OpenAI Responses']?.answer ?? {};
  const chunks = (answer.chunks ?? []).map((chunk) =>
    String(chunk)
      .replaceAll('"It is cold."', JSON.stringify(text))
      .replaceAll('"start_index":11', `"start_index":${start_index}`),
  );
  await start({ provider: 'openai', openai: { api: 'responses' } }, { ...answer, chunks });
  const { stdout } = await runProgram(home, ['ask', '--json', 'x']);
  expect(JSON.parse(stdout).sources[0].cited).toEqual([passage]);
});

/** The answer of OpenAI whose search has read `pages` beside those that it cites. */
function searching(...pages: readonly string[]): VendorAnswer {
  const chunks = (WEB_ANSWERS['OpenAI Responses']?.answer.chunks ?? []).map((chunk) =>
    String(chunk).replace(
      '"query":"weather oslo"',
      `"query":"weather oslo","sources":${JSON.stringify(pages.map((url) => ({ type: 'url', url })))}`,
    ),
  );
  return { ...WEB_ANSWERS['OpenAI Responses']?.answer, chunks };
}

it('asks OpenAI for the pages that were read, lists them behind those that are cited, and sends what stands behind a sentence back', async () => {
  const read = ['https://read.example/only', PAGES[1].url];
  await start({ provider: 'openai', openai: { api: 'responses' } }, searching(...read));
  const { stdout } = await runProgram(home, ['ask', '--web', '--json', 'How is the weather?']);
  const cited = PAGES.map((page) => ({ ...page, cited: ['It is cold.'] }));
  expect(JSON.parse(stdout).sources).toEqual([...cited, { url: read[0] }]);
  await runProgram(home, ['ask', '--web', 'And now?']);
  expect(server.requests[0]?.body.include).toContain('web_search_call.action.sources');
  const sent = JSON.stringify(server.requests[1]?.body.input);
  expect(sent).toContain('"type":"url_citation"');
  expect(sent).toContain('"start_index":11');
});

const naming = (...pages: readonly JsonObject[]): VendorAnswer =>
  sse(
    {
      choices: [
        {
          index: 0,
          delta: { content: 'Done.', annotations: pages.map((url_citation) => ({ url_citation })) },
          finish_reason: 'stop',
        },
      ],
    },
    '[DONE]',
  );

it('leaves out invalid web addresses', async () => {
  await start(
    { provider: 'openai' },
    naming(
      { url: 'javascript:alert(1)', title: 'x' },
      { url: 'file:///etc/passwd' },
      { url: 'https://a.example/\u001b]0;x' },
      { title: 'no address' },
      { url: 'https://b.example/', title: 7 },
    ),
  );
  const { stdout } = await runProgram(home, ['ask', '--json', 'x']);
  expect(JSON.parse(stdout)).toMatchObject({ sources: [{ url: 'https://b.example/' }] });
});

it('shows no heading if there are none, or with -q', async () => {
  await start({ provider: 'openai' }, naming(), naming({ url: 'https://b.example/' }));
  expect(await runProgram(home, ['ask', 'x'])).toEqual({ status: 0, stdout: 'Done.\n', stderr: '' });
  expect(await runProgram(home, ['ask', '-q', 'x'])).toEqual({ status: 0, stdout: 'Done.\n', stderr: '' });
});

it('makes links of them on a terminal, without control characters in a title', async () => {
  const long = `https://b.example/${'x'.repeat(200)}`;
  await start({ provider: 'openai' }, naming({ url: long, title: 'B\u001b[31m\nb' }));
  const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'x'], { env: home.env, cwd: home.work });
  expect(await terminal.exit()).toMatchObject({ status: 0 });
  expect(terminal.written()).toContain(`\u001b]8;;${long}\u001b\\B [31m b  https://b.example/xxx`);
  expect(terminal.transcript()).toMatch(/^1\. B \[31m b {2}https:\/\/b\.example\/x{30,50}…$/m);
  await terminal.close();
});
