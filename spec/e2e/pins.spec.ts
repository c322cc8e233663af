import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';

const open = chatDriver();
const SETTINGS = { context_window: 3000, compaction: { strategy: 'truncate' } };

describe('/pin', () => {
  it('keeps a message word for word through compactions, restarts and other processes, until it is unpinned', async () => {
    const chat = await open(
      (_request, index) => ({ text: index === 0 ? 'The code is ZEBRA-77.' : 'Well said.' }),
      SETTINGS,
    );
    await chat.open();
    const ask = async (text: string): Promise<void> => {
      const asked = chat.server.requests.length;
      await chat.say(text, () => chat.server.requests.length > asked);
    };
    await chat.say('what is the code?', 'ZEBRA-77');
    await chat.say('/pin', 'Pinned #2 "The code is ZEBRA-77.". Pins take 6 of 750 tokens.');
    await chat.say('/pin #1', 'Pinned #1');
    await chat.say('/pin 1', 'already pinned');
    for (let turn = 0; turn < 6; turn += 1) await ask(`talk ${turn} ${'on and on '.repeat(200)}`);
    await chat.say('/compact', 'compacted');
    expect(chat.stored().filter(({ type }) => type === 'compress').length).toBeGreaterThan(1);
    await ask('and now?');
    expect(chat.sent().slice(0, 2)).toEqual(['what is the code?', 'The code is ZEBRA-77.']);
    expect(JSON.stringify(chat.sent())).not.toContain('talk 0');
    await runProgram(chat.home, ['ask', 'elsewhere']);
    expect(chat.sent().slice(0, 2)).toEqual(['what is the code?', 'The code is ZEBRA-77.']);
    await chat.say('/pins', /1 {2}#1 · \S+ · you · what is the code\?\n2 {2}#2 · \S+ · model · The code/);
    await chat.say('/unpin', 'No message given.');
    await chat.say('/unpin 2', 'Unpinned #2');
    await ask('more');
    expect(JSON.stringify(chat.sent())).not.toContain('ZEBRA');
    await chat.say('/pin #2', 'Pinned #2');
    await ask('back');
    expect(chat.sent()[1]).toBe('The code is ZEBRA-77.');
  });

  it('refuses a message above a quarter of the window, an unknown one, and an invalid number', async () => {
    const chat = await open(() => ({ text: 'word '.repeat(700) }), SETTINGS);
    await chat.open();
    await chat.say('/pin', 'There is no message 1: 0 in view.');
    await chat.say('go', 'word');
    await chat.say('/pin', '#2 has 875 tokens; pins may take 750, a quarter of the window.');
    await chat.say('/pin #99', "There is no message '#99'.");
    await chat.say('/pin nothing', "Invalid message 'nothing'.");
    await chat.say('/pin 0', "Invalid message '0'.");
    await chat.say('/unpin #2', "'#2' is not pinned.");
    await chat.say('/pins', 'Nothing is pinned.');
    expect(chat.stored().filter(({ type }) => type === 'pin')).toEqual([]);
  });
});
