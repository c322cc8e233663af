import { describe, expect, it } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { ANSWERS } from '../support/answers.js';
import { chatDriver } from '../support/chat.js';
import { runProgram } from '../support/program.js';

const start = chatDriver();
const LIST = `Before you begin:

- Install the tools, which takes a while when the network is slow, so make some tea
> A quotation that is long enough to wrap around at the right edge of it

| Command | Default |
|---|--:|
| \`hi ask\` | 1 |
| 日本語 | 全角 |

\`\`\`
code that is longer than sixty columns is never wrapped by the program itself, whatever it holds
\`\`\`
Done.`;

const WRAPPED = `Before you begin:

- Install the tools, which takes a while when the network is
  slow, so make some tea
> A quotation that is long enough to wrap around at the
> right edge of it

| Command  | Default |
|----------|--------:|
| \`hi ask\` |       1 |
| 日本語   |    全角 |

\`\`\`
code that is longer than sixty columns is never wrapped by the program itself, whatever it holds
\`\`\`
Done.`;

const pieces = (text: string): readonly string[] => text.match(/[\s\S]{1,5}/g) ?? [];
const parser = new MarkdownIt();
const documentOf = (text: string): string =>
  parser
    .render(text)
    .replace(/\s+/g, ' ')
    .replace(/ ?(<[^>]*>) ?/g, '$1');

describe('the prose of an answer', () => {
  it.each([{}, { NO_COLOR: '1' }])('is wrapped at words and tables are aligned (%j)', async (env) => {
    const chat = await start(() => ({ pieces: pieces(LIST) }));
    await chat.open({ columns: 60, env });
    await chat.say('go', 'Done.');
    expect(chat.terminal.transcript()).toContain(WRAPPED);
  });

  it.each([
    { config: { wrap: 'terminal' }, columns: 60, env: {} },
    { config: {}, columns: 60, env: { TERM: 'dumb' } },
  ])('is unchanged if the terminal wraps it (%j)', async ({ config, columns, env }) => {
    const chat = await start(() => ({ pieces: pieces(LIST) }), config);
    await chat.open({ columns, env, term: env.TERM ?? 'xterm-256color' });
    await chat.say('go', 'Done.');
    expect(chat.terminal.transcript()).toContain(LIST);
  });

  it('is wrapped as /wrap says, from the next answer on', async () => {
    const chat = await start(() => ({ text: LIST }));
    await chat.open({ columns: 60 });
    await chat.say('/wrap', 'at words, at most 100 columns');
    await chat.say('/wrap nonsense', "Unknown way to wrap 'nonsense'");
    await chat.say('/wrap terminal', 'by the terminal');
    await chat.say('go', 'Done.');
    expect(chat.terminal.transcript()).toContain(LIST);
    await chat.say('/wrap word', /at words[\s\S]*at words/);
    await chat.say('go', /Done\.[\s\S]*Done\./);
    expect(chat.terminal.transcript()).toContain(WRAPPED);
  });

  it('is unchanged in a pipe', async () => {
    const chat = await start(() => ({ pieces: pieces(LIST) }));
    const { stdout } = await runProgram(chat.home, ['ask', 'go']);
    expect(stdout).toBe(`${LIST.trimEnd()}\n`);
  });

  // Wider, and without a heading: xterm.js does not reflow the rows of the line in which the cursor is.
  it('is the same document if the window is widened in its middle', async () => {
    const answer = ANSWERS.tasks ?? '';
    const chat = await start(() => ({ pieces: pieces(answer), delay: 2 }));
    await chat.open({ columns: 40 });
    const widths = [45, 57, 80, 101, 130];
    const done = chat.say('go', /outside, with[\s\S]*terminals\./);
    for (const width of widths) {
      await new Promise((resolve) => setTimeout(resolve, 120));
      chat.terminal.resize(width, 40);
    }
    await done;
    const shown = chat.terminal.transcript();
    const begin = shown.indexOf('- [x] Install');
    const last = shown.lastIndexOf('\nhi>');
    expect(documentOf(shown.slice(begin, last))).toBe(documentOf(answer));
  });
});
