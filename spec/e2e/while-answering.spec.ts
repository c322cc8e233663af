import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const words = Array.from({ length: 120 }, (_, word) => `word${word} `);
const slow = () =>
  start((_request, index) => (index === 0 ? { pieces: words, delay: 30 } : { text: `answer ${index}` }));

describe('text typed while an answer streams', () => {
  it('is shown below the answer, then in the prompt, and the answer is complete', async () => {
    const chat = await slow();
    await chat.open({ columns: 40, rows: 10 });
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word3 ');
    chat.terminal.type('half a line');
    await chat.until(/word\d+ ?\n› half a line/);
    await chat.until(/\n\nhi> half a line$/);
    expect(chat.terminal.transcript()).not.toContain('›');
    expect(chat.terminal.transcript().replaceAll(/\s+/g, ' ')).toContain(words.join('').trim());
  });

  it('is queued by Enter, and returned by Up at an empty line', async () => {
    const chat = await slow();
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word1 ');
    chat.terminal.type(`second${KEY.enter}third${KEY.enter}`);
    await chat.until(/\nqueued: second\nqueued: third$/);
    chat.terminal.type(KEY.up);
    await chat.until(/\nqueued: second\n› third$/);
    chat.terminal.type(`!${KEY.enter}`);
    await chat.until(/\nqueued: second\nqueued: third!$/);
    await chat.until(/hi> second\n\nanswer 1\n\nhi> third!\n\nanswer 2\n\nhi>$/);
    expect(chat.terminal.transcript()).not.toContain('queued');
  });

  it('stays below while the window is resized, and no row is torn', async () => {
    const chat = await slow();
    await chat.open({ columns: 100, rows: 20 });
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word2 ');
    chat.terminal.type('typed');
    for (const [columns, rows] of [
      [40, 12],
      [120, 20],
      [30, 9],
      [72, 24],
      [100, 20],
    ] as const) {
      chat.terminal.resize(columns, rows);
      await chat.until(/\n› typed$/);
    }
    await chat.until(/hi> typed$/);
    expect(chat.terminal.transcript()).not.toContain('›');
    // The emulator puts a cursor that waits behind the last column onto it when it becomes narrower, and a blank there
    // is overwritten.
    expect(chat.terminal.transcript().replaceAll(/\s+/g, '')).toContain(words.join('').replaceAll(' ', ''));
  });

  it('never becomes part of a queued command when the answer is stopped', async () => {
    const chat = await slow();
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word1 ');
    chat.terminal.type(`one${KEY.enter}two${KEY.enter}!echo ran${KEY.enter}touch created${KEY.enter}half`);
    await chat.until(/\n› half$/);
    chat.terminal.type(control('c'));
    await chat.until(/\n\nhi> touch created\nhalf\nPress Up for 2 more that you typed\.$/);
    chat.terminal.type(KEY.up + KEY.up);
    await chat.until(/\n\nhi> !echo ran$/);
    chat.terminal.type(KEY.up);
    await chat.until(/\n\nhi> one\ntwo$/);
    chat.terminal.type(KEY.down);
    await chat.until(/\n\nhi> !echo ran$/);
    await chat.say('', /^ran$/m);
  });

  it('disappears when a question gets the keys', async () => {
    const chat = await start((_request, index) =>
      index === 0
        ? { pieces: ['Let me ', 'look.'], delay: 400, calls: [{ name: 'bash', args: { command: 'touch x' } }] }
        : { text: 'done' },
    );
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('Let me');
    chat.terminal.type('next');
    await chat.until(/\n› next$/);
    await chat.until('Run this command?');
    expect(chat.terminal.screen()).not.toContain('›');
    chat.terminal.type('n');
    await chat.until(/hi> next$/);
    chat.terminal.type(control('c'));
  });
});
