import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ImageSize, imageSize } from '../../lib/chat/media.js';
import { greyPng, NOISE, png } from '../support/pictures.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { refusing } from '../support/refusing-server.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

const PHOTO = png(1800, 1200, NOISE);

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(provider: string): Promise<void> {
  const dialect = dialects.find((one) => one.provider === provider);
  if (dialect === undefined) throw new Error(`There is no dialect of ${provider}.`);
  server = await chatServer(refusing(dialect, []));
  home = makeHome({ provider, model: 'm', api_key: 'k', api_base: server.url });
}

const hi = (...args: string[]) => runProgram(home, args);
const attach = (name: string, bytes: Buffer) => writeFileSync(join(home.work, name), bytes);
const compressions = () => join(home.folder, 'cache', 'compressions');

// Comparing megabytes byte by byte takes a matcher half a minute.
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A file as Anthropic gets it. */
interface SentFile {
  readonly media_type: string;
  readonly data: string;
}

const isSentFile = (value: object): value is SentFile => 'media_type' in value && 'data' in value;

function filesIn(value: unknown): readonly SentFile[] {
  if (typeof value !== 'object' || value === null) return [];
  return isSentFile(value) ? [value] : Object.values(value).flatMap(filesIn);
}

/** The pictures of the last request to Anthropic. */
function sent(): readonly { readonly mime: string; readonly size: ImageSize | null; readonly sha256: string }[] {
  return filesIn(server.requests.at(-1)?.body).map(({ media_type: mime, data }) => {
    const bytes = Buffer.from(data, 'base64');
    return { mime, size: imageSize(bytes), sha256: hashOf(bytes) };
  });
}

describe('a picture that is too large for Anthropic', () => {
  it('is sent smaller, with one notice, and stored unchanged', async () => {
    await start('anthropic');
    attach('photo.png', PHOTO);
    const { status, stderr } = await hi('ask', '-f', 'photo.png', 'what is it?');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^photo\.png: 6\.\d MB, sent as 1568 × 1045 JPEG, \d(?:\.\d)? MB\n$/);
    const [picture] = sent();
    expect(picture).toMatchObject({ mime: 'image/jpeg', size: { width: 1568, height: 1045 } });
    expect(hashOf(readFileSync(join(home.data, 'attachments', hashOf(PHOTO))))).toBe(hashOf(PHOTO));
    expect(readdirSync(compressions())).toHaveLength(1);

    expect(await hi('ask', 'and now?')).toMatchObject({ status: 0, stderr: '' });
    expect(sent()).toEqual([picture]);
    // Also where the cache is gone.
    rmSync(compressions(), { recursive: true });
    expect(await hi('ask', 'and then?')).toMatchObject({ status: 0, stderr: '' });
    expect(sent()).toEqual([picture]);
  });

  it('can be cancelled while it is made smaller', async () => {
    await start('anthropic');
    attach('wall.png', greyPng(8001, 3000));
    const run = await runProgram(home, ['ask', '-f', 'wall.png', 'what is it?'], {
      during: ({ kill }) => void setTimeout(() => kill('SIGINT'), 800),
    });
    expect(run.status).toBe(130);
    expect(server.requests).toEqual([]);
  });

  it('is sent smaller too if only its side is too long', async () => {
    await start('anthropic');
    attach('strip.png', png(8001, 4));
    expect((await hi('ask', '-f', 'strip.png', 'what is it?')).stderr).toContain('sent as 1568 × 1 JPEG');
    expect(sent()).toMatchObject([{ mime: 'image/jpeg', size: { width: 1568, height: 1 } }]);
  });

  it('and cannot be decoded is sent unchanged', async () => {
    await start('anthropic');
    const cut = PHOTO.subarray(0, 5_000_000);
    attach('cut.png', cut);
    expect(await hi('ask', '-f', 'cut.png', 'what is it?')).toMatchObject({ status: 0, stderr: '' });
    expect(sent()).toMatchObject([{ mime: 'image/png', sha256: hashOf(cut) }]);
  });

  it('leaves nothing behind with --ephemeral', async () => {
    await start('anthropic');
    attach('photo.png', PHOTO);
    expect((await hi('ask', '--ephemeral', '-f', 'photo.png', 'what is it?')).stderr).toContain('sent as 1568 × 1045');
    expect(existsSync(compressions())).toBe(false);
  });
});

describe('a picture that is not too large', () => {
  it.each(['anthropic', 'ollama'])('is sent as it is to %s', async (provider) => {
    await start(provider);
    const picture = provider === 'ollama' ? PHOTO : png(1600, 1100);
    attach('photo.png', picture);
    expect(await hi('ask', '-f', 'photo.png', 'what is it?')).toMatchObject({ status: 0, stderr: '' });
    expect(JSON.stringify(server.requests.at(-1)?.body).includes(picture.toString('base64'))).toBe(true);
    expect(existsSync(compressions())).toBe(false);
  });
});
