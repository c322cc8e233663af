import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { type Display, openWayland, openX } from '../support/displays.js';

const start = chatDriver();
const WORDS = 'die Wörter 日本 🎉';
let display: Display | null = null;

afterEach(() => {
  display?.close();
  display = null;
});

async function answered(env: Readonly<Record<string, string>>): Promise<Chat> {
  const chat = await start(() => ({ text: WORDS }));
  await chat.open({ env });
  await chat.say('go', WORDS);
  return chat;
}

/** A folder with these programs and no others of a clipboard. */
async function answeredWith(
  program: string,
  script: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Chat> {
  const chat = await start(() => ({ text: WORDS }));
  const programs = join(chat.home.folder, 'programs');
  mkdirSync(programs);
  writeFileSync(join(programs, program), script, { mode: 0o755 });
  for (const tool of ['cat', 'env']) symlinkSync(join('/usr/bin', tool), join(programs, tool));
  await chat.open({ env: { PATH: programs, ...env } });
  await chat.say('go', WORDS);
  return chat;
}

const copied = (chat: Chat): Buffer => readFileSync(join(chat.home.folder, 'copied'));

describe('/copy on a real display', () => {
  it('fills the clipboard of X11 with xclip', async () => {
    display = await openX();
    const chat = await answered(display.env);
    await chat.say('/copy', 'Copied with xclip: 16 characters.');
    expect(display.clipboard()).toBe(WORDS);
  });

  it('fills it with xsel if there is no xclip', async () => {
    display = await openX();
    const chat = await answeredWith('xsel', '#!/bin/sh\nexec /usr/bin/xsel "$@"\n', display.env);
    await chat.say('/copy', 'Copied with xsel');
    expect(display.clipboard()).toBe(WORDS);
  });

  it('fills the clipboard of Wayland with wl-copy', async () => {
    display = await openWayland();
    const chat = await answered(display.env);
    await chat.say('/copy', 'Copied with wl-copy');
    expect(display.clipboard()).toBe(WORDS);
  });

  it('falls back to the terminal if no display answers', async () => {
    const chat = await answered({ DISPLAY: ':12345', WAYLAND_DISPLAY: 'wayland-12345' });
    await chat.say('/copy', 'Sent to the terminal for copying (OSC 52)');
    expect(chat.terminal.written()).toContain(`\x1b]52;c;${Buffer.from(WORDS).toString('base64')}\x07`);
  });
});

describe('/copy', () => {
  it('sends UTF-16 to clip.exe on WSL, the only encoding it reads besides the old code page', async () => {
    const chat = await answeredWith('clip.exe', '#!/bin/sh\ncat > "$HOME/copied"\n');
    await chat.say('/copy', 'Copied with clip.exe');
    expect(copied(chat).toString('utf16le')).toBe(WORDS);
  });

  it('tells pbcopy on macOS that the text is UTF-8', async () => {
    const chat = await answeredWith('pbcopy', '#!/bin/sh\n{ echo "$LC_CTYPE"; cat; } > "$HOME/copied"\n');
    await chat.say('/copy', 'Copied with pbcopy');
    expect(copied(chat).toString()).toBe(`UTF-8\n${WORDS}`);
  });

  it('goes through GNU screen to the terminal around it', async () => {
    const chat = await answeredWith('unused', '', { STY: '1.pts' });
    await chat.say('/copy', 'Sent to the terminal');
    expect(chat.terminal.written()).toContain(`\x1bP\x1b]52;c;${Buffer.from(WORDS).toString('base64')}\x07\x1b\\`);
  });
});
