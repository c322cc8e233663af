import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../../../lib/chat/event.js';
import type { ToolSpec } from '../../../lib/chat/request.js';
import { RequestRefusal } from '../../../lib/providers/common/provider.js';
import { memory } from '../../support/memory.js';
import { png } from '../../support/pictures.js';
import { answer, drain, failure, type Script, stage } from '../../support/session.js';

const signal = new AbortController().signal;
const typed = (text: string) => ({ text, texts: [], attachments: [] });
const events = (...all: readonly StreamEvent[]): Script =>
  async function* () {
    yield* all;
  };
const END: StreamEvent = { type: 'end', stop_reason: 'end', usage: null };

describe('an answer', () => {
  it('has the pictures that the model drew, in place, and its report names their files', async () => {
    const drawing = { type: 'image', mime: 'image/png', bytes: png() } as const;
    const part = { type: 'part', part: { type: 'text', text: 'Here.' } } as const;
    await using set = await staged([events({ type: 'text', text: 'Here.' }, part, drawing, END)], '/pictures/cat.png');
    const shown = await drain(set.session.send(typed('draw'), signal));
    expect(shown).toContainEqual({ type: 'image', path: '/pictures/cat.png', mime: 'image/png', bytes: png().length });
    expect(shown.at(-1)).toMatchObject({
      type: 'turn-end',
      images: [{ path: '/pictures/cat.png', mime: 'image/png', bytes: png().length }],
    });
    const { content } = set.history.view(null).messages.at(-1) ?? {};
    expect(content).toMatchObject([{ text: 'Here.' }, { type: 'image', mime: 'image/png', name: 'cat.png' }]);
  });

  it('that never ends is stopped with a notice, and kept as far as it came', async () => {
    const part = 'x'.repeat(600_000);
    let sent = 0;
    const endless: Script = async function* () {
      for (;;) {
        sent += 1;
        yield { type: 'text', text: part };
      }
    };
    await using set = await staged([endless]);
    const shown = await drain(set.session.send(typed('go'), signal));
    expect(sent).toBe(4);
    const text = 'Stopped: the answer is longer than 2 million characters. The part received is kept.';
    expect(shown).toContainEqual({ type: 'notice', level: 'warning', text });
    expect(shown.at(-1)).toMatchObject({ type: 'turn-end', stop_reason: 'length' });
    const kept = JSON.stringify(set.history.entries.at(-1)).length;
    expect(kept).toBeGreaterThan(2 * 1024 * 1024);
    expect(kept).toBeLessThan(2 * 1024 * 1024 + 20_000);
  });

  it("that was cut off by the model's limit says so", async () => {
    await using set = await staged([events({ type: 'text', text: 'a' }, { ...END, stop_reason: 'length' })]);
    const shown = await drain(set.session.send(typed('go'), signal));
    const text = "The answer was cut off: it reached the model's output limit.";
    expect(shown).toContainEqual({ type: 'notice', level: 'warning', text });
  });

  it("updates the facts about the model from the server's response", async () => {
    const known = memory();
    await using set = await staged(
      [events({ type: 'facts', facts: { context_window: 4321 } }, { type: 'text', text: 'a' }, END)],
      null,
      known,
    );
    await drain(set.session.send(typed('go'), signal));
    expect(known.facts.context_window).toBe(4321);
  });

  it('that fails because of a bug is not requested again', async () => {
    const bug = new TypeError('bug');
    await using set = await staged([failure(bug), answer('yes')]);
    await expect(drain(set.session.send(typed('go'), signal))).rejects.toBe(bug);
    expect(set.requests).toHaveLength(1);
  });

  it('to a refused request is requested without the cause, at most twice, with a notice once that is confirmed', async () => {
    const tool = { name: 'look', description: 'Looks.', parameters: { type: 'object' } };
    const refusal = new RequestRefusal('request', 'No.', {
      ...{ refused: { what: 'unsaid', isCertain: true }, said: 'no way', param: null },
    });
    const known = memory();
    await using set = await staged([failure(refusal), answer('yes')], null, known, [tool]);
    const shown = await drain(set.session.send(typed('go'), signal));
    const text = "'m' refused the request: it answers without tools. (no way)";
    const kinds = shown.map((event) => (event.type === 'notice' ? event.text : event.type));
    expect(kinds.indexOf(text)).toBeGreaterThan(kinds.lastIndexOf('request'));
    expect(set.requests.map(({ facts }) => facts?.takes?.tools)).toEqual([undefined, false]);
    expect(known.facts.refused_at?.usual_form).toBeGreaterThan(0);
    await using never = await staged([failure(refusal)], null, memory(), [tool]);
    const inVain = { message: refusal.message, cause: refusal, hint: expect.stringContaining('sent once more') };
    await expect(drain(never.session.send(typed('go'), signal))).rejects.toMatchObject(inVain);
    expect(never.requests.length).toBeLessThanOrEqual(2);
  });
});

/** A stage that closes itself; pictures are saved to that path. */
async function staged(
  scripts: readonly Script[],
  path: string | null = null,
  known = memory(),
  toolSpecs: readonly ToolSpec[] = [],
) {
  const saveImage = async () => (path === null ? { reason: 'nowhere' } : { name: 'cat.png', path });
  const set = await stage(scripts, { saveImage, tools: { specs: toolSpecs } }, 100_000, known);
  return { ...set, [Symbol.asyncDispose]: set.close };
}
