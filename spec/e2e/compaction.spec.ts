import { describe, expect, it } from '@jest/globals';
import { compacting, heads, isSummary, LAST_STRAW, PROMPT, promptOf, turns, words } from '../support/compacting.js';
import type { SentMessage } from '../support/scripted-server.js';
import { control, KEY } from '../support/terminal.js';

const FULL = { entries: turns(10) };
const OVERFLOW = { status: 400, error: { message: 'This is too much.', code: 'context_length_exceeded' } };
const FAILS = { status: 404, error: { message: 'The model does not exist.', code: 'model_not_found' } };
/** More turns on stdin of `hi chat`, each with 150 tokens. */
const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => words(`line ${index + 1}`, 600)).join('\n');
const ANSWER = { text: words('an answer', 600) };

describe('a compaction in the middle of a tool loop', () => {
  it('never separates a call from its result, keeps the question, and continues to the answer', async () => {
    const rounds = 12;
    await using chat = await compacting({
      config: { context_window: 6000, tools: {} },
      answer: (_, index) =>
        index < rounds ? { calls: [{ name: 'read_file', args: { path: 'long.txt' } }] } : { text: 'done' },
    });
    chat.home.write('long.txt', words('a file', 1900));
    const { stdout, stderr } = await chat.hi(['ask', '-y', 'Read it again and again.']);
    expect(stdout).toBe('done\n');
    expect(stderr).toMatch(/── \d+ messages compacted · \d+ kept/);
    expect(chat.asked()).toHaveLength(rounds + 1);
    expect(chat.summaries().length).toBeGreaterThan(0);
    for (const { messages } of chat.asked()) {
      expect(lonelyIn(messages)).toEqual([]);
      expect(messages.filter(({ content }) => content === 'Read it again and again.')).toHaveLength(1);
    }
    expect(chat.sent().system.join()).toContain('Files read: long.txt');
    expect(chat.stored().filter((entry) => !('type' in entry))).toHaveLength(2 + 2 * rounds);
  });

  it('makes each request a prefix of the next between two compactions', async () => {
    await using chat = await compacting({
      config: { context_window: 6000, tools: {} },
      answer: (_, index) =>
        index < 14 ? { calls: [{ name: 'read_file', args: { path: 'long.txt' } }] } : { text: 'done' },
    });
    chat.home.write('long.txt', words('a file', 1900));
    await chat.hi(['ask', '-y', 'Read it again and again.']);
    const sent = chat.asked().map(({ messages }) => messages.map((message) => JSON.stringify(message)));
    const breaks = sent.slice(1).filter((next, index) => !sent[index]?.every((message, at) => message === next[at]));
    expect(breaks).toHaveLength(chat.blocks().length);
  });
});

describe('a request that the provider refuses as too long', () => {
  it('compacts once and is sent again', async () => {
    await using chat = await compacting({
      entries: turns(6),
      answer: (_, index) => (index === 0 ? OVERFLOW : { text: 'fits' }),
    });
    const report = await chat.json('next');
    expect(report).toMatchObject({ text: 'fits', compaction: { source: 'model', messages_kept: 3 } });
    expect(chat.summaries()).toHaveLength(1);
    expect(chat.asked()).toHaveLength(2);
    expect(heads(chat.sent().texts)).toEqual(['question 6', 'answer 6', 'next']);
  });

  it('ends with status 6 if it is still too long, and leaves the conversation unchanged', async () => {
    await using chat = await compacting({ entries: turns(6), answer: () => OVERFLOW });
    const { status, stderr } = await chat.hi(['ask', 'next']);
    expect(status).toBe(6);
    expect(stderr).toContain('This is too much.');
    expect(chat.asked()).toHaveLength(2);
    expect(chat.summaries()).toHaveLength(1);
    expect(chat.stored().filter((entry) => !('type' in entry))).toHaveLength(13);
    expect(await chat.status()).toMatchObject({ context_messages: 2 });
  });

  it('is not compacted if the provider refuses it because of a rate limit', async () => {
    const error = { message: 'Rate limit: too many tokens in the request per minute', code: 'rate_limit_exceeded' };
    await using chat = await compacting({
      entries: turns(6),
      answer: (_, index) => (index === 0 ? { status: 429, headers: { 'retry-after': '0' }, error } : { text: 'ok' }),
    });
    expect(await chat.json('next')).toMatchObject({ text: 'ok', compaction: null });
    expect(chat.summaries()).toEqual([]);
  });
});

describe('fixed content above the trigger', () => {
  it('is reported once, without a compaction', async () => {
    await using chat = await compacting({ config: { preamble: words('Be brief.', 13_000) } });
    const { stderr, status } = await chat.hi(['chat'], { input: 'one\ntwo\nthree' });
    expect(status).toBe(0);
    expect(stderr.split('Compaction cannot shorten them')).toHaveLength(2);
    expect(chat.asked()).toHaveLength(3);
    expect(chat.summaries()).toEqual([]);
  });
});

describe('a summary that fails', () => {
  it('is written by the main model if the small one fails, with a notice', async () => {
    await using chat = await compacting({
      ...FULL,
      summary: () => FAILS,
      answer: (request) => (isSummary(request) ? { text: 'By the main one.' } : { text: 'ok' }),
    });
    const { stderr } = await chat.hi(['ask', LAST_STRAW]);
    expect(stderr).toContain("'small' could not write the summary");
    expect(stderr).toContain("'main' writes it instead.");
    expect(chat.blocks()).toEqual([expect.objectContaining({ content: 'By the main one.', model: 'main' })]);
  });

  it('is not tried after three failures until a compaction by hand succeeds', async () => {
    let works = false;
    await using chat = await compacting({
      ...FULL,
      summary: () => (works ? { text: 'It works again.' } : FAILS),
      answer: (request) => (isSummary(request) ? FAILS : ANSWER),
    });
    const { stderr } = await chat.hi(['chat'], { input: lines(30) });
    expect(chat.summaries()).toHaveLength(3);
    expect(stderr).toContain('three summaries in a row failed, so automatic ones are paused. /compact tries again.');
    expect(chat.asked().filter((request) => !isSummary(request))).toHaveLength(30);
    works = true;
    expect((await chat.hi(['compact'])).stderr).toMatch(/── 74 messages compacted · 6 kept/);
    await chat.hi(['chat'], { input: lines(10) });
    expect(chat.blocks().at(-1)).toMatchObject({ source: 'model', content: 'It works again.' });
    expect(chat.summaries().length).toBeGreaterThan(4);
  });

  it('is dropped if it is not smaller than what it replaces', async () => {
    await using chat = await compacting({ entries: turns(4, 40), summary: () => ({ text: words('Long.', 500) }) });
    const { stderr, status } = await chat.hi(['compact']);
    expect(status).toBe(0);
    expect(stderr).toMatch(
      /^No summary was written: it would save nothing \(\d+ tokens with it, 80 without\)\. The conversation is unchanged\.\n$/,
    );
    expect(chat.blocks()).toEqual([]);
  });
});

describe('settings of a compaction', () => {
  it('block_role user sends the summary as the first message of the user', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { block_role: 'user' } } });
    await chat.hi(['ask', LAST_STRAW]);
    expect(chat.sent().system).toEqual([]);
    expect(chat.sent().texts[0]).toMatch(/^\[Compressed Message Summary\]\n[\s\S]*They talked\.$/);
    expect(heads(chat.sent().texts.slice(1))).toHaveLength(6);
  });

  it('archive discard removes the originals and nothing else', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { archive: 'discard' } } });
    await chat.hi(['ask', LAST_STRAW]);
    const texts = JSON.stringify(chat.stored());
    expect(texts).not.toContain('question 8 ');
    for (const part of ['answer 8 ', 'question 10 ', 'the last straw', 'They talked.']) expect(texts).toContain(part);
    await chat.hi(['ask', 'next']);
    expect(heads(chat.sent().texts)).toHaveLength(8);
    expect(chat.sent().system[0]).toContain('They talked.');
    expect((await chat.hi(['history'])).stdout).toMatch(/^── 15 messages compacted/);
  });

  it('keep_recent sets how many messages stay', async () => {
    await using chat = await compacting({ ...FULL, config: { compaction: { keep_recent: 3 } } });
    expect((await chat.json(LAST_STRAW)).compaction).toMatchObject({ messages_kept: 3, messages_compacted: 18 });
  });
});

describe('hi compact', () => {
  it('accepts words that guide the summary', async () => {
    await using chat = await compacting({ entries: turns(5) });
    const { stderr, stdout } = await chat.hi(['compact', 'the', 'deployment', 'plan']);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^── 4 messages compacted · 6 kept · 1\.5k → \d+ tokens ──\n$/);
    expect(promptOf(chat.summaries()[0])).toContain('Pay special attention to: the deployment plan');
  });

  it('says in advance what it would do, and does nothing', async () => {
    await using chat = await compacting({ entries: turns(5) });
    const { stdout } = await chat.hi(['compact', '--dry-run']);
    expect(stdout).toBe('summary: 4 messages would be compacted, 6 kept (1.5k tokens now, 900 kept word for word).\n');
    const { preview } = JSON.parse((await chat.hi(['compact', '--dry-run', '--json'])).stdout);
    expect(preview).toMatchObject({ strategy: 'summary', messages_compacted: 4, messages_kept: 6 });
    expect(chat.summaries()).toEqual([]);
    expect(chat.blocks()).toEqual([]);
  });

  it('says that there is nothing to compact, also right after a compaction', async () => {
    await using chat = await compacting({ entries: turns(5) });
    await chat.hi(['compact']);
    const { stderr, status } = await chat.hi(['compact']);
    expect({ stderr, status }).toEqual({ stderr: 'There is nothing to compact.\n', status: 0 });
    expect((await chat.hi(['compact', '--dry-run'])).stderr).toBe('There is nothing to compact.\n');
    expect(JSON.parse((await chat.hi(['compact', '--json'])).stdout)).toEqual({ compaction: null });
    expect(chat.summaries()).toHaveLength(1);
  });

  it('reports the usage of the summary and the model that wrote it', async () => {
    await using chat = await compacting({ entries: turns(5), summary: () => ({ text: 'Short.', usage: [1200, 30] }) });
    expect((await chat.hi(['compact'])).stderr).toContain('openai/small · 1.2k tokens in · 30 out · for the summary\n');
  });

  it('makes one block when two run at once', async () => {
    await using chat = await compacting({ entries: turns(5), summary: () => ({ pieces: ['Short.'], delay: 1500 }) });
    const runs = await Promise.all([chat.hi(['compact']), chat.hi(['compact'])]);
    expect(chat.blocks()).toHaveLength(1);
    const told = runs.map(({ stderr }) => stderr.trim()).sort();
    expect(told).toEqual(['Another hi compacted the conversation meanwhile.', expect.stringMatching(/^── 4 messages/)]);
    expect(runs.map(({ status }) => status)).toEqual([0, 0]);
  });
});

describe('the usage of a compaction', () => {
  const used = {
    ...FULL,
    summary: () => ({ text: 'Short.', usage: [3000, 30] as const }),
    answer: () => ({ text: 'ok', usage: [700, 5] as const }),
  };

  it("is part of the turn's usage", async () => {
    await using chat = await compacting(used);
    expect((await chat.json(LAST_STRAW)).usage).toEqual({
      input_tokens: 3700,
      output_tokens: 35,
      cached_tokens: 0,
      context_tokens: 705,
    });
    expect((await chat.json('next')).usage).toMatchObject({ input_tokens: 700, output_tokens: 5 });
  });

  it('is shown with --usage, and is an event of the stream', async () => {
    await using chat = await compacting(used);
    const { stderr, stdout } = await chat.hi(['ask', '-u', '-o', 'stream-json', LAST_STRAW]);
    expect(stderr).toContain('openai/small · 3k tokens in · 30 out · for the summary\n');
    expect(stderr).toContain('openai/main · 3.7k tokens in · 35 out · 705 in context\n');
    expect(stdout).toContain(
      '{"type":"usage","purpose":"summary","provider":"openai","model":"small","usage":{"input_tokens":3000,',
    );
  });

  it('includes summaries that are thrown away', async () => {
    await using chat = await compacting({
      ...used,
      summary: () => ({ text: '', usage: [3000, 1] as const }),
      answer: (request) => (isSummary(request) ? { text: '', usage: [3000, 1] as const } : used.answer()),
    });
    const { usage, compaction } = await chat.json(LAST_STRAW);
    expect(compaction).toMatchObject({ source: 'fallback' });
    expect(usage).toMatchObject({ input_tokens: 6700, output_tokens: 7, context_tokens: 705 });
  });
});

describe('a compaction that is interrupted', () => {
  const SLOW = { pieces: ['They ', 'talked'], hangAfter: 1 };

  it('ends with status 130, loses nothing, and the conversation continues', async () => {
    let slow = true;
    await using chat = await compacting({ ...FULL, summary: () => (slow ? SLOW : { text: 'Whole.' }) });
    const { status } = await chat.hi(['ask', LAST_STRAW], {
      during: ({ kill }) => void until(() => chat.summaries().length > 0).then(() => kill('SIGINT')),
    });
    expect(status).toBe(130);
    expect(chat.blocks()).toEqual([]);
    expect(chat.asked()).toEqual([]);
    expect(JSON.stringify(chat.stored())).toContain('the last straw');
    slow = false;
    await chat.hi(['ask', LAST_STRAW]);
    expect(heads(chat.sent().texts)).toEqual([
      'answer 8',
      'question 9',
      'answer 9',
      'question 10',
      'answer 10',
      'the last',
    ]);
    expect(chat.sent().system[0]).toContain('Whole.');
  });

  it('by hand changes nothing', async () => {
    await using chat = await compacting({ entries: turns(5), summary: () => SLOW });
    const before = chat.stored();
    const { status } = await chat.hi(['compact'], {
      during: ({ kill }) => void until(() => chat.summaries().length > 0).then(() => kill('SIGINT')),
    });
    expect(status).toBe(130);
    expect(chat.stored()).toEqual(before);
  });

  it('in hi chat returns to the prompt, and the next one works', async () => {
    let slow = true;
    await using chat = await compacting({ ...FULL, summary: () => (slow ? SLOW : { text: 'Whole.' }) });
    const terminal = await chat.chat();
    terminal.type(`/compact${KEY.enter}`);
    await terminal.until('compacting 14 messages (summary)');
    terminal.type(control('c'));
    await terminal.until(PROMPT);
    expect(terminal.screen()).not.toContain('compacting');
    expect(chat.blocks()).toEqual([]);
    slow = false;
    terminal.type(`/compact${KEY.enter}`);
    await terminal.until(/── 14 messages compacted · 6 kept · 3k → \d+ tokens ──/);
    await terminal.until(PROMPT);
  });
});

describe('a compaction in hi chat', () => {
  it('shows its progress, leaves one line, and lowers the percentage in the prompt', async () => {
    await using chat = await compacting({ ...FULL, summary: () => ({ pieces: ['They ', 'talked.'], delay: 700 }) });
    const terminal = await chat.chat();
    expect(terminal.lastLine()).toBe('hi 75%>');
    terminal.type(`${words('the last straw', 1200)}${KEY.enter}`);
    await terminal.until('compacting 15 messages (summary)');
    await terminal.until(/── 15 messages compacted · 6 kept · 3\.3k → 1\.1k tokens ──\n+ok/);
    await terminal.until(PROMPT);
    expect(terminal.lastLine()).toBe('hi>');
    expect(terminal.screen()).not.toContain('compacting');
    terminal.type(`/compact${KEY.enter}`);
    await terminal.until(/── 1 message compacted|nothing to compact/);
    await terminal.until(PROMPT);
    terminal.type(`/compact${KEY.enter}`);
    await terminal.until('There is nothing to compact.');
  });

  it('also runs for a /btw that reaches the trigger, of which nothing is kept', async () => {
    await using chat = await compacting({ ...FULL });
    const terminal = await chat.chat();
    terminal.type(`/btw ${LAST_STRAW}${KEY.enter}`);
    await terminal.until(/── \d+ messages compacted · 6 kept · 3\.3k → \d/);
    await terminal.until(PROMPT);
    expect(chat.sent().texts).toHaveLength(7);
    expect(chat.sent().texts.at(-1)).toBe(LAST_STRAW);
    expect(JSON.stringify(chat.stored())).not.toContain(LAST_STRAW);
  });
});

describe('hi status', () => {
  it('shows the number that the trigger uses, whether reported or estimated', async () => {
    await using chat = await compacting({
      ...FULL,
      answer: (_, index) => ({ text: 'okay', ...(index < 2 ? { usage: [3150, 40] } : {}) }),
    });
    expect(await chat.status()).toMatchObject({ context_tokens: 3000, estimated_tokens: 3000, used: 0.75 });
    const { stdout } = await chat.hi(['ask', '-o', 'stream-json', 'x'.repeat(400)]);
    expect(stdout).toContain('{"type":"request","provider":"openai","model":"main","context_tokens":3100}');
    expect(await chat.status()).toMatchObject({ context_tokens: 3190, estimated_tokens: 3101 });
    expect((await chat.json('x'.repeat(32))).compaction).toBeNull();
    const { compaction } = await chat.json('x'.repeat(100));
    expect(compaction).toMatchObject({ tokens_before: 3216 });
  });
});

/** The tool calls without a result and the results without a call. */
function lonelyIn(messages: readonly SentMessage[]): readonly (string | undefined)[] {
  const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id);
  const results = messages.filter(({ role }) => role === 'tool').map(({ tool_call_id }) => tool_call_id);
  return [
    ...calls.filter((id) => !results.includes(id)),
    ...results.filter((id, index) => id === undefined || !calls.includes(id) || results.indexOf(id) !== index),
  ];
}

async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 20));
}
