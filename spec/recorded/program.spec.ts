import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { ALL_RECORDINGS, type Recording, replaying, withRecordings } from './recordings.js';

let home: Home;

const find = (id: string): Recording => {
  const found = ALL_RECORDINGS.find((recording) => recording.id === id);
  if (found === undefined) throw new Error(`There is no recording '${id}'.`);
  return found;
};

/** A home that speaks to the replay server as the recording's vendor. */
function homeFor(recording: Recording, base: string): Home {
  home = makeHome({
    provider: recording.provider,
    model: 'recorded',
    api_base: base,
    api_key: 'sk-recorded-key-000000',
    small_model: null,
    openai: { api: recording.api === 'responses' ? 'responses' : 'auto' },
    tools: { permissions: { allow: ['bash', 'read_file', 'list_files', 'write_file'] } },
  });
  return home;
}

const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());

afterEach(() => home?.remove());

withRecordings(() => {
  describe('hi ask with recorded answers', () => {
    it.each([
      'openai-chat-text-gpt4',
      'openai-resp-text-gpt4omini',
      'anthropic-text-sonnet45',
      'google-text-gemini20flash',
      'ollama-text-llama3-b',
    ])('prints exactly the text of %s', async (id) => {
      const recording = find(id);
      await replaying({ recordings: [recording] }, recording, async (base) => {
        const run = await runProgram(homeFor(recording, base), ['ask', 'hello']);
        expect(run).toEqual({ status: 0, stdout: `${recording.expect.text.trimEnd()}\n`, stderr: '' });
        expect(
          stored()
            .at(-1)
            .content.filter(({ type }: { type: string }) => type === 'text'),
        ).toMatchObject([{ text: recording.expect.text }]);
      });
    });

    it.each([
      'openai-chat-tool-gpt4o',
      'openai-resp-tool-gpt55',
      'anthropic-thinking-tool-sonnet4',
      'google-tool-gemini25flash',
    ])('answers the calls of %s, in the vendor’s own format, and prints the second answer', async (id) => {
      const [first, second] = [find(`${id}.1`), find(`${id}.2`)];
      await replaying({ recordings: [first, second] }, first, async (base, server) => {
        const run = await runProgram(homeFor(first, base), ['ask', 'hello']);
        expect(run.status).toBe(0);
        expect(run.stdout.endsWith(`${second.expect.text.trimEnd()}\n`)).toBe(true);
        // What hi asks of the model itself is not recorded.
        const asked = server.requests.filter(({ recording }) => recording !== null);
        expect(asked).toHaveLength(2);
        const sent = JSON.stringify(asked[1]?.body);
        // The recorded models call tools that other programs have: the result says so, and goes back all the same.
        expect(sent).toContain("Unknown tool '");
        expect(sent).toMatch(/"role":"tool"|"tool_result"|"functionResponse"|"function_call_output"/);
      });
    });
  });
});
