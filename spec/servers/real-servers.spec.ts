import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { isJsonObject, parseObject } from '../../lib/chat/json.js';
import { type ListeningProxy, listeningProxy, type Passed } from '../support/listening-proxy.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { hasLiteLlm, type RealServer, startRealServer, withRealServers } from '../support/real-server.js';
import { type Tried, tellTable } from '../support/server-table.js';

/** The servers leave answers long enough for one to be stopped; elsewhere they are short, for what is tested is what is sent. */
const LONG = ['--max-output', '400'];
const SHORT = { options: { max_output_tokens: 12 } };
const WORD = 'PASSWORD-77';
const SUMMARY = `The user and the assistant talked about gardens. The word is ${WORD}.`;

const TEMPLATES = [
  ['Qwen3.5', 'Qwen3.5-4B'],
  ['gemma-2', 'google-gemma-2-2b-it'],
  ['gemma-4', 'google-gemma-4-31B-it'],
  ['Mistral-Nemo', 'mistralai-Mistral-Nemo-Instruct-2407'],
  ['Ministral', 'mistralai-Ministral-3-14B-Reasoning-2512'],
  ['gpt-oss', 'openai-gpt-oss-120b'],
  ['DeepSeek-R1', 'llama-cpp-deepseek-r1'],
  ['Llama-3.1', 'meta-llama-Llama-3.1-8B-Instruct'],
  ['SmolLM3', 'HuggingFaceTB-SmolLM3-3B'],
] as const;

const tried: Tried[] = [];

withRealServers(() => {
  describe('Ollama', () => {
    it.each([
      { what: 'without tools', args: ['--context-length', '2048'], window: 2048, turns: 30, length: 60 },
      { what: 'with tools', args: ['--capabilities', 'tools'], window: 8192, turns: 6, length: 1200 },
    ])(
      '$what, a window of $window',
      async ({ what, args, window, turns, length }) => {
        const server = await startRealServer('ollama', ...LONG, ...args);
        if (server === null) return;
        await using _ = server;
        await using proxy = await listeningProxy(server.url, SUMMARY);
        const home = makeHome(null);
        const env = { OLLAMA_HOST: proxy.url };
        if (turns === 30) await interrupt(home, env, proxy);
        home.writeConfig(JSON.stringify(SHORT));
        await talk(home, env, { proxy, lines: linesOf(turns, length) });
        expect(await windowOf(home, env)).toBe(window);
        expect(readFileSync(server.log, 'utf8')).not.toContain('truncating input prompt');
        tried.push({
          server: 'Ollama 0.17',
          what: `${what}, a window of ${window.toLocaleString('en')}`,
          turns,
          summary: 'in every request',
        });
        home.remove();
      },
      600_000,
    );
  });

  describe("llama.cpp's server", () => {
    it.each(TEMPLATES)(
      'with the template of %s',
      async (title, template) => {
        const server = await startRealServer('llama', '--template', template, '--context', '2048', ...LONG);
        if (server === null) return;
        await using _ = server;
        await using proxy = await listeningProxy(new URL(server.url).origin, SUMMARY);
        const home = makeHome(null);
        const env = { OPENAI_BASE_URL: `${proxy.url}/v1` };
        const isLong = title === 'Qwen3.5';
        // Qwen's template makes the model think first, so that nothing is shown for long.
        if (title === 'gemma-2') await interrupt(home, env, proxy);
        home.writeConfig(JSON.stringify(SHORT));
        // The window fills with one template; with the others the summary is asked for.
        const lines = isLong ? linesOf(30, 60) : [...linesOf(4, 60), '/compact', 'Message 5.', 'Message 6.'];
        await talk(home, env, { proxy, lines });
        expect(await windowOf(home, env)).toBe(2048);
        await expectSummary(server, proxy);
        tried.push({
          server: 'llama.cpp 11434',
          what: `the template of ${title}, a window of 2,048`,
          turns: turnsOf(lines),
          summary: 'in every prompt',
        });
        home.remove();
      },
      600_000,
    );
  });

  describe("LiteLLM's proxy", () => {
    it('by every adapter, and by Responses', async () => {
      if (!hasLiteLlm()) return;
      const server = await startRealServer('litellm', ...LONG);
      if (server === null) return;
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
        await stream(home, {});
        const again = await runProgram(home, ['ask', 'And in winter?']);
        expect({ what, status: again.status, stderr: again.stderr }).toMatchObject({ status: 0 });
        expect(again.stdout.trim()).not.toBe('');
        home.remove();
        tried.push({ server: 'LiteLLM 1.106', what: `by ${what}`, turns: 2, summary: '' });
      }
    }, 600_000);
  });

  afterAll(() => tellTable(tried));
});

/** One question whose answer arrives. */
async function stream(home: Home, env: Readonly<Record<string, string>>): Promise<void> {
  const run = await runProgram(home, ['ask', 'What grows in a garden?'], { env });
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
  await stream(home, env);
}

const linesOf = (turns: number, length: number): readonly string[] => {
  const text = 'The garden has roses and tulips in rows, and bees. '.repeat(Math.ceil((4 * length) / 51));
  return Array.from({ length: turns }, (_, index) => `Message ${index + 1}. ${text}`);
};

const turnsOf = (lines: readonly string[]): number => lines.filter((line) => !line.startsWith('/')).length;

/** The lines in one chat: none is refused, none is lost, and the conversation is compacted on the way. */
async function talk(
  home: Home,
  env: Readonly<Record<string, string>>,
  { proxy, lines }: { readonly proxy: ListeningProxy; readonly lines: readonly string[] },
): Promise<void> {
  const before = await statusOf(home, env);
  const run = await runProgram(home, ['chat'], { env, input: `${lines.join('\n')}\n` });
  expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  const after = await statusOf(home, env);
  expect(Number(after.messages) - Number(before.messages)).toBe(2 * turnsOf(lines));
  expect(Number(after.compactions)).toBeGreaterThan(0);
  expect(run.stderr).not.toMatch(/No summary was written|cut off silently/);
  const refused = proxy.passed.filter(({ method, status }) => method === 'POST' && status >= 400);
  expect(refused.map(({ path, status }) => `${status} ${path}`)).toEqual([]);
  expect(chats(proxy).slice(-1).every(hasSummary)).toBe(true);
}

const chats = ({ passed }: ListeningProxy): readonly Passed[] =>
  passed.filter(({ path, isSummary }) => isChat(path) && !isSummary);

const isChat = (path: string): boolean => /\/chat(?:\/completions)?$/.test(path);

const hasSummary = ({ body }: Passed): boolean => JSON.stringify(body).includes(WORD);

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
