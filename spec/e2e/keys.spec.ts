import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const counted = () => start((_request, index) => ({ text: `answer ${index}` }));
const endless = () => start(() => ({ pieces: Array.from({ length: 300 }, (_, word) => `word${word} `), delay: 100 }));

describe('Ctrl-C in hi chat', () => {
  it('clears a line that is not empty, which Up brings back, and the next key takes its hint away', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type('one\\\rtwo');
    await chat.until(/hi> one\ntwo$/);
    chat.terminal.type(control('c'));
    await chat.until(/^hi>$/m);
    chat.terminal.type(KEY.up);
    await chat.until(/hi> one\ntwo$/);
    chat.terminal.type(control('c'));
    await chat.until(/^hi>$/m);
    chat.terminal.type(control('c'));
    await chat.until(/hi> *\nPress Ctrl-C again to exit\.$/);
    chat.terminal.type('x');
    await chat.until(/hi> x$/);
  });

  it('exits with 130 when pressed twice on an empty line', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(control('c') + control('c'));
    expect(await chat.terminal.exit()).toMatchObject({ status: 130 });
  });

  it('puts what was entered during the answer back into the prompt, unsent', async () => {
    const chat = await endless();
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word1 ');
    chat.terminal.type(`second${KEY.enter}third`);
    await chat.until('word5 ');
    chat.terminal.type(control('c'));
    await chat.until(/\(interrupted\)\n+hi> second\nthird$/);
    expect(chat.server.requests).toHaveLength(1);
  });
});

describe('the keys of hi chat', () => {
  it('clear the screen, and nothing else, with Ctrl-L', async () => {
    const chat = await counted();
    await chat.open();
    await chat.say('question', 'answer 0');
    chat.terminal.type(`half a line${control('l')}`);
    await chat.until(/^hi> half a line$/);
    await chat.say('', 'answer 1');
    expect(chat.sent()).toEqual(['question', 'answer 0', 'half a line']);
  });

  it('delete with Ctrl-D if the line is not empty, undo, redo and yank', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`one two${control('a')}${control('d')}`);
    await chat.until(/hi> ne two$/);
    chat.terminal.type(`${control('e')}${control('w')}${control('w')}`);
    await chat.until(/^hi>$/m);
    chat.terminal.type(`${control('y')}.\x1f\x1f`);
    await chat.until(/^hi>$/m);
    chat.terminal.type('\x1e');
    await chat.until(/hi> ne two$/);
  });

  it('return to the line as it was, through the rows of an input first', async () => {
    const chat = await counted();
    await chat.open();
    await chat.say('first', 'answer 0');
    chat.terminal.type(`one${control('j')}two${KEY.up}${KEY.up}`);
    await chat.until(/hi> first$/);
    chat.terminal.type(`${KEY.down}!`);
    await chat.until(/hi> one!\ntwo$/);
  });

  it('leave an earlier input unchanged when the search is cancelled with Esc', async () => {
    const chat = await counted();
    await chat.open();
    await chat.say('apple pie', 'answer 0');
    chat.terminal.type(`draft${control('r')}app`);
    await chat.until(/\(search\) app: apple pie$/);
    chat.terminal.type(KEY.escape);
    await chat.until(/hi> draft$/);
  });

  it('only stop the answer while it streams, and a paste waits for its end', async () => {
    const chat = await endless();
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word1 ');
    chat.terminal.type(control('l') + control('g') + KEY.tab + control('r') + control('d'));
    chat.terminal.paste('two\nlines');
    await chat.until('word9 ');
    expect(chat.terminal.screen()).toContain('hi> first');
    chat.terminal.type(KEY.escape);
    await chat.until(/\(interrupted\)\n+hi> two\nlines$/);
  });
});

describe('the commands of hi chat', () => {
  it.each(['/quit', '/exit', '/bye'])('leave with %s', async (command) => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`${command}${KEY.enter}`);
    expect(await chat.terminal.exit()).toMatchObject({ status: 0 });
  });

  it.each(['/reset', '/clear', '/new'])('clear the conversation with %s, after asking', async (command) => {
    const chat = await counted();
    await chat.open();
    await chat.say('old', 'answer 0');
    chat.terminal.type(`${command}${KEY.enter}`);
    await chat.until('Clear the conversation of 2 messages?');
    await chat.say('y', 'Cleared 2 messages');
  });

  it('give !!command the terminal with its keys, and the prompt returns after it', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`!!read -p "your"" name: " name; echo "hello $name"${KEY.enter}`);
    await chat.until('your name:');
    await chat.say('Ada', /^hello Ada/m);
    await chat.say('go on', 'answer 0');
    expect(chat.sent()).toEqual(['go on']);
  });
});

describe("vi's keys in hi chat", () => {
  it('change the prompt while they are commands, and Escape still stops an answer', async () => {
    const chat = await start(
      (_request, index) =>
        index === 0 ? { pieces: Array.from({ length: 300 }, (_, word) => `word${word} `), delay: 50 } : { text: 'ok' },
      { keys: 'vi' },
    );
    await chat.open();
    chat.terminal.type(`one two${KEY.escape}`);
    await chat.until(/hi: one two$/);
    chat.terminal.type('0cwnow');
    await chat.until(/hi> now two$/);
    chat.terminal.type(KEY.enter);
    await chat.until('word3 ');
    chat.terminal.type(`next${KEY.escape}`);
    await chat.until(/\n: next$/);
    chat.terminal.type(KEY.escape);
    await chat.until(/\(interrupted\)\n+hi: next$/);
    chat.terminal.type(`A!${KEY.enter}`);
    await chat.until(/hi> next!\n\nok\n\nhi>$/);
    expect(chat.sent(0)).toEqual(['now two']);
    expect(chat.sent().at(-1)).toBe('next!');
  });

  it('show what / finds before Enter sends it', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }), { keys: 'vi' });
    await chat.open();
    await chat.say('apple pie', 'answer 0');
    await chat.say('banana', 'answer 1');
    chat.terminal.type(`${KEY.escape}/app`);
    await chat.until(/\(search\) app: apple pie$/);
    chat.terminal.type(KEY.enter);
    await chat.until(/hi: apple pie$/);
    await chat.say('', 'answer 2');
    expect(chat.sent().at(-1)).toBe('apple pie');
  });
});

describe('Tab in hi chat', () => {
  it('completes the file name of /export and of a shell command', async () => {
    const chat = await counted();
    chat.home.write('notes.md', 'a note\n');
    await chat.open();
    chat.terminal.type(`/export no${KEY.tab}`);
    await chat.until(/hi> \/export notes\.md$/);
    chat.terminal.type(`${control('u')}!cat no${KEY.tab}`);
    await chat.until(/hi> !cat notes\.md$/);
    await chat.say('', /^a note$/m);
  });

  it('lists once what can follow, in its own order', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`/think ${KEY.tab}`);
    await chat.until(/^off +low +medium +high [\s\S]*hi> \/think$/m);
    chat.terminal.type(`${KEY.tab}${KEY.tab}h`);
    await chat.until(/hi> \/think h$/);
    expect(chat.terminal.transcript().match(/^off +low/gm)).toHaveLength(1);
  });
});
