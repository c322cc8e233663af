import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

const FILES: Readonly<Record<string, readonly [mime: string, bytes: Buffer]>> = {
  'talk.mp3': ['audio/mp3', Buffer.from('494433040000000000000001', 'hex')],
  'photo.heic': ['image/heic', Buffer.concat([Buffer.from('00000018', 'hex'), Buffer.from('ftypheic\0\0\0\0')])],
};

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(title: string): Promise<void> {
  const dialect = dialects.find((one) => one.title === title);
  if (dialect === undefined) throw new Error(`There is no dialect '${title}'.`);
  server = await chatServer(dialect.text('Heard.'));
  home = makeHome(configOf(title));
  for (const [name, [, bytes]] of Object.entries(FILES)) writeFileSync(join(home.work, name), bytes);
}

function configOf(title: string): JsonObject {
  const { provider = '', path = '', settings = {} } = dialects.find((one) => one.title === title) ?? {};
  const own = settings.options ? { [provider]: settings.options } : {};
  return { provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}`, ...own };
}

const OTHERS = dialects.map(({ title }) => title).filter((title) => title !== 'Gemini');

describe.each(Object.entries(FILES))('%s', (name, [mime, bytes]) => {
  it('goes to Gemini', async () => {
    await start('Gemini');
    expect(await runProgram(home, ['ask', '-f', name, 'What is this?'])).toMatchObject({
      status: 0,
      stdout: 'Heard.\n',
    });
    expect(JSON.stringify(server.requests[0]?.body)).toContain(
      JSON.stringify({ inlineData: { mimeType: mime, data: bytes.toString('base64') } }),
    );
  });

  it.each(OTHERS)('is not sent to %s, which says so', async (title) => {
    await start(title);
    const run = await runProgram(home, ['ask', '-f', name, 'What is this?']);
    expect(run).toMatchObject({ status: 5, stdout: '' });
    expect(run.stderr).toMatch(
      new RegExp(`does not support (?:audio|images in HEIC): '${name}'\\.\n {4}Use a model that supports it`),
    );
    expect(server.requests).toEqual([]);
    expect(await runProgram(home, ['ask', 'And now?'])).toMatchObject({ status: 0, stdout: 'Heard.\n' });
  });

  it('is described in words to another model that answers later', async () => {
    await start('Gemini');
    await runProgram(home, ['ask', '-f', name, 'What is this?']);
    await server[Symbol.asyncDispose]();
    const chat = dialects.find((one) => one.title === 'Anthropic');
    server = await chatServer(...(chat ? [chat.text('Yes.')] : []));
    home.writeConfig(JSON.stringify(configOf('Anthropic')));
    expect(await runProgram(home, ['ask', 'And you?'])).toMatchObject({ status: 0, stdout: 'Yes.\n' });
    expect(JSON.stringify(server.requests[0]?.body)).toContain(`${name} was here; you cannot see it.`);
  });
});
