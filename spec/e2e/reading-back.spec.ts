import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';

const start = chatDriver();
const open: Terminal[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((terminal) => terminal.close()));
});

/** The built `hi history` in a terminal, with `less` as it comes. */
function historyOf(
  { home }: Chat,
  env: Readonly<Record<string, string>>,
  { args = [], columns = 80, rows = 20 }: { args?: readonly string[]; columns?: number; rows?: number } = {},
): Terminal {
  const terminal = openTerminal(RUNTIME, [PROGRAM, 'history', ...args], {
    env: { ...home.env, PAGER: undefined, LESS: undefined, LC_ALL: 'C.UTF-8', ...env },
    cwd: home.work,
    columns,
    rows,
  });
  open.push(terminal);
  return terminal;
}

describe("a user's !command", () => {
  it('is shown as it was typed: at the next start, by /history, /undo and hi history', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    await chat.open();
    await chat.say('hello', 'seen');
    await chat.say('!echo "two  words"; exit 3', /exit status 3/);
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    await chat.open();
    expect(chat.terminal.screen()).toMatch(/\n> !echo "two {2}words"; exit 3\n+hi>/);
    await chat.say('/history', /you · [^\n]*\n!echo "two {2}words"; exit 3\ntwo {2}words\n+hi>/);
    const { stdout } = await runProgram(chat.home, ['history']);
    expect(stdout).toMatch(/\n!echo "two {2}words"; exit 3\ntwo {2}words\n$/);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/hi> !echo "two {2}words"; exit 3$/);
    expect(chat.terminal.transcript() + stdout).not.toContain('I ran this command myself');
  });
});

describe("a user's !command in Markdown", () => {
  it('is a code block with its output, whatever fences that contains', async () => {
    const chat = await start(() => ({ text: 'seen' }));
    const command = "printf '```sh\\nls\\n```\\n'; exit 3";
    await runProgram(chat.home, ['chat'], { input: `!${command}\n!true\nhello\n/export all.md\n` });
    const exported = readFileSync(join(chat.home.work, 'all.md'), 'utf8');
    expect(exported).toContain(`\n\n\`\`\`\`\n!${command}\n\`\`\`sh\nls\n\`\`\`\n\`\`\`\`\n`);
    expect(exported).toContain('\n\n```\n!true\n```\n');
    expect(exported).not.toContain('I ran this command myself');
    expect(`# Conversation\n${(await runProgram(chat.home, ['history', '--md'])).stdout}`).toBe(exported);
  });
});

describe('a turn that was undone', () => {
  it('is marked at each of its messages', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await runProgram(chat.home, ['chat'], { input: 'first\nsecond\n/undo\n/export all.md\nthird\n' });
    const exported = readFileSync(join(chat.home.work, 'all.md'), 'utf8');
    expect(exported).toMatch(/^## you · [-\d]+ [\d:]+\n\nfirst\n/m);
    expect(exported).toMatch(
      /^## you · [-\d]+ [\d:]+ · undone\n\nsecond\n\n## scripted · [-\d]+ [\d:]+ · undone\n\nanswer 1$/m,
    );
    const printed = await runProgram(chat.home, ['history']);
    expect(printed.stdout.match(/ · undone$/gm)).toHaveLength(2);
    const shown = await runProgram(chat.home, ['chat'], { input: '/history\n' });
    expect(shown.stdout.match(/^.* · undone$/gm)).toHaveLength(2);
  });
});

describe('hi history on a terminal', () => {
  it('opens at its end with coloured headings, and a search at its best result', async () => {
    const chat = await start((_request, index) => ({ text: `answer ${index}` }));
    await runProgram(chat.home, ['chat'], {
      input: Array.from({ length: 12 }, (_, line) => `line ${line}\n`).join(''),
    });
    const whole = historyOf(chat, {});
    await whole.until(/line 11\n\n[^\n]*\nanswer 11\n/);
    expect(whole.look('you ·').bold).toBe(true);
    expect(whole.look('scripted ·').colour).toBe(6);
    expect(whole.look('answer 11').colour).toBe(-1);
    expect(whole.screen()).toMatch(/^you · today \d\d:\d\d$/m);
    expect((await runProgram(chat.home, ['history'])).stdout).toMatch(/^you · \d{4}-\d\d-\d\d \d\d:\d\d$/m);
    const short = historyOf(chat, {}, { args: ['-n', '2'] });
    await short.exit();
    expect(short.screen()).toMatch(/^you · today \d\d:\d\d\nline 11\n\nscripted · .*\nanswer 11$/);
    const marked = historyOf(chat, {}, { args: ['--find', 'answer 11'] });
    await marked.until(/answer 11/);
    expect(marked.written()).toContain('\x1b[7manswer\x1b[27m \x1b[7m11\x1b[27m');
    expect(marked.look('scripted ·').colour).toBe(6);
    const found = historyOf(chat, { NO_COLOR: '1' }, { args: ['--find', 'answer'] });
    await found.until(/^scripted ·/);
    expect(found.written()).not.toMatch(/\x1b\[0;36m/);
    const own = historyOf(chat, { PAGER: 'less', LESS: '-R' });
    await own.until(/line 11\n\n[^\n]*\nanswer 11\n/);
    expect(own.look('you ·').bold).toBe(true);
    const plain = historyOf(chat, { PAGER: 'cat -' });
    await plain.until('answer 11');
    expect(plain.look('you ·').bold).toBe(true);
    const forward = historyOf(chat, { PAGER: 'more' });
    await forward.until(/^── newest first ──\n\nyou · .*\nline 11\n\n.*\nanswer 11\n\nyou · .*\nline 10\n/m);
    const missing = historyOf(chat, { PAGER: 'no-such-pager -x' });
    await missing.until(/line 11\n\n[^\n]*\nanswer 11\n/);
    expect(missing.written()).toContain("There is no 'no-such-pager', which PAGER names: less pages this.");
    const wrong = historyOf(chat, { PAGER: 'no-such-pager | cat 2>&1; exit 127' });
    await wrong.until("PAGER cannot be run: 'no-such-pager | cat");
    expect(await wrong.exit()).toMatchObject({ status: 3 });
  });
});

const CELL = 'several words that do not fit into one row of the terminal';
const ANSWER = `## Title

Prose that is ${'longer than any row of the terminal '.repeat(3)}and **ends** here.

\`\`\`js
const answer = 42; // not wrapped
\`\`\`

| name | what it is |
|------|------------|
| one  | ${CELL} and ${CELL} |`;

describe('what was said', () => {
  it.each([40, 80, 120])('is shown later as it was shown first, at %s columns', async (columns) => {
    const chat = await start(() => ({ text: ANSWER }));
    await chat.open({ columns, rows: 60 });
    await chat.say('go on', /\|\n\nhi>$/);
    const first = chat.terminal.screen();
    const shown = first.slice(first.indexOf('## Title'), first.lastIndexOf('\n\nhi>'));
    expect(shown).not.toContain(ANSWER);
    const colour = chat.terminal.look('const').colour;
    chat.terminal.type(control('l'));
    await chat.say('/history', (screen) => screen.includes(shown));
    expect(chat.terminal.look('const').colour).toBe(colour);
    expect(chat.terminal.look('you ·').bold).toBe(true);
    const pager = historyOf(chat, {}, { columns, rows: 60 });
    await pager.until((screen) => screen.includes(shown));
    expect(pager.look('const').colour).not.toBe(-1);
    expect(pager.look('Title').bold).toBe(true);
  });
});

describe('what was found in the chat', () => {
  it('stands out in inverse video, also where it was Markdown', async () => {
    const chat = await start(() => ({ text: 'A *parrot* sits in the kitchen.' }));
    await chat.open();
    await chat.say('who?', 'kitchen');
    await chat.say('/find parrot', /1 message/);
    const hit = chat.terminal
      .rows()
      .flat()
      .filter(({ inverse }) => inverse);
    expect(hit.map(({ text }) => text)).toEqual(['parrot']);
    expect(chat.terminal.screen()).toContain('  A *parrot* sits');
  });
});

describe('a summary', () => {
  it('can be read: by /compactions, in its place by /history and hi history with its id, and in the pager', async () => {
    const chat = await start(({ messages }) =>
      /summar/i.test(JSON.stringify(messages[0]))
        ? { text: '## Facts\n\n- The parrot is *green*.' }
        : { text: `noted ${'more and more '.repeat(40)}` },
    );
    await chat.open({ rows: 60 });
    for (const line of ['one', 'two', 'three', 'four', 'five'])
      await chat.say(`${line} ${'and so on '.repeat(40)}`, /noted/);
    await chat.say('/compact', /messages compacted/);
    await chat.say('/compactions', /#\d+ · .* replaced/);
    const [, id = ''] = /#(\d+) · .* replaced/.exec(chat.terminal.screen()) ?? [];
    await chat.say(`/compactions ${id}`, /- The parrot is \*green\*\./);
    await chat.say('/clear-screen', /Unknown command/);
    await chat.say(
      `/history #${id}`,
      /more ?\n\n#\d+ · ── .*compacted.*──\n(.*\n)+?- The parrot is \*green\*\.(.*\n)+?#\d+ · you/,
    );
    await chat.say('/compactions 999', /There is no compaction '999'/);
    const { stdout } = await runProgram(chat.home, ['history', `#${id}`]);
    expect(stdout).toMatch(new RegExp(`#${id} · ── [^\n]*compacted[^\n]*──\n(.*\n)*- The parrot is \\*green\\*\\.\n`));
    const pager = historyOf(chat, {}, { rows: 60 });
    await pager.until(/── .*compacted.*──\n(.*\n)+?- The parrot is \*green\*\./);
    expect((await runProgram(chat.home, ['history', '#999'])).stderr).toContain("There is no message '#999'");
  });
});

describe('the start', () => {
  it('shows the header and the end of the last answer, on no more than half of the screen', async () => {
    const list = Array.from({ length: 40 }, (_, line) => `- point ${line} ${'and more words '.repeat(8)}end ${line}`);
    const chat = await start(() => ({ text: list.join('\n') }));
    await chat.open();
    await chat.say(`why ${'so '.repeat(200)}`, 'end 39');
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    await chat.open({ columns: 60, rows: 24 });
    const shown = chat.terminal.screen().trimEnd();
    expect(shown).toMatch(/^openai\/scripted · 2 messages/);
    expect(shown).toMatch(/\n> why so [^\n]* …\n…\n/);
    expect(shown).toMatch(/\n {2}[^\n]*end 39\n+hi>$/);
    expect(shown.split('\n').length).toBeLessThanOrEqual(12);
  });
});
