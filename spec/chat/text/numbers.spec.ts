import { expect, it } from '@jest/globals';
import { dollarText, percent, quantity, sizeText } from '../../../lib/chat/text.js';

it.each([
  [quantity(1, 'message'), '1 message'],
  [quantity(1_234_567, 'entry', 'entries'), '1,234,567 entries'],
  [percent(0.624), '62%'],
  [sizeText(1), '1 byte'],
  [sizeText(999), '999 bytes'],
  [sizeText(1000), '1 kB'],
  [sizeText(1234), '1.2 kB'],
  [sizeText(9949), '9.9 kB'],
  [sizeText(9950), '10 kB'],
  [sizeText(999_499), '999 kB'],
  [sizeText(999_500), '1 MB'],
  [sizeText(2.04e9), '2 GB'],
  [sizeText(5e15), '5000 TB'],
  [dollarText(0), '$0'],
  [dollarText(0.0123), '$0.0123'],
  [dollarText(12.3), '$12.30'],
])('writes %s', (written, expected) => {
  expect(written).toBe(expected);
});
