import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { isJsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { listingServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

let home: Home;
afterEach(() => home.remove());

it('the output of tools fits the window that the server reports, even with the first message', async () => {
  const [chat] = dialects;
  if (chat === undefined) throw new Error('There is no dialect.');
  const list = { chunks: [JSON.stringify({ data: [{ id: 'm', max_model_len: 8192 }] })] };
  let asked = 0;
  await using server = await listingServer(list, () => {
    asked += 1;
    return asked === 1
      ? chat.tools({ name: 'read_file', args: { path: 'a.txt' } }, { name: 'read_file', args: { path: 'b.txt' } })
      : chat.text('Read.');
  });
  home = makeHome({ provider: 'openai', model: 'm', api_base: `${server.url}/v1` });
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(home.work, name), 'word '.repeat(20_000));
  expect(await runProgram(home, ['ask', 'read them'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Read.'),
  });
  const { messages } = server.requests.at(-1)?.body ?? {};
  const results = Array.isArray(messages) ? messages.filter(isJsonObject).filter(({ role }) => role === 'tool') : [];
  expect(results).toHaveLength(2);
  // A fifth of 8,192 tokens, at four characters each, and what says that there is more.
  for (const { content } of results) expect(String(content).length).toBeLessThan(7500);
});
