import { describe, expect, it } from '@jest/globals';
import { textOf } from '../../lib/chat/message.js';
import { shortenOld } from '../../lib/view/shorten.js';
import { view } from '../../lib/view/view.js';
import { Log } from '../support/log.js';

/** A conversation of so many questions, each with an image of its own. */
function questions(count: number): Log {
  const log = new Log();
  for (let index = 0; index < count; index++) {
    const image = {
      type: 'image',
      mime: 'image/png',
      sha256: 'ab'.repeat(32),
      bytes: 9,
      name: `${index}.png`,
    } as const;
    log.user('', { content: [{ type: 'text', text: 'and this?' }, image] });
    log.answer('a cat');
  }
  return log;
}

describe('images in a small window', () => {
  it('are sent with the last two questions, and named in older ones', () => {
    const { messages } = view(questions(4).entries, null);
    const asked = messages.findLastIndex(({ role }) => role === 'user');
    const shown = shortenOld(messages, 0, asked).filter(({ role }) => role === 'user');
    expect(shown.map(({ content }) => content.at(-1)?.type)).toEqual(['text', 'text', 'image', 'image']);
    expect(shown[0] && textOf(shown[0].content)).toContain('[0.png (image/png)]');
  });
});
