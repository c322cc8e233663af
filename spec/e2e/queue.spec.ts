import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import { KEY } from '../support/terminal.js';

const start = chatDriver();
const NOBODY = { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' };

/**
 * A chat that is not open yet, whose server repeats the question; `offline` is the environment in which nobody answers.
 */
async function house() {
  const chat = await start(({ messages }) => ({ text: `you said: ${lastLine(messages)}` }), {
    ...{ api_base: undefined, api_key: 'KEY', openai: { api: 'chat' } },
    recall: { auto: false },
    clock: false,
  });
  const online = { OPENAI_BASE_URL: chat.server.base };
  const ask = (args: readonly string[], env: Readonly<Record<string, string>> = online) =>
    runProgram(chat.home, ['ask', ...args], { env });
  return { chat, online, ask, queue: () => filesIn(join(chat.home.data, 'queue')) };
}

const filesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

const lastLine = (messages: readonly { readonly content: unknown }[]): string =>
  String(messages.at(-1)?.content).split('\n').at(-1) ?? '';

describe('the questions that wait for a server', () => {
  it('are asked in order by hi ask --pending, each with its time, and none twice', async () => {
    const { chat, ask, queue } = await house();
    chat.home.write('note.txt', 'from a file');
    for (const order of [['secret for nobody'], ['--since', '1d']]) {
      await ask(['--later', 'a secret for nobody'], NOBODY);
      const reset = await runProgram(chat.home, ['reset', '-y']);
      expect(reset.stderr).toContain('Not cleared: 1 question in the queue.');
      await runProgram(chat.home, ['forget', '-y', ...order]);
    }
    expect(await ask(['--later', 'first'], NOBODY)).toMatchObject({ status: 0, stdout: '' });
    expect((await ask(['--later', '-f', 'note.txt', 'second'], NOBODY)).stderr).toContain('hi ask --pending');
    expect([queue().length, chat.server.requests.length]).toEqual([2, 0]);
    const runs = await Promise.all([ask(['--pending']), ask(['--pending'])]);
    const said = runs.map(({ stdout }) => stdout).join('');
    expect(said.match(/you said: first/g)).toHaveLength(1);
    expect(said.match(/you said: second/g)).toHaveLength(1);
    expect(runs.map(({ stderr }) => stderr).join('')).toMatch(/Asked \w{3} \d+ \w{3} \d{4} \d\d:\d\d {2}first/);
    expect(queue()).toEqual([]);
    expect(JSON.stringify(chat.server.requests)).toContain('from a file');
    // The second saw the answer to the first, whoever asked it.
    expect(JSON.stringify(chat.server.requests.at(-1))).toContain('you said: first');
    expect(await ask(['--pending'])).toMatchObject({ status: 0, stdout: '' });
  });

  it('stay while nobody answers, and what may have been sent is not sent again', async () => {
    const { chat, ask, queue } = await house();
    await ask(['--later', 'first']);
    expect((await ask(['--pending'], NOBODY)).status).toBe(5);
    expect(queue()).toHaveLength(1);
    const [file = ''] = queue();
    const folder = join(chat.home.data, 'queue');
    renameSync(join(folder, file), join(folder, file.replace('.json', '.99999999.sending')));
    expect((await ask(['--pending'])).stdout).toBe('');
    const listed = await runProgram(chat.home, ['chat'], { input: '/queue\n/queue drop 1\n/queue\n' });
    expect(listed.stdout).toMatch(/^1 {2}.* first {2}\(may have been sent: see \/history\)$/m);
    expect(listed.stdout).toContain('No question waits.');
    expect(chat.server.requests).toHaveLength(0);
  });

  it('are kept by the chat without a network, and asked at its next start', async () => {
    const { chat, online, queue } = await house();
    await chat.open({ env: NOBODY });
    chat.terminal.type(`is anybody there?${KEY.enter}`);
    await chat.until('Your question is kept');
    await chat.until(/hi> *$/);
    expect(queue()).toHaveLength(1);
    chat.terminal.type('\x04');
    await chat.terminal.exit();
    await chat.open({ env: online });
    await chat.until('you said: is anybody there?');
    expect(queue()).toEqual([]);
    await chat.say('and now', 'you said: and now');
    expect(chat.server.requests).toHaveLength(2);
  });
});
