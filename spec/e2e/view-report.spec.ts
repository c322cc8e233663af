import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { TextPart } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { shortCount } from '../../lib/chat/transcript.js';
import type { WriteBlock } from '../../lib/history/conversation.js';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, exchange, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { chatServer, type VendorAnswer, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

let home: Home;
let server: VendorServer;

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  home.remove();
});

async function start(
  { provider, settings, path, text }: Dialect,
  more: JsonObject = {},
  ...answers: readonly VendorAnswer[]
): Promise<void> {
  server = await chatServer(...answers, text('4'));
  const own = settings.options ? { [provider]: settings.options } : {};
  home = makeHome({ provider, model: 'm', api_key: 'k', api_base: `${server.url}${path}`, ...own, ...more });
}

interface Reported {
  readonly view: { readonly [part: string]: number };
  readonly next?: unknown;
}

const reported = async (...args: readonly string[]): Promise<Reported> =>
  JSON.parse((await runProgram(home, args)).stdout);

const sum = ({ view: { head = 0, block = 0, tail = 0, recalled = 0 } }: Reported): number =>
  head + block + tail + recalled;

/** The size of the body of the last request, in tokens. */
const body = (): number => JSON.stringify(server.requests.at(-1)?.body).length / 4;

async function fill(write: (store: HistoryStore) => Promise<void>): Promise<void> {
  const store = await HistoryStore.open({ folder: home.data, now: () => new Date() });
  await write(store);
  await store.close();
}

/** Writes a summary of everything before a message. */
function summary(content: string, first_kept: number | null): WriteBlock {
  const sizes = { messages_compacted: 1, messages_kept: 2, tokens_before: asTokens(9), tokens_after: asTokens(8) };
  return async function* () {
    yield* [];
    return { type: 'compress', content, strategy: 'summary', source: 'model', first_kept, ...sizes };
  };
}

describe.each(dialects)('the view in --json with $title', (dialect) => {
  it('is within 5 % of the body that is sent, whatever it consists of', async () => {
    await start(dialect, { preamble: 'Be brief.', recall: { auto: false } });
    const first = await reported('ask', '--json', '2+2?');
    expect(first.view).toMatchObject({ block: 0, recalled: 0, left_out: 0 });
    expect(Math.abs(sum(first) / body() - 1)).toBeLessThan(0.05);
    // Many short messages, code with many line ends and quotes, and other scripts.
    await fill(async (store) => {
      for (let turn = 0; turn < 60; turn += 1) await exchange(store, `q${turn}`, 'yes');
      const recalled: TextPart = { type: 'text', text: `\n<recalled>${prose(2000, 3)}</recalled>`, recalled: [1] };
      const asked = await store.begin({ ...says('herons?'), content: [...says('herons?').content, recalled] });
      await store.append(asked.turn, [answers('yes')]);
      await exchange(store, 'Some code:\n\t"a": {\n\n'.repeat(300), '很好。'.repeat(500));
      await exchange(store, prose(9000, 1), prose(9000, 2));
    });
    const next = await reported('status', '--json');
    const long = await reported('ask', '--json', '2+2?');
    expect(Math.abs(sum(long) / body() - 1)).toBeLessThan(0.05);
    expect(Math.abs(sum(next) / body() - 1)).toBeLessThan(0.05);
    expect(long.view).toMatchObject({ head: first.view.head, block: 0, left_out: 0 });
    expect(Math.abs((long.view.recalled ?? 0) - 510)).toBeLessThan(20);
    await fill(async (store) => {
      const first_kept = store.entries.findLast(({ id }) => id > 0)?.id ?? null;
      for await (const _ of store.compact(null, summary(prose(4000, 4), first_kept), 'keep'));
    });
    const cut = await reported('ask', '--json', '2+2?');
    expect(Math.abs(sum(cut) / body() - 1)).toBeLessThan(0.05);
    expect(cut.view.left_out).toBeGreaterThan(50);
    expect(Math.abs((cut.view.block ?? 0) - 1030)).toBeLessThan(50);
    expect(cut.view.tail).toBeLessThan(100);
  });

  it('is that of the last request of a turn with tools', async () => {
    const args = { command: `echo '${'ab" '.repeat(2000)}'` };
    await start(dialect, {}, dialect.tools({ name: 'bash', args }));
    const report = await reported('ask', '-y', '--json', 'go');
    expect(server.requests).toHaveLength(2);
    expect(Math.abs(sum(report) / body() - 1)).toBeLessThan(0.05);
    expect(report.view.tail).toBeGreaterThan(3000);
  });
});

describe('/context and hi status', () => {
  const [dialect] = dialects as readonly [Dialect, ...Dialect[]];

  it('say what the next question sends and leaves out, and that nothing is known of the price of a server of your own', async () => {
    await start(dialect);
    await fill(async (store) => {
      for (let turn = 0; turn < 9; turn += 1) await exchange(store, prose(900, turn), prose(900, turn));
      for await (const _ of store.compact(null, summary(prose(4000, 4), 15), 'keep'));
    });
    const { view } = await reported('status', '--json');
    const short = (part: string): string => `${shortCount(view[part] ?? 0)} tokens`;
    const shown = [
      `head         ${short('head')}: system prompt, memory, skills, tools`,
      `summary      ${short('block')}`,
      expect.stringMatching(
        new RegExp(`^messages     ${short('tail')}, 4 messages since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d$`),
      ),
      'recalled     nothing',
      'left out     14 messages: recall finds them, /all TEXT asks with them',
      expect.stringMatching(/^next {9}3\S* tokens, without the answer: costs nothing$/),
    ];
    const status = (await runProgram(home, ['status'])).stdout;
    const context = (await runProgram(home, ['chat'], { input: '/context\n' })).stdout;
    expect(status.trim().split('\n').slice(-6)).toEqual(shown);
    expect(context.trim().split('\n')).toEqual(shown);
  });

  it('say the price and the seconds at a vendor, when it reads everything and when it has it cached', async () => {
    await start(dialect);
    home.writeConfig(JSON.stringify({ provider: 'anthropic', model: 'claude-haiku-4-5', api_key: 'k' }));
    await fill(async (store) => {
      await exchange(store, prose(400_000, 1), 'Read.');
    });
    const { view, next } = await reported('status', '--json');
    expect(next).toMatchObject({ tokens: sum({ view }), seconds: { cold: 4, warm: 1.3 } });
    // $1 a million, $1.25 to write it into the cache, $0.1 to read it from there.
    const { cold, warm } = (next as { dollars: { cold: number; warm: number } }).dollars;
    expect([cold / sum({ view }), warm / sum({ view })].map((price) => Number((price * 1e6).toFixed(3)))).toEqual([
      1.25, 0.1,
    ]);
    expect((await runProgram(home, ['status'])).stdout).toMatch(
      /\nnext .*: \$0\.13 and 4 s; \$0\.0101 and 1\.3 s while the vendor has it cached\n/,
    );
  });

  it('count what leaves the view with the next question after a pause', async () => {
    await start(dialect, { recall: { auto: false } });
    const store = await HistoryStore.open({ folder: home.data, now: () => new Date(Date.now() - 36_000_000) });
    for (let turn = 0; turn < 20; turn += 1) await exchange(store, prose(900, turn), prose(3000, turn));
    await store.close();
    const next = await reported('status', '--json');
    const asked = await reported('ask', '--json', '2+2?');
    expect(next.view.left_out).toBeGreaterThan(30);
    expect(asked.view).toMatchObject({ head: next.view.head, left_out: next.view.left_out });
    // The summary of what left is written beside the answer.
    const sent = JSON.stringify(server.requests[0]?.body).length / 4;
    expect(Math.abs(sum(next) / sent - 1)).toBeLessThan(0.05);
    expect(sent).toBeLessThan(8000);
  });
});
