import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { openTerminal } from '../support/terminal.js';
import { chatServer, namedSse, sse, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';

/** A PNG of one red pixel. */
const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108020000', 'hex'),
  Buffer.from('00907753de', 'hex'),
  chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
  Buffer.from('0000000049454e44ae426082', 'hex'),
]);

function chunk(name: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)]);
}

const BASE64 = PNG.toString('base64');

/** The same with the checksums that a decoder looks at. */
const REAL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';

const DRAWINGS: Readonly<Record<string, { readonly config: JsonObject; answer(data: string): VendorAnswer }>> = {
  Gemini: {
    config: { provider: 'gemini' },
    answer: (data) =>
      sse(
        { candidates: [{ content: { role: 'model', parts: [{ text: 'Here: ' }] } }] },
        {
          candidates: [
            {
              content: {
                role: 'model',
                parts: [
                  { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thought: true },
                  { inlineData: { mimeType: 'image/png', data }, thoughtSignature: 'U0lHTkVE' },
                ],
              },
              finishReason: 'STOP',
            },
          ],
        },
      ),
  },
  OpenRouter: {
    config: { provider: 'openai' },
    answer: (data) =>
      sse(
        { choices: [{ index: 0, delta: { content: 'Here: ' } }] },
        {
          choices: [
            {
              index: 0,
              delta: { images: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }] },
              finish_reason: 'stop',
            },
          ],
        },
        '[DONE]',
      ),
  },
  'OpenAI Responses': {
    config: { provider: 'openai', openai: { api: 'responses' } },
    answer: (data) =>
      namedSse(
        { type: 'response.created', response: { id: 'r', model: 'm', output: [] } },
        {
          type: 'response.output_item.done',
          output_index: 0,
          item: {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            content: [{ type: 'output_text', text: 'Here: ', annotations: [] }],
          },
        },
        {
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: data },
        },
        { type: 'response.completed', response: { id: 'r', model: 'm', output: [] } },
      ),
  },
};

/** How each gets back what it drew; where it cannot, it reads that it drew. */
const SENT_BACK: Readonly<Record<string, string>> = {
  Gemini: `{"inlineData":{"mimeType":"image/png","data":"${BASE64}"},"thoughtSignature":"U0lHTkVE"}`,
  OpenRouter: 'You drew an image here: hi-',
  'OpenAI Responses': `{"type":"image_generation_call","id":"ig_1","status":"completed","result":"${BASE64}"}`,
};

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(title: string, config: JsonObject = {}, data = BASE64): Promise<void> {
  const drawing = DRAWINGS[title];
  server = await chatServer(...(drawing ? [drawing.answer(data)] : []));
  home = makeHome({ model: 'm', api_key: 'k', api_base: server.url, ...drawing?.config, ...config });
}

const hi = (...args: string[]) => runProgram(home, args);
const pictures = () => join(home.folder, 'Pictures', 'hi');
const only = () => readdirSync(pictures()).map((name) => join(pictures(), name));

describe.each(Object.keys(DRAWINGS))('a picture drawn by a model of %s', (title) => {
  it('is saved to a file whose path is printed, and stays with the conversation', async () => {
    await start(title);
    const run = await hi('ask', 'Draw.');
    const [path = ''] = only();
    expect(path).toMatch(/hi-\d{4}-\d\d-\d\d-\d{6}\.png$/);
    expect(run).toEqual({ status: 0, stdout: 'Here: \n', stderr: `Picture: ${path} (${PNG.length} bytes)\n` });
    expect(readFileSync(path)).toEqual(PNG);
    const history = await hi('history', '--json');
    const [, said] = JSON.parse(history.stdout);
    expect(said.content).toMatchObject([{ type: 'text' }, { type: 'image', mime: 'image/png', bytes: PNG.length }]);
    expect(history.stdout).not.toContain(BASE64);
    expect(readFileSync(join(home.data, 'attachments', said.content[1].sha256))).toEqual(PNG);
    expect((await hi('history')).stdout).toMatch(/\[image: hi-[\d-]+\.png, \d+ bytes\]/);
  });

  it("is sent back in the vendor's format, and in words to another model", async () => {
    await start(title);
    await hi('ask', 'Draw.');
    await hi('ask', 'Bluer.');
    expect(JSON.stringify(server.requests[1]?.body)).toContain(SENT_BACK[title]);
    await hi('ask', '-m', 'other', 'And you?');
    expect(JSON.stringify(server.requests[2]?.body)).toContain('You drew an image here: hi-');
    expect(JSON.stringify(server.requests[2]?.body)).not.toContain(BASE64);
  });

  it('is reported to scripts', async () => {
    await start(title);
    const { images } = JSON.parse((await hi('ask', '--json', 'Draw.')).stdout);
    expect(images).toEqual([{ path: only()[0], mime: 'image/png', bytes: PNG.length }]);
    await hi('ask', '-o', 'stream-json', 'Draw.');
    expect(only()).toHaveLength(2);
  });
});

describe('the folder of pictures', () => {
  it('is the working folder with "."', async () => {
    await start('Gemini', { images: { folder: '.' } });
    await hi('ask', '-q', 'Draw.');
    expect(readdirSync(home.work)).toEqual([expect.stringMatching(/^hi-.*\.png$/)]);
  });

  it('does not affect the answer if it cannot be created', async () => {
    await start('Gemini', { images: { folder: 'file/in' } });
    home.write('file', 'x');
    const run = await hi('ask', 'Draw.');
    expect(run).toMatchObject({ status: 0, stdout: 'Here: \n' });
    expect(run.stderr).toMatch(
      /^The picture is in the history, but could not be saved: '.*file\/in': .*images\.folder/,
    );
    const [, said] = JSON.parse((await hi('history', '--json')).stdout);
    expect(said.content[1]).toMatchObject({ type: 'image', bytes: PNG.length });
  });

  it('is not created if nothing is drawn', async () => {
    await start('Gemini', {}, '');
    await hi('ask', 'Draw.');
    expect(existsSync(pictures())).toBe(false);
  });
});

describe('on a terminal', () => {
  async function shown(env: Readonly<Record<string, string>>, term?: string): Promise<string> {
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'Draw.'], {
      env: { ...home.env, ...env },
      cwd: home.work,
      // Room for the path of a picture in a line.
      columns: 120,
      ...(term !== undefined && { term }),
    });
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    const written = terminal.written();
    await terminal.close();
    expect(written).toContain('Picture: ');
    return written;
  }

  it('a picture is shown if the terminal says that it supports them', async () => {
    await start('Gemini');
    expect(await shown({}, 'xterm-kitty')).toContain(`\u001b_Ga=T,f=100,q=2,m=0;${BASE64}\u001b\\`);
    const iterm = `\u001b]1337;File=inline=1;size=${PNG.length}:${BASE64}\u0007`;
    expect(await shown({ TERM_PROGRAM: 'iTerm.app' })).toContain(iterm);
    expect(await shown({ TERM_PROGRAM: 'WezTerm' })).toContain(iterm);
  });

  /** One red pixel: the colour 180 of 216 is all red, and the topmost of six pixels is `@`. */
  const SIXELS = '\u001bP0;1;0q"1;1;1;1#180;2;100;0;0#180@\u001b\\';

  it("a picture is drawn as sixels if the terminal's name says that it supports them", async () => {
    await start('Gemini', {}, REAL);
    expect(await shown({}, 'foot')).toContain(SIXELS);
    expect(await shown({ TERM_PROGRAM: 'mintty' })).toContain(SIXELS);
    expect(await shown({ TMUX: '/tmp/x' }, 'foot')).not.toContain('q"1;1');
  });

  async function chat(attributes: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], {
      env: { ...home.env, ...env },
      cwd: home.work,
      columns: 120,
      attributes,
    });
    await terminal.until('hi>');
    terminal.type('Draw.\r');
    await terminal.until('Picture: ');
    terminal.type('typed');
    await terminal.until('hi> typed');
    await new Promise((done) => setTimeout(done, 1500));
    terminal.type('\u0003\u0004');
    expect(await terminal.exit()).toMatchObject({ status: 0 });
    const written = terminal.written();
    await terminal.close();
    expect(written.split('\u001b[c')).toHaveLength(2);
    return written;
  }

  it('a chat asks the terminal for sixel support, and does not take the answer for keys', async () => {
    await start('Gemini', {}, REAL);
    const [has, lacks, inTmux] = await Promise.all([chat('62;4;22'), chat('62;22'), chat('1;2', { TMUX: '/tmp/x' })]);
    expect(has).toContain(SIXELS);
    expect(lacks).not.toContain('q"1;1');
    expect(inTmux).not.toContain('q"1;1');
  });

  it('no picture is shown otherwise', async () => {
    await start('Gemini');
    expect(await shown({})).not.toContain(BASE64);
    expect(await shown({ TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/x' })).not.toContain(BASE64);
    expect(await shown({ TERM_PROGRAM: 'iTerm.app' }, 'dumb')).not.toContain(BASE64);
  });
});
