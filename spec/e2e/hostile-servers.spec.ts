import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type Scripted, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
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
async function talkTo({ provider, path, settings }: Dialect, ...answers: readonly Scripted[]): Promise<void> {
  await stop();
  server = await chatServer(...answers);
  const { options } = settings;
  const config = { provider, model: 'm', api_base: `${server.url}${path}`, api_key: 'k' };
  home.writeConfig(JSON.stringify({ ...config, ...(options && { openai: options }) }));
}

/** A conversation in which another model was shown an image. */
async function seen(dialect: Dialect): Promise<void> {
  home = makeHome({});
  writeFileSync(join(home.work, 'cat.png'), PNG);
  await talkTo(dialect, dialect.text('A cat.'));
  expect(await asked('-f', 'cat.png', 'what is it?')).toMatchObject({ status: 0 });
}

/** What `hi ask` prints, and the chats that it asked the server for. */
async function asked(...args: string[]) {
  const chats = () => server?.requests.filter(({ path }) => path !== '/api/ps').length ?? 0;
  const before = chats();
  const run = await runProgram(home, ['ask', ...args]);
  return { ...run, requests: chats() - before };
}

const [chat] = dialects as readonly [Dialect];

describe('a refusal after part of the answer', () => {
  it.each(dialects.slice(2, 3).map((dialect) => [dialect.title, dialect] as const))(
    'is learnt, and said, for the next message: %s',
    async (_title, dialect) => {
      await seen(dialect);
      const answer = (body: JsonObject) =>
        holdsImage(body)
          ? dialect.failure('Let me', 'This model does not support image input.')
          : dialect.text('Fine.');
      await talkTo(dialect, answer);
      const first = await asked('and now?');
      expect(first).toMatchObject({ status: 5, requests: 1 });
      expect(first.stdout).toContain('Let me');
      expect(first.stderr).toContain("'m' does not support images: those of earlier messages are only mentioned.");
      expect(await asked('and then?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 1, stderr: '' });
    },
  );
});

describe('a failure that seems temporary, each time an image is in the conversation', () => {
  const AT_ONCE = { 'retry-after-ms': '1' };
  const error = (status: number, body: string): VendorAnswer => ({ status, headers: AT_ONCE, chunks: [body] });
  const failures: readonly (readonly [string, VendorAnswer])[] = [
    ['504, as a page', error(504, '<html><head><title>504 Gateway Time-out</title></head></html>')],
  ];

  it.each(failures)('does not block the conversation, and is remembered if it repeats: %s', async (_name, failure) => {
    await seen(chat);
    await talkTo(chat, (body) => (holdsImage(body) ? failure : chat.text('Fine.')));
    const first = await asked('and now?');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 5 });
    expect(first.stderr).toContain("'m' answers if earlier messages are sent as text only.");
    expect(await asked('and then?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 3 });
    expect(await asked('and then?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 1, stderr: '' });
  });

  it('is considered over if the next message is answered as usual', async () => {
    await seen(chat);
    const down = error(503, '{}');
    await talkTo(chat, down, down, down, down, chat.text('Fine.'));
    expect(await asked('and now?')).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 5 });
    for (const question of ['and then?', 'and now?']) {
      expect(await asked(question)).toMatchObject({ status: 0, requests: 1, stderr: '' });
      expect(holdsImage(server?.requests.at(-1)?.body ?? {})).toBe(true);
    }
  });

  it('that nothing fixes costs one request more than without an image, and nothing is remembered', async () => {
    await seen(chat);
    await talkTo(chat, error(503, '{}'));
    for (const question of ['and now?', 'and then?'])
      expect(await asked(question)).toMatchObject({ status: 5, stdout: '', requests: 5 });
    await talkTo(chat, chat.text('Fine.'));
    expect(await asked('and now?')).toMatchObject({ status: 0, requests: 1, stderr: '' });
    expect(holdsImage(server?.requests.at(-1)?.body ?? {})).toBe(true);
  });

  it('is an error if the newest message has the image, and the next message works', async () => {
    await seen(chat);
    await talkTo(chat, (body) => (holdsImage(body) ? error(503, '{}') : chat.text('Fine.')));
    expect(await asked('-f', 'cat.png', 'this one?')).toMatchObject({ status: 5, requests: 5 });
    expect(await asked('and now?')).toMatchObject({ status: 0, stdout: 'Fine.\n' });
  });
});

describe('an earlier message', () => {
  const LONG = 'A long answer. '.repeat(2200);

  it('does not block the conversation if a content filter refuses it', async () => {
    home = makeHome({});
    await talkTo(chat, chat.text('Bang.'));
    await asked('what does a gun say?');
    const refused = 'The response was filtered due to the prompt triggering our content management policy.';
    const answer = (body: JsonObject): VendorAnswer =>
      JSON.stringify(body).includes('gun')
        ? { status: 400, chunks: [JSON.stringify({ error: { message: refused, code: 'content_filter' } })] }
        : chat.text('Fine.');
    await talkTo(chat, answer);
    const next = await asked('and a cat?');
    expect(next).toMatchObject({ status: 0, stdout: 'Fine.\n', requests: 2 });
    expect(next.stderr).toContain('it answers this one without those before');
    expect(await asked('a gun again?')).toMatchObject({ status: 5, requests: 2 });
  });

  it('is compacted if it is too long, in words that hi does not know', async () => {
    home = makeHome({});
    await talkTo(chat, chat.text(LONG));
    for (const question of ['one', 'two']) await asked(question);
    const said = JSON.stringify({ error: { message: 'The engine was compiled for fewer positions.' } });
    await talkTo(chat, (body) =>
      JSON.stringify(body).length > 50_000 ? { status: 400, chunks: [said] } : chat.text('Fine.'),
    );
    const first = await asked('and now?');
    expect(first).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    expect(first.stderr).toContain('messages compacted');
    expect(await asked('and then?')).toMatchObject({ status: 0, requests: 1 });
  });
});
