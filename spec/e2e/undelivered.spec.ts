import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import type { Reply } from '../support/scripted-server.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();

/** Waits for what no screen shows. */
async function requested({ server }: Chat, count: number): Promise<void> {
  while (server.requests.length < count) await sleep(20);
}

/** Says nothing at all. */
const SILENT: Reply = { pieces: ['never seen'], hangAfter: 0 };

describe('a question that is cancelled before the first word of the answer', () => {
  it.each<[string, Reply]>([
    ['while the server is silent', SILENT],
    ['while the model thinks', { thinking: 'Hmm.', pieces: ['never seen'], hangAfter: 0 }],
  ])('was never sent, and is back in the prompt: %s', async (_when, reply) => {
    const chat = await start((_request, index) => (index === 0 ? reply : { text: 'Listed.' }));
    await chat.open();
    chat.terminal.type(`delete foo.txt${KEY.enter}`);
    await requested(chat, 1);
    chat.terminal.type(control('c'));
    await chat.until(/\(interrupted\)\n+hi> delete foo\.txt$/);
    chat.terminal.type(control('c'));
    await chat.until(/hi> *$/);
    await chat.say('only list it', 'Listed.');
    expect(chat.sent(1)).toEqual(['only list it']);
  });

  it('leaves nothing for later requests of hi ask either', async () => {
    const chat = await start((_request, index) => (index === 0 ? SILENT : { text: 'Listed.' }));
    const cancelled = await runProgram(chat.home, ['ask', 'delete foo.txt'], {
      during: ({ kill }) => {
        const timer = setInterval(() => {
          if (chat.server.requests.length === 0) return;
          clearInterval(timer);
          kill('SIGINT');
        }, 20);
      },
    });
    expect(cancelled.status).toBe(130);
    expect((await runProgram(chat.home, ['ask', 'only list it'])).status).toBe(0);
    expect(chat.sent(1)).toEqual(['only list it']);
  });
});

describe('an answer that was cut off', () => {
  it('tells the model that it was an error, where the user did not interrupt it', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { pieces: ['half an ', 'answer'], cutAfter: 1 } : { text: 'Whole.' },
    );
    await chat.open();
    await chat.say('question', /hi: /);
    await chat.say('go on', 'Whole.');
    expect(chat.sent().slice(0, 2)).toEqual(['question', 'half an \n[cut off by an error]']);
  });
});

describe('a line that is refused', () => {
  it.each<[string, Reply]>([
    ['the key is wrong', { status: 401, error: { message: 'bad key' } }],
    ['the request is refused', { status: 400, error: { message: 'no' } }],
  ])('is back in the prompt because %s', async (_why, reply) => {
    const chat = await start(() => reply);
    await chat.open();
    chat.terminal.type(`what is up?${KEY.enter}`);
    await chat.until(/hi: [\s\S]*\n+hi> what is up\?$/);
  });

  it.each(['/hlep', '/think hard', '/history #99999'])('is back in the prompt: %s', async (line) => {
    const chat = await start(() => ({ text: 'ok' }));
    await chat.open();
    chat.terminal.type(`${line}${KEY.enter}`);
    await chat.until((screen) => screen.trimEnd().endsWith(`hi> ${line}`));
  });
});

describe('/retry that brings nothing', () => {
  it.each<[string, Reply, string]>([
    ['the server fails', { status: 400, error: { message: 'no' } }, '/retry'],
    ['there is no such model', { status: 404, error: { message: 'no such model' } }, '/retry nosuchmodel'],
  ])('leaves the old answer where it was: %s', async (_why, reply, line) => {
    let fails = false;
    const chat = await start((_request, index) => (fails ? reply : { text: `Answer ${index + 1}.` }));
    await chat.open();
    await chat.say('one', 'Answer 1.');
    await chat.say('two', 'Answer 2.');
    fails = true;
    chat.terminal.type(`${line}${KEY.enter}`);
    await chat.until(/hi: [\s\S]*hi> \/retry/);
    fails = false;
    chat.terminal.type(control('c'));
    await chat.until(/hi> *$/);
    await chat.say('three', /Answer \d+\.[\s\S]*Answer \d+\.\n/);
    expect(chat.sent()).toEqual(['one', 'Answer 1.', 'two', 'Answer 2.', 'three']);
  });

  it('leaves it when it is cancelled before the first word', async () => {
    const chat = await start((_request, index) => (index === 1 ? SILENT : { text: `Answer ${index + 1}.` }));
    await chat.open();
    await chat.say('one', 'Answer 1.');
    chat.terminal.type(`/retry${KEY.enter}`);
    await requested(chat, 2);
    chat.terminal.type(control('c'));
    await chat.until(/\(interrupted\)\n+hi> *$/);
    await chat.say('two', 'Answer 3.');
    expect(chat.sent()).toEqual(['one', 'Answer 1.', 'two']);
  });
});

describe('/undo, /retry and /redo beside another hi', () => {
  it('act on the newest turn of this chat, and name it', async () => {
    const chat = await start((_request, index) => ({ text: `Answer ${index + 1}.` }));
    await chat.open();
    await chat.say('from here', 'Answer 1.');
    expect((await runProgram(chat.home, ['ask', 'from elsewhere'])).status).toBe(0);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/Undone: #1 · from here\n+hi> from here$/);
    chat.terminal.type(control('c'));
    await chat.until(/hi> *$/);
    await chat.say('next', 'Answer 3.');
    expect(chat.sent()).toEqual(['from elsewhere', 'Answer 2.', 'next']);
    await chat.say('/retry', /Asking again: #\d+ · next\n+Answer 4\./);
  });

  it("ask before they touch somebody else's", async () => {
    const chat = await start((_request, index) => ({ text: `Answer ${index + 1}.` }));
    await chat.open();
    expect((await runProgram(chat.home, ['ask', 'from elsewhere'])).status).toBe(0);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/said in another window or program: #1 · from elsewhere/);
    chat.terminal.type(`n${KEY.enter}`);
    await chat.until(/Nothing was undone\.\n+hi> *$/);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/elsewhere[\s\S]*said in another window or program: #1 · from elsewhere/);
    chat.terminal.type(`y${KEY.enter}`);
    await chat.until(/Undone: #1 · from elsewhere\n+hi> from elsewhere$/);
    chat.terminal.type(`${control('u')}/redo${KEY.enter}`);
    await chat.until(/Redo it\?/);
    chat.terminal.type(`n${KEY.enter}`);
    await chat.until(/Nothing was redone\.\n+hi> *$/);
    chat.terminal.type(`/redo${KEY.enter}`);
    await chat.until(/Nothing was redone[\s\S]*Redo it\?/);
    chat.terminal.type(`y${KEY.enter}`);
    await chat.until(/Redone: #1 · from elsewhere\n+hi> *$/);
  });
});
