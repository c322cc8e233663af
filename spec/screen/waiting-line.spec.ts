import { describe, expect, it, jest } from '@jest/globals';
import { StyledAnswerWriter } from '../../lib/screen/answer-writer.js';
import { Screen, type ShownEvent } from '../../lib/screen/screen.js';
import { createEmulator, screenOf } from '../support/emulator.js';
import { fakeStreams } from '../support/fake-streams.js';

/** A screen on a terminal of 40 columns, and a clock that goes when it is told to. */
function screenAtTheClock() {
  jest.useFakeTimers();
  const streams = fakeStreams(true, 40);
  const screen = new Screen(streams, {
    quiet: false,
    styled: StyledAnswerWriter,
    thinking: false,
    now: () => Date.now(),
  });
  return {
    show: (event: ShownEvent) => screen.show(event),
    screen,
    async shownAfter(seconds: number): Promise<string> {
      await jest.advanceTimersByTimeAsync(seconds * 1000);
      const emulator = createEmulator(40, 10);
      const { both } = streams.written;
      jest.useRealTimers();
      await new Promise<void>((resolve) => emulator.write(both.replaceAll('\n', '\r\n'), resolve));
      return screenOf(emulator).replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '*');
    },
  };
}

const request: ShownEvent = { type: 'request', provider: 'p', model: 'model-1', context_tokens: 0 };
const text = (words: string): ShownEvent => ({ type: 'text', text: words });

describe('the waiting line', () => {
  it('names the model, and the time so far', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show(request);
    expect(await shownAfter(65)).toBe('* model-1 · 1m 05s');
  });

  it('shows the progress of a call, and the time since it began', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show({ type: 'tool-start', call_id: '1', name: 'mcp__far__dig', args: {}, server: 'far' });
    jest.advanceTimersByTime(3000);
    show({ type: 'tool-progress', call_id: '1', text: '3/8 digging' });
    expect(await shownAfter(2)).toContain('* 3/8 digging · 5s');
  });

  it('disappears when the answer arrives', async () => {
    const { show, screen, shownAfter } = screenAtTheClock();
    show(request);
    jest.advanceTimersByTime(3000);
    show(text('Here it is.\n'));
    screen.close();
    expect(await shownAfter(5)).toBe('Here it is.');
  });

  it('counts the tokens of hidden thinking', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show(request);
    show({ type: 'thinking', text: 'x'.repeat(4800) });
    expect(await shownAfter(2)).toBe('* thinking · 2s · 1.2k tokens');
  });

  it('shows how much of a table waits for its end, and disappears with the table', async () => {
    const held = screenAtTheClock();
    held.show(request);
    held.show(text('| a | b |\n|---|---|\n| 1 | 2 |\n'));
    expect(await held.shownAfter(2)).toBe('* table · 3 rows · 2s · 8 tokens');
    const ended = screenAtTheClock();
    ended.show(request);
    ended.show(text('| a | b |\n|---|---|\n| 1 | 2 |\n\nThat is all.\n'));
    ended.screen.close();
    expect(await ended.shownAfter(2)).not.toContain('rows');
  });

  it('comes back if the answer pauses at the end of a line, and only there', async () => {
    const first = screenAtTheClock();
    first.show(text('A line.\n'));
    expect(await first.shownAfter(3)).toMatch(/^A line\.\n\* answering · \ds · 2 tokens$/);
    const second = screenAtTheClock();
    second.show(text('Half a line'));
    expect(await second.shownAfter(3)).toBe('Half a line');
  });

  it('counts down to the next attempt', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show({ type: 'retry', attempt: 2, delay: 10_000, reason: 'overloaded' });
    expect(await shownAfter(4)).toMatch(/^\* retry 2 in [56]s: overloaded$/);
  });

  it('names the running tool, and the amount of its output', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show({ type: 'tool-start', call_id: '1', name: 'bash', args: { command: 'make' } });
    show({ type: 'tool-output', call_id: '1', text: 'compiling\n', lines: 1 });
    expect(await shownAfter(7)).toMatch(/^▸ bash make\ncompiling\n\* bash · [67]s · 1 line$/);
  });

  it('shows the progress of a compaction', async () => {
    const { show, shownAfter } = screenAtTheClock();
    show({ type: 'compact-start', strategy: 'summary', messages: 42 });
    show({ type: 'compact-progress', characters: 1500 });
    expect(await shownAfter(2)).toMatch(/^\* compacting 42 messages \(summary\) · 2s/);
  });

  it('takes only one row, however long its words are', async () => {
    const { show, screen, shownAfter } = screenAtTheClock();
    show({ type: 'retry', attempt: 1, delay: 90_000, reason: '日本語 '.repeat(20) });
    jest.advanceTimersByTime(2000);
    show(text('x\n'));
    screen.close();
    expect(await shownAfter(1)).toBe('x');
  });

  it('stays away while another program has the terminal', async () => {
    const { show, screen, shownAfter } = screenAtTheClock();
    show(request);
    jest.advanceTimersByTime(2000);
    screen.pause();
    expect(await shownAfter(5)).toBe('');
  });

  it("does not add the time of the user's answer to that of the tool", async () => {
    const { show, screen, shownAfter } = screenAtTheClock();
    show({ type: 'tool-start', call_id: '1', name: 'bash', args: { command: 'make' } });
    const resume = screen.pause();
    jest.advanceTimersByTime(60_000);
    resume();
    expect(await shownAfter(3)).toMatch(/^\* bash · [23]s$/);
  });
});
