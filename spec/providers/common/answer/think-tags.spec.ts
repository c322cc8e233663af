import { describe, expect, it } from '@jest/globals';
import { StreamedAnswer, ThinkTags } from '../../../../lib/providers/common/streamed-answer.js';
import fc from '../../../support/properties.js';

/** What is shown of a text that comes in these pieces. */
function read(...pieces: readonly string[]): { readonly thinking: string; readonly text: string } {
  const answer = new StreamedAnswer();
  const tags = new ThinkTags();
  const events = [...pieces.flatMap((piece) => [...tags.read(piece, answer)]), ...tags.end(answer)];
  const all = (type: string) =>
    events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
  return { thinking: all('thinking'), text: all('text') };
}

describe('thinking between tags', () => {
  it.each([
    ['<think>\nHm.\n</think>\n\nHello.', 'Hm.', 'Hello.'],
    ['\n\n<think>Hm.</think>Hello.', 'Hm.', 'Hello.'],
    ['<think>\n\n</think>\n\nHello.', '', 'Hello.'],
    ['<think>Hm. It is cut', 'Hm. It is cut', ''],
    ['<think>a < b </ c</think>x', 'a < b </ c', 'x'],
    ['The tag <think> is a word</think>.', '', 'The tag <think> is a word</think>.'],
    ['  Hello.', '', '  Hello.'],
    ['<thing>', '', '<thing>'],
    ['<thi', '', '<thi'],
    ['', '', ''],
  ])('%j', (text, thinking, words) => expect(read(text)).toEqual({ thinking, text: words }));

  it('is the same however the text is cut', () => {
    const piece = fc.constantFrom('<think>', '</think>', 'a', ' ', '\n', '<', '</', 'think', '>', 'Hello.');
    const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 40 }), (whole, lengths) => {
        const pieces: string[] = [];
        let rest = whole;
        for (const length of lengths) {
          pieces.push(rest.slice(0, length));
          rest = rest.slice(length);
        }
        const [one, other] = [read(whole), read(...pieces, rest)];
        expect(other.text).toBe(one.text);
        // Blanks at the ends of the thinking depend on what is known when they come.
        expect(other.thinking.trim()).toBe(one.thinking.trim());
      }),
    );
  });
});
