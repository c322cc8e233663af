import { describe, expect, it } from '@jest/globals';
import { LOGIN_START, replaceLogins } from '../../../lib/permission/paths/address-logins.js';

const replaced = (text: string): string => replaceLogins(text, (secret) => `<${secret}>`);
const TOKEN = 'abcdefghijklmnopqrs1';

describe('the credentials in an address', () => {
  it.each([
    ['https://me:hunter2@host/x', 'https://me:<hunter2>@host/x'],
    ['https://:hunter2@host', 'https://:<hunter2>@host'],
    ['https://me:a:b:c@host', 'https://me:<a:b:c>@host'],
    ['x://me:abc@host', 'x://me:<abc>@host'],
    ['a https://me:one@host b ftp://you:two@host c', 'a https://me:<one>@host b ftp://you:<two>@host c'],
    [`https://me:${'p'.repeat(509)}@host`, `https://me:<${'p'.repeat(509)}>@host`],
    [`https://${TOKEN}@host`, `https://<${TOKEN}>@host`],
    [`https://a.b%c~d_e-f${TOKEN}@host`, `https://<a.b%c~d_e-f${TOKEN}>@host`],
    [`https://${TOKEN}:me2@host`, `https://${TOKEN}:<me2>@host`],
  ])('are replaced: %s', (text, expected) => {
    expect(replaced(text)).toBe(expected);
  });

  it.each([
    'https://host/x',
    'https://me@host',
    'me:hunter2@host',
    'http:/me:hunter2@host',
    'https://me: hunter2@host',
    'https://me/x:hunter2@host',
    'https://<me>:hunter2@host',
    'https://host"me:hunter2@host',
    "https://host'me:hunter2@host",
    'https://host`me:hunter2@host',
    // A name, because it has no digit, is too short, or has other characters.
    'https://abcdefghijklmnopqrst@host',
    'https://abcdefghijklmnopqr1@host',
    `https://+${TOKEN}@host`,
    `https://${TOKEN}+@host`,
    `https://me:${'p'.repeat(510)}@host`,
    'https://me:me@host',
    'https://@host',
  ])('are not found where there are none: %s', (text) => {
    expect(replaced(text)).toBe(text);
  });

  it.each(
    'pass password passwd passphrase passcode pw pwd secret token api-key api_key apikey key user username login mypassword my-token your_secret your-pass -key _key x xx xxxxxxxx * ******** ... … $PASSWORD %PASSWORD% {password} [password] (password) PASSWORD a ab'.split(
      ' ',
    ),
  )('are not the placeholder of an example: %s', (word) => {
    const text = `https://me:${word}@host`;
    expect(replaced(text)).toBe(text);
  });

  it.each(
    'abc passwort xpass passx tokens keys logins my--token yourmytoken api--key .... .. . …… x* *x xy! a$PASSWORD username1 mypass1'
      .split(' ')
      .filter((word) => word.length > 2),
  )('are no placeholder: %s', (word) => {
    expect(replaced(`https://me:${word}@host`)).toBe(`https://me:<${word}>@host`);
  });

  it.each([
    ['see https:', ':'],
    ['see https:/', ':/'],
    ['see https://', '://'],
    ['see https://me:hun', '://me:hun'],
    [`https://${'m'.repeat(512)}`, `://${'m'.repeat(512)}`],
    [`https://${'m'.repeat(513)}`, undefined],
    ['https://me/', undefined],
    ['https://me@', undefined],
    ['https://me ', undefined],
    ['see https', undefined],
    [':///', undefined],
  ])('may begin at the end of a text: %s', (text, expected) => {
    expect(LOGIN_START.exec(text)?.[0]).toBe(expected);
  });
});
