import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;
let reply: (request: SentRequest, index: number) => Reply;

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

/** All texts of the newest request but the system prompt. */
const sent = (request = server.requests.at(-1)): string =>
  JSON.stringify(request?.messages.filter(({ role }) => role !== 'system'));

const stored = async (): Promise<readonly { readonly role: string; readonly aside?: true }[]> =>
  JSON.parse((await hi(['history', '--json'])).stdout);

beforeEach(async () => {
  reply = (_request, index) => ({ text: `Answer ${index}.` });
  server = await startScriptedServer((request, index) => reply(request, index));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('hi ask --fresh', () => {
  it('sends the question without the conversation, and leaves no word of it in the next request', async () => {
    await hi(['ask', 'The kettle is copper.']);
    const hours = Array.from({ length: Math.min(24, cases(6)) }, (_, hour) => `sparrow${hour} disk report of the hour`);
    reply = (_request, index) => ({ text: `magpie${index - 1} is fine.` });
    for (const words of hours) {
      await hi(['ask', '--fresh', words]);
      expect(server.requests.at(-1)?.messages).toEqual([{ role: 'user', content: words }]);
    }
    const report = JSON.parse((await hi(['ask', '--json', 'What is the kettle made of? And the birds?'])).stdout);
    expect(sent()).toContain('The kettle is copper.');
    expect(sent()).not.toMatch(/disk report|magpie/);
    expect(report.compaction).toBeNull();
    for (const hour of hours.keys()) {
      const [found] = JSON.parse((await hi(['recall', `sparrow${hour}`, '--json', '-n', '1'])).stdout);
      expect(found.text).toContain(hours[hour]);
    }
    expect((await stored()).filter(({ aside }) => aside)).toHaveLength(2 * hours.length);
    expect((await hi(['history'])).stdout).toMatch(new RegExp(`you · .* · aside\nsparrow${hours.length - 1}`));
  });

  it('is what HI_FRESH=1 asks for, unless --no-fresh or 0 says otherwise', async () => {
    await hi(['ask', 'first']);
    for (const [args, HI_FRESH, count] of [
      [[], '1', 1],
      [['--no-fresh'], '1', 3],
      [[], '0', 5],
      [['--fresh'], '0', 1],
    ] as const) {
      await hi(['ask', ...args, 'next'], { env: { HI_FRESH } });
      expect(server.requests.at(-1)?.messages).toHaveLength(count);
    }
    const script = await hi(['chat'], { env: { HI_FRESH: '1' }, input: 'one\ntwo\n' });
    expect(script.status).toBe(0);
    expect(server.requests.at(-2)?.messages).toHaveLength(1);
    expect(sent()).toMatch(/one.*two/);
  });

  it('works with tools, files, stdin and a schema, whose second attempt sees the first', async () => {
    await hi(['ask', 'Something else.']);
    home.write('note.txt', 'The code is 4711.');
    reply = (request, index) => {
      if (index === 1) return { calls: [{ name: 'read_file', args: { path: 'note.txt' } }] };
      if (request.response_format !== undefined)
        return { text: sent(request).includes('Answer again') ? '{"n": 2}' : '' };
      return { text: 'Read.' };
    };
    await hi(['ask', '--fresh', '-f', 'note.txt', 'read it'], { input: 'piped words' });
    expect(sent()).toMatch(/The code is 4711.*piped words.*read it.*4711/);
    expect(sent()).not.toContain('Something else.');
    const { stdout } = await hi(['ask', '--fresh', '--schema', 'n int', 'how many?']);
    expect(stdout).toBe('{"n": 2}\n');
    expect(sent()).toContain('how many?');
    expect((await stored()).filter(({ aside }) => aside !== true)).toHaveLength(2);
    await hi(['ask', 'and now?']);
    expect(sent()).not.toMatch(/4711|how many/);
  });

  it('writes nothing with -n', async () => {
    await hi(['ask', 'kept']);
    await hi(['ask', '--fresh', '-n', 'gone']);
    expect(server.requests.at(-1)?.messages).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
    home.remove();
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    await hi(['ask', '--fresh', '-n', 'gone']);
    expect(existsSync(home.historyFile)).toBe(false);
  });

  it('compacts what is too long in the aside, and not the conversation', async () => {
    home.writeConfig(
      JSON.stringify({
        ...{ provider: 'openai', model: 'scripted', api_base: server.base, context_window: 4000 },
        compaction: { strategy: 'truncate' },
      }),
    );
    await hi(['ask', 'The kettle is copper.']);
    const lines = Array.from({ length: 12 }, (_, at) => `${at} ${'lark '.repeat(300)}`);
    const { stderr } = await hi(['chat', '--fresh'], { input: `${lines.join('\n')}\n` });
    expect(stderr).toContain('compacted');
    expect(sent()).not.toContain('kettle');
    await hi(['ask', 'What is it made of?']);
    expect(server.requests.at(-1)?.messages).toHaveLength(3);
    expect(sent()).toMatch(/kettle is copper/);
    expect((await hi(['chat'], { input: '/uncompact\n' })).stderr).toContain('no compaction to undo');
  });
});

describe('hi chat --fresh', () => {
  const open = chatDriver();

  it('sees only itself, can be undone and asked again, and leaves the conversation as it was', async () => {
    const chat = await open((_request, index) => ({ text: `Answer ${index}.` }));
    await chat.open();
    await chat.say('before', 'Answer 0.');
    await chat.open({ args: ['--fresh'] });
    expect(chat.terminal.screen()).toContain('an aside, without the conversation');
    expect(chat.terminal.screen()).not.toContain('Answer 0.');
    await chat.say('finch one', 'Answer 1.');
    await chat.say('finch two', 'Answer 2.');
    expect(chat.sent()).toEqual(['finch one', 'Answer 1.', 'finch two']);
    await chat.say('/retry', 'Answer 3.');
    expect(chat.sent()).toEqual(['finch one', 'Answer 1.', 'finch two']);
    await chat.say('/pin 1', /[Pp]inned/);
    await chat.open();
    await chat.say('after', 'Answer 4.');
    expect(chat.sent()).toEqual(['before', 'Answer 0.', 'after']);
  });
});
