import { expect, it } from '@jest/globals';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { ALL_RECORDINGS, type Recording, replaying, withRecordings } from './recordings.js';

/** One text and one tool-call stream of each protocol. */
const STREAMS = [
  'openai-azure-unicode',
  'openai-chat-tool-gpt4o.1',
  'openai-resp-text-gpt4omini',
  'openai-resp-parallel-gpt4o.1',
  'anthropic-unicode-haiku35',
  'anthropic-thinking-tool-sonnet4.1',
  'google-text-gemini25flash-b',
  'google-thinking-gemini25flash.1',
  'ollama-unicode-gemma3-b',
  'ollama-parallel-llama31',
];
const PLACES = process.env.HI_ALL_BYTES ? 50 : 12;
const IDLE = 300;

const streams = ALL_RECORDINGS.filter(({ id }) => STREAMS.includes(id));

withRecordings(() => {
  it.each(streams.flatMap((one) => (['cut', 'end', 'hang'] as const).map((how) => [one.id, how, one] as const)))(
    '%s keeps its text and runs nothing half, whatever the place (%s)',
    async (_, how, recording) => {
      const bytes = Buffer.byteLength(recording.response.chunks?.join('') ?? '');
      const places = Array.from({ length: PLACES }, (_place, at) => Math.floor((bytes * (at + 0.5)) / PLACES));
      await Promise.all(places.map((place) => expectKept(recording, how, place)));
    },
  );
});

async function expectKept(recording: Recording, how: 'cut' | 'end' | 'hang', place: number): Promise<void> {
  const { text, toolCalls } = recording.expect;
  await replaying({ recordings: [recording], [how]: place }, recording, async (base) => {
    const options = { api: recording.api === 'responses' ? 'responses' : 'auto' };
    const provider = await adapter(recording.provider, base, { options, idleTimeout: IDLE });
    const got = await ask(provider, chatRequest());
    expect(text.startsWith(got.text)).toBe(true);
    const calls = got.parts.filter((part) => part.type === 'tool_call');
    for (const [at, { name, args, invalid_args }] of calls.entries()) {
      expect({ name, args, invalid_args }).toEqual({ name: toolCalls[at]?.name, args: toolCalls[at]?.args });
    }
    if (got.end === null) expect(got.error).toMatchObject({ code: 'network' });
    else expect(got.error).toBeNull();
  });
}
