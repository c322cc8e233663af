import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { type Display, openWayland, openX } from '../support/displays.js';
import { png } from '../support/pictures.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const counted = () => start((_request, index) => ({ text: `answer ${index}` }));
const endings: (() => unknown)[] = [];

afterEach(() => {
  for (const end of endings.splice(0)) end();
});

describe('a line that is refused', () => {
  it.each([
    ['see @large.txt and more', 4],
    ['see @"large two.txt" and more', 4],
  ])('returns to the prompt with the cursor at the cause: %s', async (line, column) => {
    const chat = await counted();
    for (const name of ['large.txt', 'large two.txt']) chat.home.write(name, 'x'.repeat(21_000_000));
    await chat.open();
    chat.terminal.type(`${line}${KEY.enter}`);
    await chat.until('Cannot attach');
    await chat.until(`hi> ${line}`);
    await chat.until(() => chat.terminal.cursor().column === 'hi> '.length + column);
    chat.terminal.type(`${control('k')}nothing${KEY.enter}`);
    await chat.until('answer 0');
    expect(chat.sent()).toEqual(['see nothing']);
  });
});

describe('the working folder', () => {
  it('is one for completion, mentions and commands, also after the model changed it', async () => {
    const chat = await start((_request, index) =>
      index === 0 ? { calls: [{ name: 'bash', args: { command: 'cd sub && pwd' } }] } : { text: `answer ${index}` },
    );
    chat.home.write('outer.txt', 'the outer file');
    mkdirSync(join(chat.home.work, 'sub'));
    chat.home.write('sub/inner.txt', 'the inner file');
    await chat.open({ args: ['-y'] });
    await chat.say('please go', 'answer 1');
    chat.terminal.type('look at @inn\t');
    await chat.until('hi> look at @inner.txt');
    await chat.say('', 'answer 2');
    expect(JSON.stringify(chat.server.requests[2]?.messages)).toContain('the inner file');
    chat.terminal.type('!cat inn\t');
    await chat.until('hi> !cat inner.txt');
    chat.terminal.type(KEY.enter);
    await chat.until('the inner file');
  });

  it('is changed by a cd that the user runs', async () => {
    const chat = await counted();
    mkdirSync(join(chat.home.work, 'sub'));
    chat.home.write('sub/inner.txt', 'the inner file');
    await chat.open();
    chat.terminal.type(`!cd sub${KEY.enter}`);
    await chat.until(/sub now\.\s+hi>$/);
    chat.terminal.type('!cat inn\t');
    await chat.until('hi> !cat inner.txt');
    chat.terminal.type(KEY.enter);
    await chat.until('the inner file');
  });
});

describe('a web address after @', () => {
  it('is fetched and attached, with a line about it, or the input returns to the prompt', async () => {
    const chat = await counted();
    const web = createServer(({ url }, response) => {
      if (url === '/page.txt') response.setHeader('content-type', 'text/plain').end('words of the page');
      else response.writeHead(404).end();
    });
    await new Promise<void>((done) => web.listen(0, '127.0.0.1', done));
    endings.push(() => web.close());
    const site = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    await chat.open();
    await chat.say(`what is in @${site}/page.txt?`, 'answer 0');
    expect(chat.terminal.screen()).toMatch(/Fetched http\S+page\.txt: text\/plain, 17 bytes/);
    expect(JSON.stringify(chat.server.requests[0]?.messages)).toContain('words of the page');
    chat.terminal.type(`see @${site}/none${KEY.enter}`);
    await chat.until('404');
    await chat.until(`hi> see @${site}/none`);
    await chat.until(() => chat.terminal.cursor().column === 'hi> see '.length);
    expect(chat.server.requests).toHaveLength(1);
  });
});

describe('Ctrl-V', () => {
  it.each([
    ['X11', openX],
    ['Wayland', openWayland],
  ])('attaches the image on the clipboard of %s, with a line about it, and leaves no file behind', async (_, open) => {
    const display: Display = await open();
    endings.push(display.close);
    const chat = await counted();
    const picture = join(chat.home.folder, 'picture.png');
    writeFileSync(picture, png(3, 2));
    display.offer(picture, 'image/png');
    await chat.open({ env: display.env });
    chat.terminal.type(`what is ${control('v')}`);
    await chat.until(/hi> what is @"\S+clipboard-1\.png"$/);
    const path = /@"(\S+)"/.exec(chat.terminal.screen())?.[1] ?? '';
    await chat.say('?', /attached \S+clipboard-1\.png \(image, \d+ bytes\)[\s\S]*answer 0/);
    expect(JSON.stringify(chat.server.requests[0]?.messages)).toContain(png(3, 2).toString('base64'));
    expect(existsSync(path)).toBe(true);
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    expect(existsSync(path)).toBe(false);
  });

  it('says if there is no image', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`words${control('v')}`);
    await chat.until(/hi> words\nThere is no image on the clipboard\.$/);
  });
});
