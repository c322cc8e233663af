import { describe, expect, it } from '@jest/globals';
import { HiError } from '../../lib/errors.js';
import { noteOf, summariesIn } from '../support/small-window.js';

describe('the request for a summary', () => {
  it.each([1000, 1500, 2048, 4096, 8192, 32_768])(
    'fits a window of %i with its reply, by the measured ratio',
    async (window) => {
      for (const ratio of [1, 1.3, 2.15]) {
        if (window / ratio < 950) continue;
        const { prompts, prose } = await summariesIn(window, ratio);
        expect(prose).toBe(noteOf(prompts.length));
        for (const { system, user, max_output_tokens } of prompts) {
          expect(Math.ceil((ratio * (system.length + user.length)) / 4) + max_output_tokens).toBeLessThanOrEqual(
            window,
          );
        }
      }
    },
  );

  it('covers every message, in as many calls as the window requires', async () => {
    const { prompts } = await summariesIn(2048, 1.3);
    expect(prompts.length).toBeGreaterThan(3);
    const read = prompts.map(({ user }) => user).join('\n');
    for (let index = 0; index < 20; index += 1) expect(read).toContain(`Message ${index}.`);
  });

  it('is not sent if the window has no room for it', async () => {
    await expect(summariesIn(500, 1)).rejects.toThrow(
      "The window of 'small' (500 tokens) is too small to write a summary in.",
    );
  });

  it('is shortened if the server refuses it as too long', async () => {
    const refused = new HiError('window', 'the input length exceeds the context length');
    const { prompts, sent } = await summariesIn(8192, 1, (prompt) => {
      if (prompt.user.length > 9000) throw refused;
    });
    expect(sent[0]?.user.length).toBeGreaterThan(9000);
    const read = prompts.map(({ user }) => user).join('\n');
    for (let index = 0; index < 20; index += 1) expect(read).toContain(`Message ${index}.`);
  });
});
