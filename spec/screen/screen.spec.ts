import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../lib/chat/json.js';
import { HiError } from '../../lib/errors.js';
import { StyledAnswerWriter } from '../../lib/screen/answer-writer.js';
import { Screen, type ShownEvent } from '../../lib/screen/screen.js';
import { describeResult } from '../../lib/tools/common/tool.js';
import { fakeStreams } from '../support/fake-streams.js';

const OPTIONS = { quiet: false, styled: StyledAnswerWriter, thinking: true, now: Date.now };

async function shown(events: readonly ShownEvent[], isTerminal: boolean, options = OPTIONS) {
  const streams = fakeStreams(isTerminal);
  const screen = new Screen(streams, options);
  for (const event of events) screen.show(event);
  screen.close();
  await screen.flush();
  return streams.written;
}

const text = (words: string): ShownEvent => ({ type: 'text', text: words });

const TOOL: readonly ShownEvent[] = [
  text('Let me look.'),
  { type: 'tool-start', call_id: '1', name: 'bash', args: { command: 'ls' } },
  { type: 'tool-output', call_id: '1', text: 'a\nb\n', lines: 2 },
  { type: 'tool-end', call_id: '1', name: 'bash', result: {} },
  text('Two files.'),
];

describe('a screen', () => {
  it('writes the answer to one stream and everything else to the other', async () => {
    const { out, err } = await shown(TOOL, false, { ...OPTIONS, now: () => 0 });
    expect(out).toBe('Let me look.\nTwo files.\n');
    expect(err).toBe('▸ bash ls\na\nb\n✓ bash · 2 lines\n');
  });

  it('keeps the lines of both separate if both are one terminal', async () => {
    const { both } = await shown(TOOL, true, { ...OPTIONS, now: () => 0 });
    expect(stripVTControlCharacters(both)).toBe('Let me look.\n▸ bash ls\na\nb\n✓ bash · 2 lines\nTwo files.\n');
  });

  it('shows what a call found, and its duration from a second on', async () => {
    let now = 0;
    const calls: readonly (readonly [JsonValue, number])[] = [
      [{ entries: ['a', 'b'], total: 1200, truncated: true }, 999],
      [{ content: 'one\ntwo\n', total_lines: 9 }, 0],
      [{ content: '' }, 0],
      [{ stdout: '', stderr: '', exit_code: 0 }, 1000],
      [{ stdout: 'x', stderr: '', exit_code: 2 }, 65_000],
      [{ success: true }, 0],
    ];
    const streams = fakeStreams(false);
    const screen = new Screen(streams, { ...OPTIONS, now: () => now, found: describeResult });
    for (const [result, time] of calls) {
      screen.show({ type: 'tool-start', call_id: '1', name: 'tool', args: {} });
      now += time;
      screen.show({ type: 'tool-end', call_id: '1', name: 'tool', result });
    }
    await screen.flush();
    expect(streams.written.err.match(/[✓✗].*/gu)).toEqual([
      '✓ tool · 1,200 entries',
      '✓ tool · 2 lines',
      '✓ tool · 0 lines',
      '✓ tool · no output · 1s',
      '✗ tool · exit status 2 · 1m 05s',
      '✓ tool',
    ]);
  });

  it('passes the bytes of the model on if there is no terminal', async () => {
    expect((await shown([text('a\x1b[1mb'), text('\ud83d'), text('\ude00\n')], false)).out).toBe('a\x1b[1mb😀\n');
  });

  it('neutralises the text of the model, a tool and an error if there is one', async () => {
    const streams = fakeStreams(true);
    const screen = new Screen(streams, OPTIONS);
    screen.show(text('\x1b[2J'));
    screen.show({ type: 'tool-end', call_id: '1', name: 'ba\x1bsh', error: '\x1b]0;x\x07' });
    screen.notice('\x1bc', 'warning');
    screen.error(new HiError('network', 'cut \x1b[3J'));
    await screen.flush();
    expect(stripVTControlCharacters(streams.written.both)).toBe(streams.written.both.replace(/\x1b\[[0-9;]*m/g, ''));
    expect(streams.written.both).toContain('␛[2J');
    expect(streams.written.both).toContain('cut ␛[3J');
  });

  it('shows the head of a long output and how much more there is', async () => {
    const events: ShownEvent[] = [
      { type: 'tool-start', call_id: '1', name: 'bash', args: { command: 'seq 100' } },
      ...Array.from(
        { length: 100 },
        (_, line): ShownEvent => ({ type: 'tool-output', call_id: '1', text: `${line}\n`, lines: 1 }),
      ),
      { type: 'tool-end', call_id: '1', name: 'bash', result: {} },
    ];
    const { err } = await shown(events, false);
    expect(err).toContain('11\n… 88 more lines\n✓ bash');
    expect(err).not.toContain('12\n');
  });

  it('shows only answers, warnings and errors if it is quiet', async () => {
    const notices: ShownEvent[] = [
      { type: 'notice', level: 'info', text: 'for information' },
      { type: 'notice', level: 'warning', text: 'take care' },
      { type: 'skills', loaded: ['git'], dropped: [] },
    ];
    const { out, err } = await shown([...TOOL, ...notices], false, { ...OPTIONS, quiet: true });
    expect(out).toBe('Let me look.\nTwo files.\n');
    expect(err).toBe('take care\n');
  });

  it('reads events no faster than the streams accept them', async () => {
    const streams = fakeStreams(false);
    const screen = new Screen(streams, OPTIONS);
    await screen.follow(
      (async function* () {
        yield text('one ');
        yield text('two\n');
      })(),
    );
    await screen.flush();
    expect(streams.written.out).toBe('one two');
  });

  it('colours code that arrives all at once with the end of the answer', async () => {
    const streams = fakeStreams(true);
    const screen = new Screen(streams, OPTIONS);
    await screen.follow(
      (async function* () {
        for (const piece of ['See:\n', '```', 'python\n', 'def f', '(x):\n', '```\n']) yield text(piece);
        yield { type: 'notice', level: 'info', text: 'that was all' } as const;
      })(),
    );
    screen.close();
    await screen.flush();
    expect(streams.written.both).toContain('\x1b[0;35mdef');
    expect(stripVTControlCharacters(streams.written.both)).toBe('See:\n```python\ndef f(x):\n```\nthat was all\n');
  });
});
