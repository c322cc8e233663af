import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { compacting, heads, isSummary, LAST_STRAW, promptOf, turns, words } from '../support/compacting.js';

const FULL = { entries: turns(10) };
const BLOCK = '[Compressed Message Summary]\n';
const LINE = /── 15 messages compacted · 6 kept · 3\.3k → \S+ tokens ──/;

/** The newest `count` messages of ten turns and a question after them. */
const newest = (count: number) =>
  [
    ...heads(turns(10).flatMap(({ content }) => (content[0]?.type === 'text' ? [content[0].text] : []))),
    'the last',
  ].slice(-count);

describe('seed 000, chat history', () => {
  it('Save history, Load history on startup, Resume conversation: what was said is on disk and goes on', async () => {
    await using chat = await compacting();
    await chat.hi(['ask', 'first']);
    expect(chat.stored()).toHaveLength(2);
    await chat.hi(['ask', 'second']);
    expect(chat.sent()).toEqual({ system: [], texts: ['first', 'ok', 'second'] });
  });

  it('No existing history: it begins empty', async () => {
    await using chat = await compacting();
    expect(await chat.status()).toMatchObject({ messages: 0, estimated_tokens: 0, compactions: 0 });
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

  it('Compact preserves recent messages: of 20 exactly 10 stay', async () => {
    await using chat = await compacting(FULL);
    const { stderr } = await chat.hi(['compact', '--strategy', 'truncate']);
    expect(stderr).toBe('── 10 messages compacted · 10 kept · 3k → 1.5k tokens ──\n');
    expect(await chat.status()).toMatchObject({ messages: 20, context_messages: 10 });
    await chat.hi(['ask', 'the last']);
    expect(heads(chat.sent().texts)).toEqual(newest(11));
  });

  it('Estimate tokens: 4000 characters are 1000 tokens', async () => {
    await using chat = await compacting({ entries: turns(5, 400) });
    expect(await chat.status()).toMatchObject({ estimated_tokens: 1000, context_tokens: 1000, used: 0.25 });
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

  it('Long conversation triggers compact: the event is a line on stderr where text is printed', async () => {
    await using chat = await compacting(FULL);
    const { stdout, stderr } = await chat.hi(['ask', LAST_STRAW]);
    expect(stdout).toBe('ok\n');
    expect(stderr).toMatch(LINE);
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

  it('Compact preserves context: what the summary says the model is told', async () => {
    await using chat = await compacting({
      ...FULL,
      summary: () => ({
        text: '=== SUMMARY ===\nThey chose SQLite.\n=== NEW FACTS ===\n- decision: the port is 5433\n',
      }),
    });
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.sent().system[0]).toContain('They chose SQLite.');
    expect(chat.sent().system[0]).toContain('- decision: the port is 5433');
  });

  it('Compact indicator displayed: one line between the compacted and the kept says how many were kept', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    for (const form of ['', '--md']) {
      const { stdout } = await chat.hi(['history', ...(form === '' ? [] : [form])]);
      const read = stdout
        .split('\n')
        .flatMap((line) => /^(question \d+|answer \d+|\*?── .*kept|the last)/.exec(line)?.[1] ?? []);
      expect(read.indexOf('question 8')).toBe(14);
      expect(read[15]).toMatch(/^\*?── 15 messages compacted · 6 kept/);
      expect(read.slice(16)).toEqual(['answer 8', 'question 9', 'answer 9', 'question 10', 'answer 10', 'the last']);
    }
  });

  it('Summary persisted to database: the summary is in the history', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.blocks()).toEqual([
      expect.objectContaining({ type: 'compress', content: 'They talked.', strategy: 'summary', first_kept: 16 }),
    ]);
  });

  it('Resume compacted conversation: after a restart the stored summary is sent, nobody is asked, all messages are there', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    const [before] = [chat.sent()];
    await chat.hi(['ask', 'again']);
    expect(chat.summaries()).toHaveLength(1);
    expect(chat.sent()).toEqual({ system: before.system, texts: [...before.texts, 'ok', 'again'] });
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
  it('Trigger LLM compression at 80% threshold: the conversation goes to the model for compression', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    const prompt = promptOf(chat.summaries()[0]);
    for (const part of ['question 1 ', 'answer 7 ', 'question 8 ']) expect(prompt).toContain(part);
    for (const part of ['answer 8 ', 'the last straw']) expect(prompt).not.toContain(part);
    expect(chat.summaries()[0]?.tools ?? []).toEqual([]);
  });

  it('LLM compresses conversation history: what is sent is less than half of what it was', async () => {
    await using chat = await compacting(FULL);
    const { compaction } = await chat.json(LAST_STRAW);
    expect(compaction?.tokens_after).toBeLessThan(Number(compaction?.tokens_before) / 2);
  });

  it('Preserve key information during compression, Compression prompt includes instructions: the ratio, what to keep, what to remove', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { target_ratio: 0.4 } } });
    await chat.hi(['ask', LAST_STRAW]);
    const prompt = promptOf(chat.summaries()[0]);
    for (const part of ['40%', 'user preferences', 'important decisions', 'results', 'active context'])
      expect(prompt).toContain(part);
    for (const part of ['redundant information', 'outdated context', 'irrelevant details'])
      expect(prompt).toContain(part);
  });

  it('Replace original history with compressed version: the originals are no longer sent', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    const sent = JSON.stringify(chat.sent());
    expect(sent).not.toContain('question 8 ');
    expect(sent).toContain('answer 8 ');
  });

  it('LLM returns structured compression: JSON or plain text is taken as it is', async () => {
    for (const text of ['Plain words.', '{"decisions": ["SQLite"]}', '```json\n{"decisions": ["SQLite"]}\n```']) {
      await using chat = await compacting({ ...FULL, summary: () => ({ text }) });
      expect((await chat.json(LAST_STRAW)).compaction).toMatchObject({ source: 'model' });
      expect(chat.blocks()[0]?.content).toBe(text.replaceAll(/```(json\n|$)|\n```/g, ''));
    }
  });

  const DECLINED = 'I’m sorry, but I can’t help with that.';
  const FAILURES = {
    'API error': { status: 400, error: { message: 'no such thing' } },
    'empty response': { text: '' },
    'invalid response: a refusal': { text: DECLINED },
    'invalid response: a refusal by its finish reason': { text: 'No', finish: 'content_filter' },
    'invalid response: an error in words': { text: '{"error": "overloaded"}' },
    'invalid response: cut off': { text: 'They talked and', finish: 'length' },
    'invalid response: far too long': { text: 'many words '.repeat(600) },
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

  it('Fallback to simple truncation: the next success covers the whole backlog', async () => {
    await using chat = await compacting({
      ...FULL,
      summary: (_, index) => ({ text: index === 0 ? DECLINED : 'All of it.' }),
      answer: (request) => ({ text: isSummary(request) ? DECLINED : 'ok' }),
    });
    await chat.hi(['ask', LAST_STRAW]);
    await chat.hi(['compact']);
    const prompt = promptOf(chat.summaries()[1]);
    for (const part of ['question 1 ', 'question 8 ', 'answer 8 ']) expect(prompt).toContain(part);
    await chat.hi(['ask', 'next']);
    expect(chat.sent().system[0]).toContain('All of it.');
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

  it('User Story 1.2, FR-003, FR-004: the AI writes the summary, and a compress block replaces the originals', async () => {
    await using chat = await compacting(FULL);
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.summaries()).toHaveLength(1);
    expect(chat.blocks()).toEqual([
      expect.objectContaining({ type: 'compress', content: 'They talked.', source: 'model', model: 'small' }),
    ]);
    expect(await chat.status()).toMatchObject({ messages: 22, context_messages: 7, compactions: 1 });
  });

  it('User Story 1.3, FR-005: the block is sent as a system message with the prefix [Compressed Message Summary]', async () => {
    await using chat = await compacting({ ...FULL, config: { preamble: 'Be brief.' } });
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.sent().system.join('\n')).toContain('Be brief.');
    expect(chat.sent().system.join('\n').split(BLOCK)).toHaveLength(2);
    expect(chat.sent().system.at(-1)).toContain(BLOCK);
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

  it('Recursive Compression: with replace the entire history, the old summary included, becomes the new one', async () => {
    await using chat = await compacting({
      ...FULL,
      config: { compaction: { strategy: 'replace' } },
      summary: (_, index) => ({ text: `Summary number ${index + 1}.` }),
    });
    await chat.hi(['ask', LAST_STRAW]);
    const input = Array.from({ length: 4 }, (_, index) => words(`more ${index}`, 3600)).join('\n');
    await chat.hi(['chat'], { input });
    expect(chat.summaries()).toHaveLength(2);
    const prompt = promptOf(chat.summaries()[1]);
    for (const part of ['Summary number 1.', 'the last straw', 'more 0 ', 'more 1 ']) expect(prompt).toContain(part);
    expect(prompt).not.toContain('question 10 ');
    expect(chat.sent().system).toEqual([expect.stringMatching(/Summary number 2\.$/)]);
    expect(chat.sent().system[0]).not.toContain('Summary number 1.');
    expect(heads(chat.sent().texts)[0]).toMatch(/^more/);
    expect(chat.sent().texts.join()).not.toContain('the last straw');
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
