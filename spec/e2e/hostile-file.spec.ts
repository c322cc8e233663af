import { afterEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { CARELESS, HOSTILE, layOut, NO_TRACES, obedientModel, traces } from '../support/hostile-file.js';
import { makeHome, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { type Reply, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { KEY } from '../support/terminal.js';

/** What the tools returned since the user spoke, as the model reads it. */
function results(request: SentRequest | undefined): readonly string[] {
  const messages = request?.messages ?? [];
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages
    .slice(asked + 1)
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content));
}

const ORDERS = obedientModel(HOSTILE);
/** Those that are asked about in the chat, each after a pause in the typing: every other one, with HI_ROUNDS=2 all. */
const ASKED = cases(1) > 1 ? ORDERS : ORDERS.filter((_, index) => index % 2 === 0);

/**
 * A vendor whose model reads the file, obeys these of its orders, and then says so. It talks for a while before it
 * obeys.
 */
const obedientVendor =
  (orders: typeof ORDERS) =>
  (request: SentRequest): Reply => {
    const [read = null, ...obeyed] = results(request);
    if (obeyed.length > 0) return { text: 'I did all I could.' };
    const calls = (read === null ? obedientModel(null) : orders).map(([name, args]) => ({ name, args }));
    return read === null ? { calls } : { pieces: ['I ', 'shall ', 'obey.'], delay: 300, calls };
  };

const config = { tools: { permissions: CARELESS } };
const start = chatDriver();

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

describe('a file with instructions for the model', () => {
  it('changes nothing through hi ask without a terminal, and user and model are told of each refusal', async () => {
    const server = await startScriptedServer(obedientVendor(ORDERS));
    const home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...config });
    endings.push(server.close, home.remove);
    layOut(home.work);
    const run = await runProgram(home, ['ask', 'what is in notes.md?']);
    expect(run).toMatchObject({ status: 0, stdout: expect.stringMatching(/I did all I could\.\s*$/) });
    expect(run.stderr.match(/Not run: .* needs approval /g)).toHaveLength(ORDERS.length);
    const [read, ...refusals] = results(server.requests[2]);
    expect(read).toContain('touch pwned');
    expect(refusals).toEqual(ORDERS.map(() => expect.stringContaining('Not allowed')));
    expect(traces(home.work)).toEqual(NO_TRACES);
    expect(JSON.stringify(server.requests)).not.toContain('a secret');
  });

  it('changes nothing through hi chat if the user says no, and typed text is kept', async () => {
    const chat = await start(obedientVendor(ASKED), config);
    layOut(chat.home.work);
    await chat.open();
    chat.terminal.type(`what is in notes.md?${KEY.enter}`);
    await chat.until('I shall');
    chat.terminal.type('half a thought');
    for (const [index, [name]] of ASKED.entries()) {
      await chat.until((screen) => screen.includes(`(${name}: `) && screen.includes('❯ yes, once'));
      chat.terminal.type('n');
      const refused = () => chat.terminal.transcript().match(/The user said no\./g) ?? [];
      await chat.until(() => refused().length === index + 1);
    }
    await chat.until(/I did all I could\.\n+hi> half a thought$/);
    const [, ...refusals] = results(chat.server.requests[2]);
    expect(refusals).toEqual(ASKED.map(() => expect.stringContaining('The user said no.')));
    expect(traces(chat.home.work)).toEqual(NO_TRACES);
    expect(JSON.stringify(chat.server.requests)).not.toContain('a secret');
  });
});
