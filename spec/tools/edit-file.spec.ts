import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { replaceOnce } from '../../lib/tools/files/replace-file.js';
import fc from '../support/properties.js';
import { type Bench, bench, runnerOn } from '../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
});
afterEach(() => place.remove());

const file = (name: string) => join(place.folder, name);

describe('edit_file', () => {
  it('replaces the one occurrence, and keeps the mode of the file', async () => {
    writeFileSync(file('a.sh'), 'one\ntwo\nthree\n');
    chmodSync(file('a.sh'), 0o751);
    const { one } = runnerOn(place, { allowAll: true });
    expect((await one('edit_file', { path: 'a.sh', old: 'two', new: '2' })).result).toEqual({ success: true, line: 2 });
    expect(readFileSync(file('a.sh'), 'utf8')).toBe('one\n2\nthree\n');
    expect(statSync(file('a.sh')).mode & 0o777).toBe(0o751);
  });

  it('names the lines if the text is not unique', async () => {
    writeFileSync(file('a'), 'x\ny\nx\n');
    const { error } = await runnerOn(place, { allowAll: true }).one('edit_file', { path: 'a', old: 'x', new: 'z' });
    expect(error).toContain("2 times in 'a' (lines 1, 3)");
  });

  it('says where the text occurs with other white space', async () => {
    writeFileSync(file('a'), 'if (a) {\n\treturn 1;\n}\n');
    const { error } = await runnerOn(place, { allowAll: true }).one('edit_file', {
      path: 'a',
      old: 'if (a) {\n  return 1;',
      new: '',
    });
    expect(error).toContain('Line 1 has it with different white space');
  });

  it('keeps the line ends and the encoding of the file', async () => {
    writeFileSync(file('windows'), 'one\r\ntwo\r\nthree\r\n');
    writeFileSync(file('wide'), Buffer.from('\ufeffäöü\nß\n', 'utf16le'));
    writeFileSync(file('marked'), '\ufeffone\n');
    const { one } = runnerOn(place, { allowAll: true });
    await one('edit_file', { path: 'windows', old: 'one\ntwo\n', new: '1\n2\n' });
    await one('edit_file', { path: 'wide', old: 'ß', new: 'ss' });
    await one('edit_file', { path: 'marked', old: 'one', new: 'two' });
    expect(readFileSync(file('windows'), 'utf8')).toBe('1\r\n2\r\nthree\r\n');
    expect(readFileSync(file('wide')).toString('utf16le')).toBe('\ufeffäöü\nss\n');
    expect(readFileSync(file('marked'), 'utf8')).toBe('\ufefftwo\n');
  });

  it.each([
    ['none', 'There is no file'],
    ['binary', 'binary'],
    ['latin', 'Only UTF-8 and UTF-16 can be edited'],
    ['.', 'is a folder'],
  ])('refuses to edit %s', async (path, words) => {
    writeFileSync(file('binary'), Buffer.from([1, 0, 2, 0]));
    writeFileSync(file('latin'), Buffer.from('Grüße aus Köln, schöne Tage', 'latin1'));
    const { error } = await runnerOn(place, { allowAll: true }).one('edit_file', { path, old: 'a', new: 'b' });
    expect(error).toContain(words);
  });

  it('does not ask about a change that cannot be made', async () => {
    writeFileSync(file('a'), 'x');
    const { one, questions } = runnerOn(place, { answer: { answer: 'once' } });
    expect((await one('edit_file', { path: 'a', old: 'y', new: 'z' })).error).toContain("'old' was not found in 'a'");
    expect(questions).toEqual([]);
  });

  it('reveals nothing of a private file before the user has approved', async () => {
    writeFileSync(file('.env'), 'PASSWORD=hunter2');
    const { one, questions } = runnerOn(place, { answer: { answer: 'no' } });
    const guesses = [
      await one('edit_file', { path: '.env', old: 'hunter2', new: 'x' }),
      await one('edit_file', { path: '.env', old: 'hunter3', new: 'x' }),
    ];
    expect(guesses.map(({ error }) => error)).toEqual(['The user said no.', 'The user said no.']);
    expect(questions).toHaveLength(2);
  });

  it('inserts exactly the new text in place of the old one', () => {
    const word = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(word, word, fc.string({ minLength: 1 }), word, (before, after, old, replacement) => {
        fc.pre(
          old !== replacement &&
            `${before}${old}${after}`.split(old).length === 2 &&
            !`${before}${after}`.includes('\r'),
        );
        fc.pre(`${before}${old}${after}`.indexOf(old, before.length + 1) === -1);
        const { text } = replaceOnce(before + old + after, { path: 'a', old, new: replacement });
        expect(text).toBe(before + replacement + after);
      }),
    );
  });
});
