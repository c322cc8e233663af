import { describe, expect, it } from '@jest/globals';
import type { NewMessage, Usage } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { preview } from '../../lib/compaction/run-strategy.js';
import type { CompactionSettings } from '../../lib/compaction/strategy.js';
import { HiError } from '../../lib/errors.js';
import { type Measure, measure } from '../../lib/view/measure.js';
import { BLOCK_PREFIX, present, type View, view } from '../../lib/view/view.js';
import { inputFor, memoryCache, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { partsOf, type ScriptedModel, scripted } from '../support/summarisers.js';

const WINDOW = { ...SETTINGS, context_window: 2000 };

/** A conversation as a session drives it: before each request the measure, and a pass when one is due. */
class Conversation {
  readonly log = new Log();
  readonly settings: CompactionSettings;
  readonly models: readonly ScriptedModel[];
  readonly cache = memoryCache();
  readonly events: string[] = [];

  constructor(models: readonly ScriptedModel[], settings: CompactionSettings = WINDOW) {
    this.models = models;
    this.settings = settings;
  }

  async send(text: string, reply: string, more: Partial<NewMessage> = {}): Promise<View> {
    const running = this.log.user(text).id;
    const { due, context_tokens } = this.#measured(running);
    if (due) {
      const input = inputFor(this.log, { running, context_tokens, settings: this.settings, reason: 'auto' });
      const { block, events } = await pass(input, this.models, this.cache);
      if (block) this.log.block(block);
      this.events.push(...events.map(({ type }) => type), ...(block ? ['compact'] : []));
    }
    const sent = view(this.log.entries, running);
    this.log.answer(reply, more);
    return sent;
  }

  #measured(running: number): Measure {
    return measure(view(this.log.entries, running), this.log.entries, 0, this.settings, 'main');
  }
}

const WORDS = 'words '.repeat(40);

async function filled(model: ScriptedModel, settings = WINDOW): Promise<{ chat: Conversation; sent: View }> {
  const chat = new Conversation([model], settings);
  for (let turn = 0; turn < 12; turn++) await chat.send(`question ${turn} ${WORDS}`, `answer ${turn} ${WORDS}`);
  expect(chat.events).toEqual([]);
  const sent = await chat.send(`the question that fills it ${WORDS.repeat(2)}`, 'ok');
  return { chat, sent };
}

describe('seed 000, chat history', () => {
  it('Auto-compact before context window limit: the newest half stays', async () => {
    const { chat, sent } = await filled(
      scripted(() => ''),
      { ...WINDOW, strategy: 'truncate' },
    );
    expect(chat.events).toEqual(['compact-start', 'compact']);
    expect(sent.messages).toHaveLength(13);
  });

  it('Compact preserves recent messages: of 20 messages the newest 10 stay', async () => {
    const log = new Log();
    for (let turn = 0; turn < 10; turn++) log.exchange('question', 'answer');
    const { block } = await pass(inputFor(log, { settings: { ...SETTINGS, strategy: 'truncate' } }));
    if (block) log.block(block);
    expect(view(log.entries, null).messages).toEqual(log.entries.slice(10, 20));
  });

  it('Estimate tokens: 4000 characters are 1000', () => {
    const log = new Log().exchange('q'.repeat(1500), 'a'.repeat(2500));
    expect(measure(view(log.entries, null), log.entries, 0, SETTINGS, 'main').estimated_tokens).toBe(1000);
  });
});

describe('seed 002, auto compact', () => {
  it('Short conversation (no compact): all messages are sent as they are, and no event', async () => {
    const chat = new Conversation([scripted(() => 'never')]);
    for (let turn = 0; turn < 12; turn++) {
      const sent = await chat.send(`question ${turn} ${WORDS}`, `answer ${turn} ${WORDS}`);
      expect(sent).toEqual({ block: null, messages: chat.log.entries.slice(0, -1) });
    }
    expect(chat.events).toEqual([]);
  });

  it('Long conversation triggers compact: one call to the fast model, six messages intact, an event', async () => {
    const model = scripted(() => 'They counted questions.');
    const { chat, sent } = await filled(model);
    expect(model.asked).toHaveLength(1);
    expect(sent.block?.content).toMatch(/^They counted questions\./);
    expect(sent.messages).toEqual(chat.log.entries.filter((entry) => !('type' in entry)).slice(-7, -1));
    expect(chat.events).toEqual(['compact-start', 'compact-progress', 'compact']);
  });

  it('Compact preserves context: the summary is what the model is sent', async () => {
    const { sent } = await filled(scripted(() => 'Decisions\nThe name is kiwi.'));
    expect(present(sent, 'system').system[0]).toContain('The name is kiwi.');
  });

  it('Compact indicator displayed: the block tells how many were compacted and kept', async () => {
    const { sent } = await filled(scripted(() => 'Short.'));
    expect(sent.block).toMatchObject({ messages_compacted: 19, messages_kept: 6, first_kept: 20 });
  });

  it('Summary persisted to database, Resume compacted conversation: no call after a restart, the whole archive is there', async () => {
    const model = scripted(() => 'Short.');
    const { chat } = await filled(model);
    const reopened = chat.log.reloaded();
    expect(view(reopened, null)).toEqual(view(chat.log.entries, null));
    expect(measure(view(reopened, null), reopened, 0, WINDOW, 'main').due).toBe(false);
    expect(reopened.filter((entry) => !('type' in entry))).toHaveLength(26);
    await chat.send('go on', 'yes');
    expect(model.asked).toHaveLength(1);
  });

  it('Continue conversation: follow-ups are sent behind the summary', async () => {
    const { chat } = await filled(scripted(() => 'Short.'));
    const sent = await chat.send('and what was the first question?', 'question 0');
    expect(sent.block?.content).toMatch(/^Short\./);
    expect(sent.messages).toHaveLength(8);
  });
});

describe('seed 003, semantic compression of the history', () => {
  it('LLM compresses conversation history, Replace original history with compressed version', async () => {
    const { sent } = await filled(scripted(() => 'Short.'));
    expect(sent.block?.tokens_after).toBeLessThan((sent.block?.tokens_before ?? 0) / 2);
    expect(JSON.stringify(sent.messages)).not.toContain('question 3 ');
  });

  it('Compression prompt includes instructions: the ratio, what to keep and what to remove', async () => {
    const model = scripted(() => 'Short.');
    await filled(model, { ...WINDOW, target_ratio: 0.4 });
    const user = model.asked[0]?.user ?? '';
    for (const words of ['40%', 'user preferences', 'important decisions', 'results', 'active context']) {
      expect(user).toContain(words);
    }
    for (const words of ['redundant information', 'outdated context', 'irrelevant details'])
      expect(user).toContain(words);
  });

  it('Fallback to simple truncation: after an error the last ten messages are sent', async () => {
    const model = scripted(() => {
      throw new HiError('overload', 'The server is overloaded.');
    });
    const { chat, sent } = await filled(model);
    expect(sent.block).toMatchObject({ source: 'fallback', content: '' });
    expect(sent.messages).toEqual(chat.log.entries.filter((entry) => !('type' in entry)).slice(-11, -1));
  });

  it('Use cached compression: the same content is not sent twice', async () => {
    const model = scripted(() => 'Short.');
    const { chat } = await filled(model);
    const entries = chat.log.entries.filter((entry) => !('type' in entry)).slice(0, -1);
    const running = entries.at(-1)?.id ?? 0;
    const again = inputFor(chat.log, { entries, running, settings: WINDOW, reason: 'auto' });
    expect((await pass(again, [model], chat.cache)).block).toMatchObject({ source: 'cache' });
    expect(model.asked).toHaveLength(1);
  });
});

describe('seed 004, message compression', () => {
  const usage = (context_tokens: number): Usage => ({
    input_tokens: context_tokens - 10,
    output_tokens: 10,
    cached_tokens: 0,
    context_tokens,
  });

  it('User Story 1, FR-001: reported usage above the absolute limit compresses before the next message', async () => {
    const chat = new Conversation([scripted(() => 'Short.')], { ...SETTINGS, max_input_tokens: 1000 });
    for (let turn = 0; turn < 9; turn++) await chat.send(`question ${turn} ${WORDS}`, 'ok');
    await chat.send('question', 'ok', { model: 'main', usage: usage(1001) });
    expect(chat.events).toEqual([]);
    const sent = await chat.send('question', 'ok');
    expect(sent.block).toMatchObject({ source: 'model', tokens_before: expect.any(Number) });
    expect(sent.block?.tokens_before).toBeGreaterThanOrEqual(1001);
    expect(sent.messages).toHaveLength(6);
  });

  it('FR-005: the block is a system message that begins [Compressed Message Summary]', async () => {
    const { sent } = await filled(scripted(() => 'Short.'));
    expect(present(sent, 'system').system).toEqual([expect.stringMatching(/^\[Compressed Message Summary\]\n/)]);
    expect(present(sent, 'system').messages).toEqual(sent.messages);
  });

  it('gives the block to a model that ignores late system text as the first message of the user', async () => {
    const { sent } = await filled(scripted(() => 'Short.'));
    const { system, messages } = present(sent, 'user');
    expect(system).toEqual([]);
    expect(messages[0]).toMatchObject({ role: 'user', content: [{ text: expect.stringContaining(BLOCK_PREFIX) }] });
    expect(messages.slice(1)).toEqual(sent.messages);
  });

  it('FR-002: with replace one continuation summary stands for the entire history', async () => {
    const { sent } = await filled(
      scripted(() => 'Continuation.'),
      { ...WINDOW, strategy: 'replace' },
    );
    expect(sent.messages).toHaveLength(1);
    expect(sent.block?.content).toMatch(/^Continuation\./);
  });

  it('Recursive Compression: the old summary goes into the new one', async () => {
    const model = scripted((_, call) => `Summary ${call}.`);
    const { chat } = await filled(model);
    for (let turn = 0; turn < 12; turn++) await chat.send(`more ${turn} ${WORDS}`, WORDS);
    expect(model.asked).toHaveLength(2);
    expect(partsOf(model.asked[1] ?? { system: '', user: '', max_output_tokens: 0 }).earlier).toBe('Summary 1.');
    expect(view(chat.log.entries, null).block?.content).toMatch(/^Summary 2\./);
  });

  it('Image Handling: an image counts a flat cost, is named to the summariser and not sent', async () => {
    const log = new Log();
    log.user('look', {
      content: [{ type: 'image', mime: 'image/png', sha256: 'ab'.repeat(32), bytes: 3_000_000, name: 'cat.png' }],
    });
    log.answer(WORDS);
    expect(measure(view(log.entries, null), log.entries, 0, SETTINGS, 'main').estimated_tokens).toBe(1560);
    for (let turn = 0; turn < 4; turn++) log.exchange(WORDS, WORDS);
    const model = scripted(() => 'They looked at a cat.');
    const { block } = await pass(inputFor(log), [model]);
    expect(model.asked[0]?.user).toContain('[image: cat.png (image/png)]');
    expect(block?.content).toContain('cat.png');
  });

  it('Token Limit Edge: a summary that is too long is not taken', async () => {
    const { sent } = await filled(scripted(() => 'word '.repeat(1000)));
    expect(sent.block).toMatchObject({ source: 'fallback' });
  });
});

describe('a preview', () => {
  it('says what a pass would do without asking anybody', () => {
    const log = new Log();
    for (let turn = 0; turn < 10; turn++) log.exchange('q'.repeat(400), 'a'.repeat(400));
    expect(preview(inputFor(log))).toEqual({
      strategy: 'summary',
      messages_compacted: 14,
      messages_kept: 6,
      tokens_before: asTokens(2000),
      tokens_kept: asTokens(600),
    });
  });

  it('says when there is nothing to compact', () => {
    expect(preview(inputFor(new Log().exchange('a', 'b')))).toBeNull();
  });
});
