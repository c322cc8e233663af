import { describe, expect, it } from '@jest/globals';
import { maskKey, readKey } from '../../lib/config/read-key.js';

describe('a key', () => {
  it('is trimmed', async () => {
    await expect(readKey(' sk-1\n')).resolves.toBe('sk-1');
    await expect(readKey('!printf "  sk-2 \\nrest"')).resolves.toBe('sk-2');
    await expect(readKey(null)).resolves.toBeNull();
  });

  it.each([
    ['sk-\u201Dx', 'position 4: U+201D'],
    ['sk\tx', 'position 3: U+0009'],
    ['!printf "a b"', 'position 2: U+0020'],
  ])('is refused with the character in %j', async (key, place) => {
    await expect(readKey(key)).rejects.toMatchObject({
      code: 'config',
      message: `The key has an invalid character at ${place}.`,
      hint: 'Copy the key again, without quotes or line breaks.',
    });
  });

  it.each([
    ['!true', "The key command printed nothing: 'true'."],
    ['!printf "\\n"', `The key command printed nothing: 'printf "\\n"'.`],
    ['!exit 3', "The key command failed: 'exit 3'."],
  ])('has a command that fails: %s', async (key, message) => {
    await expect(readKey(key)).rejects.toMatchObject({
      code: 'config',
      message,
      hint: 'Run it in a shell to see why. It is set by api_key in config.json.',
    });
  });

  it('has a command that can be cancelled', async () => {
    const abort = new AbortController();
    const key = readKey('!sleep 60', abort.signal);
    abort.abort();
    await expect(key).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is shown by its last four characters when it is long enough to hide the rest', () => {
    expect(maskKey('sk-345678901')).toBe('…8901');
    expect(maskKey('sk-34567890')).toBe('…');
    expect(maskKey('!pass show key')).toBe('!pass show key');
    expect(maskKey(null)).toBeNull();
  });
});
