import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';
import { control, KEY } from '../support/terminal.js';

const open = chatDriver();

describe('/rewind', () => {
  it('goes back to before a turn, puts its message into the prompt, and /redo reverts that', async () => {
    const chat = await open((_request, index) => ({ text: `Answer ${index + 1}.` }));
    await chat.open();
    for (const [index, line] of ['one', 'two', 'three', 'four'].entries()) await chat.say(line, `Answer ${index + 1}.`);
    chat.terminal.type(`/rewind 3${KEY.enter}`);
    await chat.until(/Back to before #3[\s\S]*hi> two$/);
    chat.terminal.type(control('c'));
    await chat.say('/redo', 'Redone: 3 turns, from #3 · two');
    await chat.say('five', 'Answer 5.');
    expect(chat.sent()).toEqual(expect.arrayContaining(['one', 'two', 'three', 'four', 'five']));
    chat.terminal.type(`/rewind #3${KEY.enter}`);
    await chat.until(/hi> two$/);
    chat.terminal.type(` again${KEY.enter}`);
    await chat.until('Answer 6.');
    expect(chat.sent().filter((content) => /^[a-z]/.test(String(content)))).toEqual(['one', 'two again']);
    await chat.say('/redo', 'There is nothing to redo.');
    expect(
      chat
        .stored()
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content),
    ).toHaveLength(6);
  });

  it('is undone step by step by /redo, in a new process too, which never restores a failed turn', async () => {
    const chat = await open((_request, index) =>
      index === 2 ? { status: 401, error: { message: 'no' } } : { text: `Answer ${index + 1}.` },
    );
    await chat.open();
    await chat.say('one', 'Answer 1.');
    await chat.say('two', 'Answer 2.');
    await chat.say('three', /401|key/);
    chat.terminal.type(control('c'));
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/hi> two$/);
    chat.terminal.type(control('c'));
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/hi> one$/);
    await runProgram(chat.home, ['chat'], { input: '/redo\n/redo\n/redo\n' });
    await runProgram(chat.home, ['ask', 'four']);
    expect(chat.sent()).toEqual(expect.arrayContaining(['one', 'Answer 1.', 'two', 'Answer 2.', 'four']));
    expect(chat.sent()).not.toContain('three');
  });

  it('offers the last turns after Esc Esc at an empty prompt, and Esc changes nothing', async () => {
    const chat = await open((_request, index) => ({ text: `Answer ${index + 1}.` }));
    await chat.open();
    await chat.say('one', 'Answer 1.');
    await chat.say('two \u202eowt', 'Answer 2.');
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));
    for (const key of ['x', KEY.escape, KEY.escape, control('c')]) {
      chat.terminal.type(key);
      await pause();
    }
    await chat.until(/hi>$/);
    for (const keys of [[KEY.escape + KEY.escape], [KEY.escape, KEY.escape]]) {
      for (const key of keys) {
        chat.terminal.type(key);
        await pause();
      }
      await chat.until('Go back to before which message?');
      expect(chat.terminal.screen()).toMatch(/#3 · \d\d:\d\d · two .*owt[\s\S]*#1 · \d\d:\d\d · one/);
      expect(chat.terminal.written()).not.toContain('\u202e');
      chat.terminal.type(KEY.escape);
      await chat.until(/Nothing was rewound\.\s+hi>$/);
      await chat.say(`/quiet`, 'Unknown command');
      chat.terminal.type(control('l'));
      await chat.until(/^hi>$/);
    }
    chat.terminal.type(`${KEY.escape}${KEY.escape}`);
    await chat.until('Go back to before which message?');
    await new Promise((resolve) => setTimeout(resolve, 500));
    chat.terminal.type(`${KEY.down}${KEY.enter}`);
    await chat.until(/Back to before #1[\s\S]*hi> one$/);
    expect(chat.stored().at(-1)).toMatchObject({ type: 'undo', turns: [1, 3] });
  });

  it.each(['/undo', '/rewind 1'])('brings a pasted message back as words, not as a command: %s', async (command) => {
    const chat = await open((_request, index) => ({ text: `Answer ${index + 1}.` }));
    await chat.open();
    const message = '!touch one\n!touch two';
    chat.terminal.paste(message);
    await chat.say('', 'Answer 1.');
    chat.terminal.type(`${command}${KEY.enter}`);
    await chat.until(/^hi> """\n!touch one\n!touch two\n"""$/m);
    await chat.say('', 'Answer 2.');
    expect(chat.sent()).toEqual([message]);
    expect(existsSync(join(chat.home.work, 'one'))).toBe(false);
  });

  it('lists the turns without a terminal, and names unknown ones', async () => {
    const chat = await open(() => ({ text: 'Yes.' }));
    const { stdout, stderr } = await runProgram(chat.home, ['chat'], {
      input: '/rewind\none\ntwo\n/rewind\n/rewind 9\n/rewind #2\n/rewind x\n/redo\n',
    });
    const said = stdout + stderr;
    expect(said).toContain('There are no turns to rewind.');
    expect(said).toMatch(/ 2 {2}#1 · \d{4}-\d\d-\d\d \d\d:\d\d · one\n 1 {2}#3 · .* · two/);
    expect(said).toContain('There is no turn 9: 2 in view.');
    expect(said).toContain('No turn in view starts with #2.');
    expect(said).toContain("Invalid message 'x'.");
    expect(said).toContain('There is nothing to redo.');
  });
});
