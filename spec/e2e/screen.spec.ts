import { describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import type { Reply } from '../support/scripted-server.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const allowed = { tools: { permissions: { allow: ['bash'], ask: [], deny: [] } } };
const RETRY = /retry 1 in \d+s: .*busy/;

const ANSWER = `# A heading

Some **strong**, *stressed* and \`short\` words, and [a link](https://example.org/a_b).

1. one
   - two

| a | b |
|---|---|
| 1 | 2 |

\`\`\`python
def f(x):
    return "text"
\`\`\`

The end.`;

/** Everything the program wrote, without what a terminal obeys. */
const plain = (written: string): string =>
  written.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x1b]*\x1b\\/g, '').replaceAll('\r\n', '\n');

/** An answer in pieces of three characters. */
const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,3}/g) ?? [];

describe('an answer in hi chat', () => {
  it('makes links of its links, unless their texts show another address', async () => {
    const chat = await start(() => ({
      pieces: pieces('See [the page](https://example.org/a) or https://example.org/b.'),
    }));
    await chat.open();
    await chat.say('go', 'See ');
    const written = chat.terminal.written();
    for (const page of ['a', 'b']) expect(written).toContain(`\x1b]8;;https://example.org/${page}\x1b\\`);
    await chat.terminal.close();
    await chat.open({ term: 'linux' });
    await chat.say('go', /See [\s\S]*See /);
    expect(chat.terminal.written()).not.toContain('\x1b]8;');
  });

  it("is the model's text, styled and otherwise unchanged, wherever it was cut", async () => {
    const chat = await start(() => ({ pieces: pieces(ANSWER) }));
    await chat.open();
    await chat.say('go', 'The end.');
    expect(plain(chat.terminal.written())).toContain(`${ANSWER}\n`);
    expect(chat.terminal.transcript()).toContain(ANSWER);
    expect(chat.terminal.look('A heading').bold).toBe(true);
    expect(chat.terminal.look('strong').bold).toBe(true);
    expect(chat.terminal.look('stressed').italic).toBe(true);
    expect(chat.terminal.look('https').underline).toBe(true);
    expect(chat.terminal.look('def f').colour).not.toBe(-1);
    expect(chat.terminal.look('The end').colour).toBe(-1);
  });

  it('has no colour with NO_COLOR, and neither has anything around it', async () => {
    const chat = await start(() => ({ thinking: 'a thought', pieces: pieces(ANSWER) }));
    await chat.open({ env: { NO_COLOR: '1' } });
    await chat.say('go', 'The end.');
    expect(chat.terminal.transcript()).toContain(ANSWER);
    const styles = chat.terminal.written().match(/\x1b\[[0-9;]*m/g) ?? [];
    expect(styles.filter((style) => style !== '\x1b[0m')).toEqual([]);
  });

  it("follows the model's thinking, which is folded to one dim line and shown by /think show", async () => {
    const chat = await start((_request, index) =>
      index === 0
        ? { thinking: `a thought about it${' and more'.repeat(20)}`, text: 'the answer' }
        : { text: 'the second' },
    );
    await chat.open();
    await chat.say('/think show', 'No thoughts to show');
    await chat.say('go', /^the answer/m);
    expect(chat.terminal.transcript()).toMatch(/^thought for \d+(\.\d)?s · \/think show\nthe answer$/m);
    expect(chat.terminal.look('thought for').dim).toBe(true);
    expect(chat.terminal.look('the answer').dim).toBe(false);
    expect(chat.terminal.transcript()).not.toContain('a thought');
    await chat.say('again', /^the second/m);
    await chat.say('/think show', /\na thought about it[^\n]{70,82}\b\n(?:and|more) /);
  });

  it('and the output of tools show escape sequences without executing them', async () => {
    const chat = await start(
      (_request, index): Reply =>
        index === 0
          ? { calls: [{ name: 'bash', args: { command: "printf 'tool \\033[2J\\033]0;owned\\007 said\\n'" } }] }
          : { pieces: ['model \x1b', '[2J\x1b]0;owned\x07 \x9b31m', ' said'] },
      allowed,
    );
    await chat.open();
    await chat.say('go', /^model/m);
    expect(chat.terminal.screen()).toContain('tool ␛[2J␛]0;owned␇ said');
    expect(chat.terminal.screen()).toContain('model ␛[2J␛]0;owned␇ \ufffd31m said');
    expect(chat.terminal.written()).not.toContain('\x1b]0;');
  });
});

describe('a question and its answer in hi chat', () => {
  it('are separated by an empty line, the prompt is bold, and both are marked for the terminal', async () => {
    const chat = await start(() => ({ text: 'Here it is.' }));
    chat.home.write('note.txt', 'four');
    await chat.open();
    await chat.say('see @note.txt', 'Here it is.');
    expect(chat.terminal.screen()).toMatch(/hi> see @note\.txt\nattached note\.txt [^\n]*\n\nHere it is\.\n\nhi>/);
    expect(chat.terminal.look('hi>').bold).toBe(true);
    expect(chat.terminal.look('see').bold).toBe(false);
    const zones = chat.terminal.written().replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b\]2;[^\x1b]*\x1b\\|\r/g, '');
    expect(zones).toContain('\x1b]133;A;redraw=0\x1b\\hi> \x1b]133;B\x1b\\see @note.txt\n\x1b]133;C\x1b\\attached');
    expect(zones).toContain('Here it is.\n\x1b]133;D\x1b\\\n');
    await chat.say('!echo two', /^two$/m);
    expect(chat.terminal.screen()).toContain('hi> !echo two\ntwo\n· 4 characters added\n\nhi>');
  });

  it('have no colour with NO_COLOR, and no marks on a terminal without support for them', async () => {
    const chat = await start(() => ({ text: 'Here it is.' }));
    await chat.open({ env: { NO_COLOR: '1' } });
    await chat.say('go', 'Here it is.');
    expect(chat.terminal.look('hi>').bold).toBe(false);
    await chat.open({ term: 'dumb' });
    await chat.say('go', /Here it is\.[\s\S]*Here it is\./);
    expect(chat.terminal.written()).not.toContain('\x1b]133');
  });
});

describe('the waiting line of hi chat', () => {
  it('names the model and the time it takes, and disappears when the answer is stopped with Esc', async () => {
    const chat = await start(() => ({ pieces: ['never'], hangAfter: 0 }));
    await chat.open();
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(/^\S scripted · [2-9]s$/m);
    chat.terminal.type(KEY.escape);
    await chat.until(/hi> go\n+\(interrupted\)\n+hi> go$/);
  });

  it('comes back below an answer that pauses, with the tokens so far, and disappears when it continues', async () => {
    const chat = await start(() => ({ pieces: ['a line of text\n', 'the rest'], delay: 4000 }));
    await chat.open();
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(/^a line of text\n\S answering · \d+s · 4 tokens$/m);
    await chat.until(/hi> go\n\na line of text\nthe rest\n+hi> *$/);
  });

  it('counts down to the next attempt', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { status: 503, headers: { 'retry-after': '2' }, error: { message: 'busy' } } : { text: 'at last' },
    );
    await chat.open();
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(RETRY);
    await chat.until(/hi> go\n\nat last\n+hi> *$/);
  });

  it('names the running tool and its time, and disappears when it has ended', async () => {
    const chat = await start(
      (_request, index): Reply =>
        index === 0
          ? { calls: [{ name: 'bash', args: { command: 'until test -e go; do sleep 0.1; done' } }] }
          : { text: 'done' },
      allowed,
    );
    await chat.open();
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(/^\S bash · [1-9]s$/m);
    chat.home.write('go', '');
    await chat.until(/✓ bash .*\ndone\n+hi> *$/);
  });

  it('shows a compaction with its progress', async () => {
    const chat = await start(
      ({ model }): Reply =>
        model === 'small'
          ? { pieces: Array.from({ length: 100 }, () => 'a part of the summary '), delay: 200 }
          : { text: 'long '.repeat(200) },
      { small_model: { model: 'small' } },
    );
    await chat.open();
    for (const word of ['one', 'two', 'three', 'four', 'five']) await chat.say(word, `hi> ${word}`);
    chat.terminal.type(`/compact${KEY.enter}`);
    await chat.until(/^\S compacting \d+ messages \(summary\) · \d+s · [\d.k]+ characters$/m);
    chat.terminal.type(control('c'));
    await chat.until(/\(interrupted\)[\s\S]*hi> *$/);
  });
});

describe('hi chat while an answer streams', () => {
  it('keeps what is typed for the next prompt, and sends what is entered after the answer', async () => {
    const chat = await start((_request, index) =>
      index === 0
        ? { pieces: Array.from({ length: 12 }, (_, word) => `word${word} `), delay: 100 }
        : { text: 'second answer' },
    );
    await chat.open();
    chat.terminal.type(`first${KEY.enter}`);
    await chat.until('word1 ');
    chat.terminal.type(`second${KEY.enter}third`);
    await chat.until(/word10 word11 *\n+hi> second\n\nsecond answer\n+hi> third$/);
    expect(chat.terminal.transcript()).not.toMatch(/word\d+ .*(second|third).*word/);
  });

  it('shows in the prompt how full the window is, from half of it on', async () => {
    const chat = await start(() => ({ text: 'much', usage: [1240, 40] }), { context_window: 2000 });
    await chat.open({ args: ['--no-tools'] });
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(/^hi 64%> *$/m);
  });
});
