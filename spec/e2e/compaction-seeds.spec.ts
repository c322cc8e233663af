import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type Compacting,
  compacting,
  heads,
  isSummary,
  LAST_STRAW,
  promptOf,
  turns,
  words,
} from '../support/compacting.js';
import type { Run } from '../support/program.js';

const FULL = { entries: turns(10) };
const BLOCK = '[Compressed Message Summary]\n';
const LINE = /── 15 messages compacted · 6 kept · 3\.3k → \S+ tokens ──/;

/** The newest `count` messages of ten turns and a question after them. */
const newest = (count: number) =>
  [
    ...heads(turns(10).flatMap(({ content }) => (content[0]?.type === 'text' ? [content[0].text] : []))),
    'the last',
  ].slice(-count);

/** A chat whose ten turns were compacted before the last question: what specs look at that change nothing. */
let full: Compacting;
let asked: Run;
beforeAll(async () => {
  full = await compacting(FULL);
  asked = await full.hi(['ask', LAST_STRAW]);
});
afterAll(async () => await full[Symbol.asyncDispose]());

// What each strategy, reply and failure leads to: `spec/compaction/seeds`, `summary` and `reply`.
describe('seed 000, chat history', () => {
  it('No existing history, Save history, Load history on startup, Resume conversation: it begins empty, is on disk and goes on', async () => {
    await using chat = await compacting();
    expect(await chat.status()).toMatchObject({ messages: 0, estimated_tokens: 0, compactions: 0 });
    await chat.hi(['ask', 'first']);
    expect(chat.stored()).toHaveLength(2);
    await chat.hi(['ask', 'second']);
    expect(chat.sent()).toEqual({ system: [], texts: ['first', 'ok', 'second'] });
  });

  it('Reset history, Use after reset: nothing is left, neither of the messages nor of the summary', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.blocks()).toHaveLength(1);
    await chat.hi(['reset', '-y']);
    expect(existsSync(chat.home.historyFile)).toBe(false);
    await chat.hi(['ask', 'hello']);
    expect(chat.sent()).toEqual({ system: [], texts: ['hello'] });
  });

  it('Auto-compact before context window limit: above 80 % the newest half of the messages stays', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { strategy: 'truncate' } } });
    await chat.hi(['ask', LAST_STRAW]);
    expect(heads(chat.sent().texts)).toEqual(newest(11));
    expect(chat.sent().system).toEqual([]);
    expect(chat.summaries()).toEqual([]);
  });
});

describe('seed 002, auto compact', () => {
  it('Short conversation (no compact): all messages are sent as they are, and there is no event', async () => {
    await using chat = await compacting(FULL);
    const { stdout, stderr } = await chat.hi(['ask', '-o', 'stream-json', words('below 80 %', 796)]);
    expect(heads(chat.sent().texts)).toEqual([...newest(21).slice(0, -1), 'below 80']);
    expect(chat.sent().system).toEqual([]);
    expect(stdout).not.toContain('"type":"compact');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ type: 'result', compaction: null });
    expect(chat.summaries()).toEqual([]);
  });

  it('Long conversation triggers compact: at 80 % one call to the fast model, six messages intact, then summary and six', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', words('the last straw', 800)]);
    expect(chat.summaries()).toHaveLength(1);
    expect(chat.asked()).toHaveLength(1);
    expect(heads(chat.sent().texts)).toEqual(newest(6));
    expect(chat.sent().system).toEqual([
      expect.stringMatching(/^\[Compressed Message Summary\]\n[\s\S]*They talked\.$/),
    ]);
    const intact = turns(10).slice(-5);
    expect(chat.sent().texts.slice(0, -1)).toEqual(
      intact.map(({ content }) => content[0]?.type === 'text' && content[0].text),
    );
  });

  const REPORT = {
    strategy: 'summary',
    source: 'model',
    messages_compacted: 15,
    messages_kept: 6,
    tokens_before: 3300,
    tokens_after: 1053,
  };

  it('Long conversation triggers compact: the event is a line on stderr where text is printed', () => {
    expect(asked.stdout).toBe('ok\n');
    expect(asked.stderr).toMatch(LINE);
  });

  it('Long conversation triggers compact: the event is an object of the one JSON object', async () => {
    await using chat = await compacting(FULL);
    expect((await chat.json(LAST_STRAW)).compaction).toEqual(REPORT);
    expect((await chat.json('next')).compaction).toBeNull();
  });

  it('Long conversation triggers compact: the event is a line of the JSON stream, before the answer', async () => {
    await using chat = await compacting(FULL);
    const { stdout } = await chat.hi(['ask', '-o', 'stream-json', LAST_STRAW]);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual([
      'compact-start',
      'compact-progress',
      'compact',
      'request',
      'text',
      'result',
    ]);
    expect(events[2]).toEqual({ type: 'compact', ...REPORT });
    expect(events[5]).toMatchObject({ type: 'result', compaction: REPORT });
  });

  it('Long conversation triggers compact: the fast model is Claude Haiku where Claude is talked to', async () => {
    await using chat = await compacting();
    chat.home.writeConfig(JSON.stringify({ provider: 'anthropic', api_key: 'a key' }));
    const { stdout } = await chat.hi(['config', 'show']);
    expect(JSON.parse(stdout)).toMatchObject({ small_model: { model: expect.stringMatching(/^claude-haiku-/) } });
  });

  it('Compact preserves context, Compression prompt includes instructions, FR-005: with a preamble and a ratio', async () => {
    const text = '=== SUMMARY ===\nThey chose SQLite.\n=== NEW FACTS ===\n- decision: the port is 5433\n';
    const config = { preamble: 'Be brief.', compaction: { target_ratio: 0.4 } };
    await using chat = await compacting({ ...FULL, config, summary: () => ({ text }) });
    await chat.hi(['ask', LAST_STRAW]);
    expect(promptOf(chat.summaries()[0])).toContain('40%');
    const { system } = chat.sent();
    expect(system.join('\n')).toContain('Be brief.');
    expect(system.join('\n').split(BLOCK)).toHaveLength(2);
    for (const part of [BLOCK, 'They chose SQLite.', '- decision: the port is 5433'])
      expect(system.at(-1)).toContain(part);
  });

  it('Compact indicator displayed: one line between the compacted and the kept says how many were kept', async () => {
    for (const form of [[], ['--md']]) {
      const { stdout } = await full.hi(['history', ...form]);
      const read = stdout
        .split('\n')
        .flatMap((line) => /^(question \d+|answer \d+|\*?── .*kept|the last)/.exec(line)?.[1] ?? []);
      expect(read.indexOf('question 8')).toBe(14);
      expect(read[15]).toMatch(/^\*?── 15 messages compacted · 6 kept/);
      expect(read.slice(16)).toEqual(['answer 8', 'question 9', 'answer 9', 'question 10', 'answer 10', 'the last']);
    }
  });

  it('Summary persisted to database, User Story 1.2, FR-003, FR-004: the summary is in the history', async () => {
    expect(full.blocks()).toEqual([
      expect.objectContaining({
        type: 'compress',
        content: 'They talked.',
        strategy: 'summary',
        source: 'model',
        model: 'small',
        first_kept: 16,
      }),
    ]);
    expect(await full.status()).toMatchObject({ messages: 22, context_messages: 7, compactions: 1 });
  });

  it('Resume compacted conversation: after a restart the stored summary is sent, nobody is asked, all messages are there', async () => {
    await using chat = await compacting({ entries: full.stored() });
    await chat.hi(['ask', 'again']);
    expect(chat.summaries()).toEqual([]);
    const { system, texts } = full.sent();
    expect(chat.sent()).toEqual({ system, texts: [...texts, 'ok', 'again'] });
    const { stdout } = await chat.hi(['history']);
    for (const { content } of turns(10)) expect(stdout).toContain(content[0]?.type === 'text' ? content[0].text : '');
  });

  it('Continue conversation: earlier messages are included until they are replaced by a summary, again and again', async () => {
    await using chat = await compacting({ answer: () => ({ text: words('an answer', 600) }) });
    const input = Array.from({ length: 30 }, (_, index) => words(`input ${index + 1}`, 600)).join('\n');
    await chat.hi(['chat'], { input });
    const sizes = chat.asked().map(({ messages }) => messages.map(({ content }) => content).join('').length / 4);
    expect(sizes).toHaveLength(30);
    expect(Math.max(...sizes)).toBeLessThan(3200);
    expect(chat.blocks()).toHaveLength(chat.summaries().length);
    expect(chat.summaries().length).toBeGreaterThan(1);
    expect(chat.sent().system[0]).toContain('They talked.');
    expect(chat.stored()).toHaveLength(60 + chat.blocks().length);
  });
});

describe('seed 003, semantic compression of the history', () => {
  it('Trigger LLM compression at 80% threshold: the conversation goes to the model for compression', () => {
    const prompt = promptOf(full.summaries()[0]);
    for (const part of ['question 1 ', 'answer 7 ', 'question 8 ']) expect(prompt).toContain(part);
    for (const part of ['answer 8 ', 'the last straw']) expect(prompt).not.toContain(part);
    expect(full.summaries()[0]?.tools ?? []).toEqual([]);
  });

  it('Replace original history with compressed version: the originals are no longer sent', () => {
    const sent = JSON.stringify(full.sent());
    expect(sent).not.toContain('question 8 ');
    expect(sent).toContain('answer 8 ');
  });

  const FAILURES = {
    'API error': { status: 400, error: { message: 'no such thing' } },
    'invalid response: a refusal by its finish reason': { text: 'No', finish: 'content_filter' },
    'invalid response: a tool call': { calls: [{ name: 'bash', args: { command: 'true' } }] },
  };

  it.each(Object.entries(FAILURES))(
    'Fallback to simple truncation, %s: the last ten messages are sent',
    async (_, reply) => {
      await using chat = await compacting({
        ...FULL,
        answer: (request) => (isSummary(request) ? reply : { text: 'ok' }),
        summary: () => reply,
      });
      const { stdout, stderr, status } = await chat.hi(['ask', LAST_STRAW]);
      expect({ stdout, status }).toEqual({ stdout: 'ok\n', status: 0 });
      expect(stderr).toContain('No summary was written: ');
      expect(stderr).toContain('Only the newest 10 messages are sent for now');
      expect(heads(chat.sent().texts)).toEqual(newest(10));
      expect(chat.sent().system).toEqual([]);
      expect(chat.blocks()).toEqual([expect.objectContaining({ source: 'fallback', content: '' })]);
      expect(chat.stored().filter((entry) => !('type' in entry))).toHaveLength(22);
    },
  );

  it('Fallback to simple truncation, timeout: the last ten messages are sent', async () => {
    await using chat = await compacting({
      ...FULL,
      answer: (request) => (isSummary(request) ? { pieces: ['They '], hangAfter: 0 } : { text: 'ok' }),
      summary: () => ({ pieces: ['They ', 'talked'], hangAfter: 1 }),
      config: { compaction: { idle_timeout_ms: 300 } },
    });
    const { stderr } = await chat.hi(['ask', LAST_STRAW]);
    expect(stderr).toContain("'small' sent nothing for 0.3 s");
    expect(stderr).toContain("'main' sent nothing for 0.6 s");
    expect(heads(chat.sent().texts)).toEqual(newest(10));
  });

  it('Cache compression results, Use cached compression: the same content is compressed once, also in another process', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['compact']);
    await using other = await compacting(FULL);
    const again = await other.hi(['compact', '--json'], { env: { HI_CACHE_DIR: chat.home.env.HI_CACHE_DIR ?? '' } });
    expect(JSON.parse(again.stdout).compaction).toMatchObject({ source: 'cache', messages_compacted: 14 });
    expect(chat.summaries()).toHaveLength(1);
    expect(other.summaries()).toEqual([]);
    expect(other.blocks()[0]?.content).toBe('They talked.');
  });
});

describe('seed 004, message compression', () => {
  it('User Story 1.1, FR-001: usage above the limit, watched after each answer, compresses before the next message', async () => {
    await using chat = await compacting({
      entries: turns(5),
      config: { max_input_tokens: 2000 },
      answer: (_, index) => ({ text: 'ok', usage: index === 0 ? [2500, 1] : [900, 1] }),
    });
    expect((await chat.json('first')).compaction).toBeNull();
    expect(await chat.status()).toMatchObject({ context_tokens: 2501, compactions: 0 });
    expect((await chat.json('second')).compaction).toMatchObject({ source: 'model', messages_kept: 6 });
    expect((await chat.json('third')).compaction).toBeNull();
    expect(chat.summaries()).toHaveLength(1);
  });

  it('FR-002: with replace the entire history becomes a single continuation summary', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { strategy: 'replace' } } });
    const { compaction } = await chat.json(LAST_STRAW);
    expect(compaction).toMatchObject({ strategy: 'replace', messages_compacted: 20, messages_kept: 1 });
    expect(chat.sent().texts).toEqual([LAST_STRAW]);
    expect(chat.sent().system[0]).toContain('They talked.');
    expect(chat.summaries()).toHaveLength(1);
  });

  it('Recursive Compression: the old summary goes into the new one, and one is left', async () => {
    await using chat = await compacting({
      ...FULL,
      summary: (_, index) => ({ text: `Summary number ${index + 1}.` }),
      answer: () => ({ text: words('an answer', 600) }),
    });
    await chat.hi(['ask', LAST_STRAW]);
    await chat.hi(['chat'], { input: Array.from({ length: 8 }, (_, index) => words(`more ${index}`, 600)).join('\n') });
    expect(chat.summaries()).toHaveLength(2);
    expect(promptOf(chat.summaries()[1])).toMatch(/<earlier-summary>\nSummary number 1\.\n<\/earlier-summary>/);
    expect(promptOf(chat.summaries()[1])).not.toContain('question 3 ');
    const system = chat.sent().system.join('\n');
    expect(system.split(BLOCK)).toHaveLength(2);
    expect(system).toContain('Summary number 2.');
    expect(system).not.toContain('Summary number 1.');
  });

  it('Image Handling: an image counts, is named to the summariser and in the summary, and is not sent', async () => {
    await using chat = await compacting({ config: { context_window: 6000 } });
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    writeFileSync(join(chat.home.work, 'cat.png'), Buffer.from(png, 'base64'));
    await chat.hi(['ask', '-f', 'cat.png', 'look at this']);
    expect((await chat.status()).estimated_tokens).toBeGreaterThanOrEqual(1500);
    await chat.hi(['chat'], {
      input: Array.from({ length: 5 }, (_, index) => words(`question ${index}`, 3000)).join('\n'),
    });
    expect(chat.summaries()).toHaveLength(1);
    const summary = promptOf(chat.summaries()[0]);
    expect(summary).toContain('[image: cat.png (image/png');
    expect(summary).not.toContain(png.slice(0, 40));
    expect(chat.blocks()[0]?.content).toContain('cat.png');
    expect(JSON.stringify(chat.asked().at(-1))).not.toContain(png.slice(0, 40));
  });

  it('Token Limit Edge: a summary a little too long is cut at a line, one far too long is not taken', async () => {
    const line = 'one line of a summary that goes on and on\n';
    await using chat = await compacting({ ...FULL, summary: () => ({ text: line.repeat(55) }) });
    expect((await chat.json(LAST_STRAW)).compaction).toMatchObject({ source: 'model' });
    const { content } = chat.blocks()[0] ?? { content: '' };
    expect(content.length).toBeLessThanOrEqual(4 * 512);
    expect(content.endsWith(line.trim())).toBe(true);
  });
});
