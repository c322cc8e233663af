import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { answerOf } from '../support/compatible-vendors.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, refusal, type VendorServer } from '../support/vendor-server.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

/** The number of the token in each request: the command prints `token-1`, then `token-2`. */
const tokens = () =>
  server.requests.map(({ headers }) => Number(/token-(\d+)/.exec(String(headers.authorization))?.[1]));
const printed = () => Number(readFileSync(join(home.work, 'count'), 'utf8'));

/** A server whose tokens, like those of Entra, Vertex AI and Bedrock, end: here after so many requests. */
async function start(life: number, config: JsonObject = {}): Promise<void> {
  const uses = new Map<unknown, number>();
  server = await chatServer((body, _path, { authorization }) => {
    const used = (uses.get(authorization) ?? 0) + 1;
    uses.set(authorization, used);
    if (used > life) return refusal(401, { error: { message: 'The token has expired.', code: 'UNAUTHENTICATED' } });
    return answerOf('chat', 'reasoning_content', body);
  });
  const base = { provider: 'openai', model: 'm', api_base: `${server.url}/v1`, api_key: '!sh ./token.sh' };
  home = makeHome({ ...base, ...config });
  home.write('count', '0');
  home.write('token.sh', 'n=$(($(cat count) + 1)); echo $n > count; echo token-$n');
}

it('asks the command again when its key is refused, in a turn of calls too, and thinking still goes back', async () => {
  await start(3);
  const input = Array.from({ length: 4 }, (_, at) => `Question ${at}. look 2\n`).join('');
  const run = await runProgram(home, ['chat'], { input });
  expect(run).toMatchObject({ status: 0, stderr: expect.not.stringContaining('key') });
  // Each question takes three requests; each further token is asked for after a refusal of the one before.
  expect(tokens()).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4]);
  expect(printed()).toBe(4);
  const calls = JSON.stringify(server.requests.at(-1)?.body).match(/"tool_calls"/g) ?? [];
  expect(JSON.stringify(server.requests.at(-1)?.body).match(/"reasoning_content":/g)?.length).toBeGreaterThanOrEqual(
    calls.length,
  );
});

it('asks the command again after `api_key_expires` seconds, and before that never', async () => {
  await start(99, { api_key_expires: 1 });
  const run = await runProgram(home, ['chat'], { input: 'One.\n!sleep 1.2\nTwo.\n' });
  expect(run).toMatchObject({ status: 0 });
  expect(tokens()).toEqual([1, 2]);
});

it('gives up at once when the command prints the refused key again', async () => {
  await start(0);
  home.write('token.sh', 'echo $(($(cat count) + 1)) > count; echo token-1');
  const run = await runProgram(home, ['ask', 'hello']);
  expect(run).toMatchObject({ status: 4 });
  expect(tokens()).toEqual([1]);
});
