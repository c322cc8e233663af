import { cpSync, rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { longLife } from '../support/recall.js';
import { chatServer, type Scripted, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

/** How long ago. HI_ROUNDS=5 makes it a hundred thousand messages. */
const MESSAGES = cases(20_000);
const FACT = 'The locker in the gymnasium opens with pomegranate 4711.';
const QUESTION = 'Which word opens the locker in the gymnasium?';

let folder: string;
let home: Home;
let server: VendorServer;

beforeAll(async () => {
  folder = await longLife(FACT, MESSAGES);
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true }));

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start({ provider, settings, path }: Dialect, ...answers: readonly Scripted[]): Promise<void> {
  server = await chatServer(...answers);
  const own = settings.options ? { [provider]: settings.options } : {};
  home = makeHome({ provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}`, ...own });
  cpSync(folder, home.data, { recursive: true });
}

/** Answers what was asked if the request has the fact. */
const knowing =
  ({ text }: Dialect): Scripted =>
  (body: JsonObject) =>
    text(JSON.stringify(body).includes(FACT) ? 'It is pomegranate.' : 'I do not know.');

describe.each(dialects)(`a fact from ${MESSAGES} messages ago, with $title`, (dialect) => {
  it('is recalled by the tool, and answered', async () => {
    await start(dialect, dialect.tools({ name: 'recall', args: { query: 'locker gymnasium' } }), knowing(dialect));
    const { status, stdout } = await runProgram(home, ['ask', 'What was it again?']);
    expect(server.requests.map(({ body }) => JSON.stringify(body).includes(FACT))).toEqual([false, true]);
    expect([status, stdout]).toEqual([0, expect.stringContaining('It is pomegranate.')]);
  });

  it('is recalled automatically, and answered', async () => {
    await start(dialect, knowing(dialect));
    const { status, stdout, stderr } = await runProgram(home, ['ask', QUESTION]);
    expect([status, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('It is pomegranate.'),
      expect.stringMatching(/^⌕ \d+ recalled$/m),
    ]);
    expect(stderr.match(/⌕/g)).toHaveLength(1);
  }, 120_000);
});
