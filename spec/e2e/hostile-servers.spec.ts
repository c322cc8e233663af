import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type Scripted, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const IMAGE = /"image_url":|"input_image"|"type":"image"|"mimeType":"image|"images":\[/;
const holdsImage = (body: JsonObject): boolean => IMAGE.test(JSON.stringify(body));

let home: Home;
let server: VendorServer | null = null;

afterEach(async () => {
  await stop();
  home.remove();
});

async function stop(): Promise<void> {
  await server?.[Symbol.asyncDispose]();
  server = null;
}

/** A server that speaks as a vendor does, and a `hi` that talks to it as it did to the one before. */
async function talkTo({ provider, path, settings }: Dialect, answer: Scripted, more: JsonObject = {}): Promise<void> {
  await stop();
  server = await chatServer(answer);
  const { options } = settings;
  const config = { provider, model: 'm', api_base: `${server.url}${path}`, api_key: 'k', ...more };
  const whole = JSON.stringify({ ...config, ...(options && { openai: options }) });
  home.writeConfig(whole);
}

/** A conversation in which another model was shown an image. */
async function seen(dialect: Dialect): Promise<void> {
  home = makeHome({});
  writeFileSync(join(home.work, 'cat.png'), PNG);
  await talkTo(dialect, dialect.text('A cat.'), { model: 'seeing' });
  expect(await asked('-f', 'cat.png', 'what is it?')).toMatchObject({ status: 0 });
}

/** What `hi ask` prints, and the chats that it asked the server for. */
async function asked(...args: string[]) {
  const chats = () => server?.requests.filter(({ path }) => path !== '/api/ps').length ?? 0;
  const before = chats();
  const run = await runProgram(home, ['ask', ...args]);
  return { ...run, requests: chats() - before };
}

const everyDialect = dialects.map((dialect) => [dialect.title, dialect] as const);

describe('a refusal after words of the answer', () => {
  it.each(everyDialect)('is learnt, and said, for the next message: %s', async (_title, dialect) => {
    await seen(dialect);
    const answer = (body: JsonObject) =>
      holdsImage(body) ? dialect.failure('Let me', 'This model does not support image input.') : dialect.text('Fine.');
    await talkTo(dialect, answer);
    const first = await asked('and now?');
    expect(first).toMatchObject({ status: 5, requests: 1 });
    expect(first.stdout).toContain('Let me');
    expect(first.stderr).toContain("'m' takes no images: those of earlier messages are only mentioned.");
    expect(await asked('and then?')).toMatchObject({ status: 0, stdout: 'Fine.', requests: 1, stderr: '' });
  });
});
