import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { ANSWERS } from '../support/answers.js';
import { chatDriver } from '../support/chat.js';
import { PROGRAM, RUNTIME } from '../support/program.js';
import { cases } from '../support/properties.js';

const start = chatDriver();
const SERVER = `resizing-${process.pid}`;
const WIDTHS = [40, 120, 30, 72, 100];
/** With HI_ROUNDS=2 more of them: each takes seconds. */
const NAMES = cases(1) > 1 ? ['tables', 'tasks', 'links'] : ['tables'];
const parser = new MarkdownIt({ html: true });
const documentOf = (text: string): string => parser.render(text).replaceAll(/\s/g, '');

function tmux(...args: readonly string[]): string {
  const env = { ...process.env, TERM: 'xterm-256color', TMUX: undefined, TMUX_PANE: undefined };
  return execFileSync('tmux', ['-L', SERVER, '-f', '/dev/null', ...args], { encoding: 'utf8', env });
}

async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (isDone()) return;
    await sleep(50);
  }
  throw new Error(`tmux did not come to this:\n${tmux('capture-pane', '-p')}`);
}

const shown = (): string => tmux('capture-pane', '-p', '-J', '-S', '-');

describe('an answer in tmux, which rewraps its rows when the window is resized', () => {
  afterEach(() => void tmux('kill-server'));

  it.each(NAMES)('is complete after five widths while it streams: %s', async (name) => {
    const answer = ANSWERS[name] ?? '';
    const chat = await start(() => ({ pieces: answer.match(/[\s\S]{1,9}/g) ?? [], delay: 25 }));
    const variables = Object.entries({ ...chat.home.env, TERM: 'screen-256color' });
    const program = ['env', ...variables.map(([key, value]) => `${key}=${value}`), RUNTIME, PROGRAM, 'chat'];
    tmux('new-session', '-d', '-x', '100', '-y', '30', ...program);
    await until(() => /^hi> *$/m.test(shown()));
    tmux('send-keys', 'go', 'Enter');
    for (const width of WIDTHS) {
      await sleep(200);
      tmux('resize-window', '-x', String(width), '-y', '30');
    }
    await until(() => /\nhi> *\n*$/.test(shown()));
    const screen = shown();
    const text = screen.slice(screen.indexOf('\n', screen.indexOf('hi> go')), screen.lastIndexOf('\nhi>'));
    // tmux fills what it joins with blanks.
    const lines = text.split('\n').map((line) => line.trimEnd());
    // A table that does not fit is laid out anew.
    if (name === 'tables') for (const word of answer.match(/[a-z]+/gi) ?? []) expect(lines.join('\n')).toContain(word);
    else expect(documentOf(lines.join('\n'))).toBe(documentOf(answer));
  });
});
