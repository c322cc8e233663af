import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, parseObject } from '../../lib/chat/json.js';
import { type ListeningProxy, listeningProxy, type Passed } from '../support/listening-proxy.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { hasLiteLlm, type RealServer, startRealServer, THREADS } from '../support/real-server.js';
import { type Tried, tellTable } from '../support/server-table.js';
import { itWhere, withRealServers } from '../support/where.js';

/**
 * The servers leave answers long enough for one to be stopped; elsewhere they are short, for what is tested is what is
 * sent.
 */
const LONG = ['--max-output', '200'];
const ON_THREADS = `-t ${THREADS} -tb ${THREADS}`;
/** Of one spec, in milliseconds: a guard against what never ends. */
const LIMIT = 900_000;
const SHORT = { options: { max_output_tokens: 12 } };
const WORD = 'PASSWORD-77';
const SUMMARY = `The user and the assistant talked about gardens. The word is ${WORD}.`;

interface Template {
  readonly title: string;
  readonly template: string;
  /** More arguments of the server. */
  readonly more?: string;
  readonly turns?: number;
}

const TEMPLATES: readonly Template[] = [
  { title: 'SmolLM3', template: 'HuggingFaceTB-SmolLM3-3B' },
  { title: 'gemma-2', template: 'google-gemma-2-2b-it' },
  { title: 'Qwen3.5', template: 'Qwen3.5-4B', turns: 30 },
  { title: 'Llama-3.1', template: 'meta-llama-Llama-3.1-8B-Instruct' },
  { title: 'gemma-4', template: 'google-gemma-4-31B-it' },
  { title: 'Ministral', template: 'mistralai-Ministral-3-14B-Reasoning-2512' },
  { title: 'Mistral-Nemo', template: 'mistralai-Mistral-Nemo-Instruct-2407' },
  { title: 'DeepSeek-R1', template: 'llama-cpp-deepseek-r1' },
  // What the model writes is nonsense, and llama.cpp refuses an answer that is not in the format of this template.
  { title: 'gpt-oss', template: 'openai-gpt-oss-120b', more: ' --skip-chat-parsing' },
];

const tried: Tried[] = [];

withRealServers(() => {
  describe('Ollama', () => {
    it.each([
      {
        what: 'without tools, a window of 2,048',
        args: ['--context-length', '2048'],
        window: 2048,
        lines: linesOf(30, 60),
      },
      {
        what: 'with tools, a window of 8,192',
        args: ['--capabilities', 'tools'],
        window: 8192,
        // More than Ollama's default window of 4,096 holds.
        lines: [...linesOf(1, 2700), 'Message 2.', 'Message 3.', 'Message 4.', '/compact', 'Message 5.'],
      },
    ])(
      '$what',
      async ({ what, args, window, lines }) => {
        const server = await startRealServer('ollama', ...LONG, ...args);
        await using _ = server;
        await using proxy = await listeningProxy(server.url, SUMMARY);
        const home = makeHome(null);
        const env = { OLLAMA_HOST: proxy.url };
        if (window === 2048) await interrupt(home, env, proxy);
        home.writeConfig(JSON.stringify(SHORT));
        await talk(home, env, { proxy, lines });
        expect(readFileSync(server.log, 'utf8')).not.toMatch(
          /truncating input prompt|requested context size too large/,
        );
        expect(windowsAsked(proxy)).toEqual(windowsAsked(proxy).toSorted((one, other) => one - other));
        // The window that the user gave the server is left to it.
        expect(windowsAsked(proxy).at(-1)).toBe(window === 2048 ? 0 : window);
        expect(await windowOf(home, env)).toBe(window);
        tried.push({ server: 'Ollama 0.17', what, turns: turnsOf(lines), summary: 'in every request' });
        home.remove();
      },
      LIMIT,
    );
  });

  describe("llama.cpp's server", () => withTemplates(TEMPLATES));

  describe("LiteLLM's proxy", () => {
    itWhere(hasLiteLlm(), 'HI_LITELLM=1 installs it')(
      'by every adapter, and by Responses',
      async () => {
        const server = await startRealServer('litellm', '--args', ON_THREADS);
        await using _ = server;
        const openai = { provider: 'openai', api_base: `${server.url}/v1` };
        const forms = [
          ['Chat Completions', openai],
          ['Responses', { ...openai, openai: { api: 'responses' } }],
          ['Messages', { provider: 'anthropic', api_base: server.url }],
          ['generateContent', { provider: 'gemini', api_base: server.url }],
        ] as const;
        for (const [what, config] of forms) {
          const home = makeHome({ ...config, ...SHORT, model: server.model, api_key: server.key, small_model: null });
          await answered(home, {}, 'What grows in a garden?');
          await answered(home, {}, 'And in winter?');
          home.remove();
          tried.push({ server: 'LiteLLM 1.106', what: `by ${what}`, turns: 2, summary: '' });
        }
      },
      LIMIT,
    );
  });

  afterAll(() => tellTable(tried));
});

/** A conversation with each template, over a window that it outgrows. */
function withTemplates(templates: readonly Template[]): void {
  it.each(templates)(
    'with the template of $title',
    async ({ title, template, more = '', turns = 6 }) => {
      const args = ['--template', template, '--context', '2048', '--args', ON_THREADS + more];
      const server = await startRealServer('llama', ...LONG, ...args);
      await using _ = server;
      await using proxy = await listeningProxy(new URL(server.url).origin, SUMMARY);
      const home = makeHome(null);
      const env = { OPENAI_BASE_URL: `${proxy.url}/v1` };
      if (title === 'gemma-2') await interrupt(home, env, proxy);
      home.writeConfig(JSON.stringify(SHORT));
      // The window fills with one template; with the others the summary is asked for.
      const lines = turns === 30 ? linesOf(30, 60) : [...linesOf(4, 60), '/compact', 'Message 5.', 'Message 6.'];
      await talk(home, env, { proxy, lines });
      await expectSummary(server, proxy);
      expect(await windowOf(home, env)).toBe(2048);
      const what = `the template of ${title}, a window of 2,048`;
      tried.push({ server: 'llama.cpp 11434', what, turns, summary: 'in every prompt' });
      home.remove();
    },
    LIMIT,
  );
}

/** One question, and its answer. */
async function answered(home: Home, env: Readonly<Record<string, string>>, question: string): Promise<void> {
  const run = await runProgram(home, ['ask', question], { env });
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  expect(run.stdout.trim()).not.toBe('');
}

/** Ctrl-C in the middle of a long answer: what came is kept, and the next question is answered. */
async function interrupt(home: Home, env: Readonly<Record<string, string>>, { passed }: ListeningProxy): Promise<void> {
  const stopped = await runProgram(home, ['ask', 'Tell me a long story.'], {
    env,
    during: ({ kill }) => {
      const timer = setInterval(() => {
        if (!passed.some(({ path, pieces }) => isChat(path) && pieces > 5)) return;
        clearInterval(timer);
        kill('SIGINT');
      }, 20);
    },
  });
  expect({ status: stopped.status, stderr: stopped.stderr }).toMatchObject({ status: 130 });
  const came = stopped.stdout.trim().split('\n')[0] ?? '';
  expect(came).not.toBe('');
  expect((await runProgram(home, ['history'], { env })).stdout).toContain(came);
}

function linesOf(turns: number, length: number): readonly string[] {
  const text = 'The garden has roses and tulips in rows, and bees. '.repeat(Math.ceil((4 * length) / 51));
  return Array.from({ length: turns }, (_, index) => `Message ${index + 1}. ${text}`);
}

const turnsOf = (lines: readonly string[]): number => lines.filter((line) => !line.startsWith('/')).length;

/** The lines in one chat: none is refused, none is lost, and the conversation is compacted on the way. */
async function talk(
  home: Home,
  env: Readonly<Record<string, string>>,
  { proxy, lines }: { readonly proxy: ListeningProxy; readonly lines: readonly string[] },
): Promise<void> {
  const before = await statusOf(home, env);
  const run = await runProgram(home, ['chat'], { env, input: `${lines.join('\n')}\n` });
  const refused = proxy.passed.filter(({ method, status }) => method === 'POST' && status >= 400);
  expect(refused.map(({ path, status }) => `${status} ${path}`)).toEqual([]);
  expect(run.stderr).not.toMatch(/No summary was written|cut off silently/);
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  const after = await statusOf(home, env);
  expect(Number(after.messages) - Number(before.messages)).toBe(2 * turnsOf(lines));
  expect(Number(after.compactions)).toBeGreaterThan(0);
  expect(chats(proxy).slice(-1).every(hasSummary)).toBe(true);
}

const chats = ({ passed }: ListeningProxy): readonly Passed[] =>
  passed.filter(({ path, isSummary }) => isChat(path) && !isSummary);

const isChat = (path: string): boolean => /\/chat(?:\/completions)?$/.test(path);

const hasSummary = ({ body }: Passed): boolean => JSON.stringify(body).includes(WORD);

/** The windows that Ollama was asked for, one after the other; 0 where it was left to the server. */
function windowsAsked(proxy: ListeningProxy): readonly number[] {
  const asked = proxy.passed
    .filter(({ path }) => isChat(path))
    .map(({ body }) => (isJsonObject(body.options) ? Number(body.options.num_ctx ?? 0) : 0));
  return asked.filter((window, at) => window !== asked[at - 1]);
}

/** What the template makes of each request that has the summary has it too. */
async function expectSummary(server: RealServer, proxy: ListeningProxy): Promise<void> {
  const withIt = chats(proxy).filter(hasSummary);
  expect(withIt.length).toBeGreaterThan(0);
  for (const { body } of withIt) {
    const answer = await fetch(`${new URL(server.url).origin}/apply-template`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const made = parseObject(await answer.text());
    expect(String(made?.prompt)).toContain(WORD);
  }
}

async function statusOf(home: Home, env: Readonly<Record<string, string>>) {
  const status: unknown = JSON.parse((await runProgram(home, ['status', '--json'], { env })).stdout);
  if (!isJsonObject(status)) throw new Error('There is no status.');
  return status;
}

const windowOf = async (home: Home, env: Readonly<Record<string, string>>) =>
  (await statusOf(home, env)).context_window;
