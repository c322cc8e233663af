import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { PROGRAM, RUNTIME } from '../support/program.js';
import type { Reply } from '../support/scripted-server.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const allowed = { tools: { permissions: { allow: ['list_files'], ask: [], deny: [] } } };

/** A chat whose clipboard program writes to a file, and what is in that file. */
async function copying(answer: (index: number) => Reply): Promise<{ chat: Chat; copied: () => string }> {
  const chat = await start((_request, index) => answer(index), allowed);
  const programs = join(chat.home.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, 'wl-copy'), '#!/bin/sh\ncat > "$HOME/copied"\n', { mode: 0o755 });
  await chat.open({ env: { PATH: `${programs}:${process.env.PATH}`, WAYLAND_DISPLAY: 'wayland-0' } });
  return { chat, copied: () => readFileSync(join(chat.home.folder, 'copied'), 'utf8') };
}

const TWO_BLOCKS =
  'Do:\n\n1. Install:\n   ```sh\n   npm install\n   ```\n2. Clean:\n   ```sh\n   make clean\n   ```\nDone.';

describe('/copy', () => {
  it('code copies the last block, also inside a list, or the n-th', async () => {
    const { chat, copied } = await copying(() => ({ text: TWO_BLOCKS }));
    await chat.say('go', 'Done.');
    await chat.say('/copy code', 'Copied with wl-copy: 10 characters.');
    expect(copied()).toBe('make clean');
    await chat.say('/copy code 1', '11 characters');
    expect(copied()).toBe('npm install');
    await chat.say('/copy code 3', /no code block '3'[\s\S]*\/copy code 1 +npm install/);
    chat.terminal.type('/copy co\t\t');
    await chat.until(/code 2 · make clean/);
  });

  it('never copies an answer that was undone', async () => {
    const { chat, copied } = await copying((index) => ({ text: `answer ${index}` }));
    await chat.say('one', 'answer 0');
    await chat.say('two', 'answer 1');
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/hi> two$/);
    chat.terminal.type(control('u'));
    await chat.say('/copy', '8 characters');
    expect(copied()).toBe('answer 0');
  });

  it('counts answers by turn', async () => {
    const { chat, copied } = await copying((index) =>
      index === 1 ? { text: 'Let me look.', calls: [{ name: 'list_files', args: {} }] } : { text: `answer ${index}` },
    );
    await chat.say('one', 'answer 0');
    await chat.say('two', 'answer 2');
    await chat.say('/copy 2', '8 characters');
    expect(copied()).toBe('answer 0');
    await chat.say('/copy 3', "No answer '3' to copy");
  });
});

describe('/copy inside tmux', () => {
  const servers: string[] = [];
  const tmux = (server: string, ...args: string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...args], { encoding: 'utf8', env: environment });
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    TERM: 'xterm-256color',
    TMUX: undefined,
    TMUX_PANE: undefined,
  };
  afterEach(() => {
    // With the inner one the client goes that was all the outer one had.
    for (const server of servers.splice(0)) {
      try {
        tmux(server, 'kill-server');
      } catch {}
    }
  });

  async function until(condition: () => boolean): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) {
      if (condition()) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('The terminal did not come to this.');
  }

  it('reaches the terminal that tmux itself runs in', async () => {
    const chat = await start(() => ({ text: 'the words to copy' }));
    const [outer, inner] = [`outer-${process.pid}`, `inner-${process.pid}`];
    const variables = Object.entries({ ...chat.home.env, TERM: 'screen-256color' });
    const program = ['env', ...variables.map(([name, value]) => `${name}=${value}`), RUNTIME, PROGRAM, 'chat'];
    servers.push(outer);
    tmux(outer, 'new-session', '-d', '-x', '100', '-y', '30', `env -u TMUX tmux -L ${inner} -f /dev/null`);
    servers.unshift(inner);
    tmux(outer, 'set', '-s', 'set-clipboard', 'on');
    const shown = (): string => {
      try {
        return tmux(inner, 'capture-pane', '-p');
      } catch {
        return '';
      }
    };
    await until(() => shown() !== '');
    tmux(inner, 'respawn-pane', '-k', ...program);
    await until(() => shown().includes('hi>'));
    tmux(inner, 'send-keys', 'go', 'Enter');
    await until(() => shown().includes('the words to copy'));
    tmux(inner, 'send-keys', '/copy', 'Enter');
    await until(() => shown().includes('Copied with tmux'));
    expect(tmux(inner, 'show-buffer')).toBe('the words to copy');
    expect(tmux(outer, 'show-buffer')).toBe('the words to copy');
  });
});
