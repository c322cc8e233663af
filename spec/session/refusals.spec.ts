import { describe, expect, it } from '@jest/globals';
import type { ChatEvent } from '../../lib/chat/event.js';
import type { NewMessage, Part } from '../../lib/chat/message.js';
import { type ModelMemory, THINKING_LEVELS, type ThinkingLevel } from '../../lib/chat/model.js';
import { SPECS } from '../../lib/tools/tool-specs.js';
import { memory } from '../support/memory.js';
import fc, { cases } from '../support/properties.js';
import { adapter } from '../support/providers.js';
import { RULES, type Rule, refusing, WORDLESS } from '../support/refusing-server.js';
import { drain, type Stage, stage } from '../support/session.js';
import { vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const never = () => new AbortController().signal;
const say = (text: string) => ({ text, texts: [], attachments: [] });
const PICTURE = Buffer.from('picture');
const PAPER = Buffer.from('paper');

type Step = 'words' | 'note' | 'image' | 'pdf' | 'tools' | 'signed' | 'interrupted' | 'cut off' | 'compaction';
const STEPS: readonly Step[] = [
  'words',
  'note',
  'image',
  'pdf',
  'tools',
  'signed',
  'interrupted',
  'cut off',
  'compaction',
];

interface Case {
  readonly dialect: Dialect;
  readonly rules: readonly Rule[];
  readonly steps: readonly Step[];
  readonly thinking: ThinkingLevel | null;
  readonly own: boolean;
  /** Whether the user has set an option. */
  readonly hasOptions: boolean;
}

const conversations: fc.Arbitrary<Case> = fc.record({
  dialect: fc.constantFrom(...dialects),
  rules: fc.oneof(fc.subarray([...RULES, ...WORDLESS], { maxLength: 4 }), fc.subarray([...RULES, ...WORDLESS])),
  steps: fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 7 }),
  thinking: fc.constantFrom(null, ...THINKING_LEVELS),
  own: fc.boolean(),
  hasOptions: fc.boolean(),
});

describe('any history against a server that refuses any part of it', () => {
  it('is answered within four requests', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (one) => {
        await using chat = await conversation(one);
        for (const question of ['And now?', 'And then?']) {
          const { requests, answer } = await chat.ask(question);
          expect(answer).toBe('Fine.');
          expect(requests).toBeLessThanOrEqual(4);
        }
      }),
      { numRuns: cases(6) },
    );
  });

  it('is answered at once if the refusals of the server are known', async () => {
    await fc.assert(
      fc.asyncProperty(conversations, async (one) => {
        await using chat = await conversation(one);
        for (let question = 0; question < 8; question += 1) await chat.ask('And now?');
        expect(await chat.ask('And now?')).toMatchObject({ requests: 1, notices: [] });
      }),
      { numRuns: cases(2) },
    );
  });
});

/** Two protocols, by turns: each thing that is refused has several sentences. With HI_ROUNDS=2 all. */
const byTurns = (at: number): readonly Dialect[] =>
  dialects.filter((_, index) => cases(1) > 1 || [at, at + 2].some((one) => one % dialects.length === index));

describe.each([
  ...RULES.map((rule, at) => [rule.name, rule, byTurns(at)] as const),
  ...WORDLESS.map((rule) => [`${rule.name}, without a word`, rule, dialects] as const),
])('a server that refuses %s', (_, rule, tried) => {
  it.each(tried.map((dialect) => [dialect.title, dialect] as const))('%s: once', async (_title, dialect) => {
    await using chat = await conversation({
      dialect,
      rules: [rule],
      steps: STEPS,
      thinking: 'off',
      own: true,
      hasOptions: true,
    });
    const first = await chat.ask('And now?');
    expect(first).toMatchObject({ answer: 'Fine.' });
    expect(first.requests).toBeLessThanOrEqual(3);
    let last = first;
    // What may be left out without a reason is left out piece by piece, the stream last.
    for (let more = 0; more < 4 && last.requests > 1; more += 1) last = await chat.ask('And then?');
    expect(await chat.ask('So?')).toMatchObject({ answer: 'Fine.', requests: 1, notices: [] });
  });
});

/** A conversation with a server of some rules. */
async function conversation({ dialect, rules, steps, thinking, own, hasOptions }: Case) {
  const server = await vendorServer(refusing(dialect, rules));
  const provider = await adapter(dialect.provider, `${server.url}${dialect.path}`, dialect.settings);
  const known: ModelMemory = memory();
  const target = {
    provider: provider.name,
    model: 'm',
    context_window: 100_000,
    memory: known,
    ...(hasOptions && { options: { temperature: 0.3 } }),
    connect: async () => provider,
  };
  const set = await stage([], {
    models: { target },
    settings: { thinking, preamble: 'Be kind.' },
    tools: { specs: SPECS },
  });
  for (const step of steps) await play(step, set, own ? dialect.provider : 'another');
  return {
    async ask(question: string) {
      const before = asked(server.requests);
      const events: ChatEvent[] = await drain(set.session.send(say(question), never()));
      const report = events.findLast((event) => event.type === 'turn-end');
      return {
        requests: asked(server.requests) - before,
        answer: report?.text,
        notices: events.flatMap((event) => (event.type === 'notice' ? [event.text] : [])),
      };
    },
    async [Symbol.asyncDispose]() {
      await set.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const asked = (requests: readonly { readonly path: string }[]) =>
  requests.filter(({ path }) => path !== '/api/show' && path !== '/api/ps').length;

/** Puts a piece of conversation into the history. */
async function play(step: Step, { history, session }: Stage, provider: string): Promise<void> {
  const user = (...content: readonly Part[]) => history.begin({ role: 'user', content, cwd: '/' });
  const text = (words: string): Part => ({ type: 'text', text: words });
  const answer = (content: NewMessage['content'], stop_reason: NewMessage['stop_reason'] = 'end'): NewMessage => ({
    role: 'assistant',
    content,
    cwd: '/',
    provider,
    model: 'm',
    ...(stop_reason && { stop_reason }),
  });
  switch (step) {
    case 'words':
      return void (await history.append((await user(text('Hello'))).turn, [answer([text('Hi.')])]));
    case 'note':
      return void (await session.note('$ ls\nfile'));
    case 'image': {
      const sha256 = await history.attachments.add(PICTURE);
      const asking = await user(
        { type: 'image', mime: 'image/png', sha256, bytes: PICTURE.length, name: 'a.png' },
        text('What?'),
      );
      return void (await history.append(asking.turn, [answer([text('A cat.')])]));
    }
    case 'pdf': {
      const sha256 = await history.attachments.add(PAPER);
      const asking = await user(
        { type: 'document', mime: 'application/pdf', sha256, bytes: PAPER.length, name: 'a.pdf' },
        text('What?'),
      );
      return void (await history.append(asking.turn, [answer([text('A paper.')])]));
    }
    case 'tools': {
      const calls = ['one', 'two'].map(
        (id): Part => ({
          type: 'tool_call',
          call_id: `call_${id}_${Math.random()}`.slice(0, 30),
          name: 'list_files',
          args: { path: id },
        }),
      );
      const results = calls.map(
        (call): Part => ({
          type: 'tool_result',
          call_id: 'call_id' in call ? call.call_id : '',
          name: 'list_files',
          result: 'a.txt',
        }),
      );
      return void (await history.append((await user(text('List'))).turn, [
        answer([text('Let me look.'), ...calls], 'tool_calls'),
        { role: 'tool', content: results, cwd: '/' },
        answer([text('There is a.txt.')]),
      ]));
    }
    case 'signed':
      return void (await history.append((await user(text('Think'))).turn, [
        answer(signed(provider)),
        answer([text('Well.')]),
      ]));
    case 'interrupted':
      return void (await history.append((await user(text('Stop'))).turn, [answer([], 'interrupted')]));
    case 'cut off':
      return void (await history.append((await user(text('List'))).turn, [
        answer([{ type: 'tool_call', call_id: 'x1', name: 'list_files', args: {} }], 'tool_calls'),
        {
          role: 'tool',
          content: [{ type: 'tool_result', call_id: 'x1', name: 'list_files', error: 'interrupted' }],
          cwd: '/',
        },
        answer([], 'interrupted'),
      ]));
    case 'compaction':
      return void (await drain(session.compact({ focus: null, strategy: 'truncate' }, never())));
  }
}

/** The thinking of an answer in the form of its vendor. */
function signed(provider: string): readonly Part[] {
  switch (provider) {
    case 'anthropic':
      return [
        { type: 'thinking', text: 'Hm.', opaque: { signature: 'SIGNED' } },
        { type: 'vendor', opaque: { block: { type: 'redacted_thinking', data: 'x' } } },
        { type: 'text', text: 'So.' },
      ];
    case 'gemini':
      return [{ type: 'text', text: 'So.', opaque: { thoughtSignature: 'U0lHTkVE' } }];
    default:
      return [
        {
          type: 'thinking',
          text: 'Hm.',
          opaque: {
            item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SIGNED' },
            details: [{ type: 'reasoning.encrypted', data: 'x' }],
          },
        },
        { type: 'text', text: 'So.', opaque: { id: 'msg_1' } },
      ];
  }
}
