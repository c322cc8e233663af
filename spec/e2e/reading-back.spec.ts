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
function historyOf({ home }: Chat, env: Readonly<Record<string, string>>, ...args: readonly string[]): Terminal {
  const terminal = openTerminal(RUNTIME, [PROGRAM, 'history', ...args], {
    env: { ...home.env, PAGER: undefined, LESS: undefined, LC_ALL: 'C.UTF-8', ...env },
    cwd: home.work,
    columns: 80,
    rows: 20,
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
    const marked = historyOf(chat, {}, '--find', 'answer 11');
    await marked.until(/answer 11/);
    expect(marked.written()).toContain('\x1b[0;1;7manswer\x1b[0m \x1b[0;1;7m11\x1b[0m');
    expect(marked.look('scripted ·').colour).toBe(6);
    const found = historyOf(chat, { NO_COLOR: '1' }, '--find', 'answer');
    await found.until(/^scripted ·/);
    expect(found.written()).not.toMatch(/\x1b\[0;36m/);
    const own = historyOf(chat, { PAGER: 'cat' });
    await own.until('answer 11');
    expect(own.written()).not.toContain('\x1b[0;');
  });
});
