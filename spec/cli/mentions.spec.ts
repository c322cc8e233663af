import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { resolveMentions } from '../../lib/cli/input/mentions.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hi-mentions-'));
  mkdirSync(join(folder, 'a'));
  mkdirSync(join(folder, 'google'));
  writeFileSync(join(folder, 'notes.txt'), 'the notes\n');
  writeFileSync(join(folder, 'a', 'b.c'), 'int b;\n');
  writeFileSync(join(folder, 'two words.txt'), 'both\n');
});

afterEach(() => {
  chmodSync(join(folder, 'a'), 0o700);
  rmSync(folder, { recursive: true, force: true });
});

const { signal } = new AbortController();
const mention = (text: string) => resolveMentions(text, [], folder, signal);
/** The names of what was attached as text. */
const attachedBy = async (text: string) =>
  (await mention(text)).input.texts.map((one) => /^<(?:file|folder) name="(.*)">/.exec(one)?.[1]);

describe('a mention in a sentence', () => {
  it.each([
    ['summarise @notes.txt', 'notes.txt'],
    ['summarise @notes.txt.', 'notes.txt'],
    ['summarise @notes.txt...', 'notes.txt'],
    ['what is in (@notes.txt)?', 'notes.txt'],
    ['read "@notes.txt", please', 'notes.txt'],
    ["read '@notes.txt'!", 'notes.txt'],
    ['**@notes.txt** and more', 'notes.txt'],
    ['@notes.txt, and then?', 'notes.txt'],
    ['@notes.txt,and then?', 'notes.txt'],
    ['see @notes.txt:12:3', 'notes.txt'],
    ["what is @a/b.c's purpose?", 'a/b.c'],
    ['what is @a/b.c’s purpose?', 'a/b.c'],
    ['“@notes.txt”—really', 'notes.txt'],
    ['files: @./notes.txt;', './notes.txt'],
    ['@"two words.txt".', 'two words.txt'],
    ['@two\\ words.txt.', 'two words.txt'],
    ['看看@notes.txt吧', 'notes.txt'],
    ['@notes.txt\nis it', 'notes.txt'],
  ])('%j attaches %s and is sent as typed', async (text, name) => {
    expect(await attachedBy(text)).toEqual([name]);
    expect((await mention(text)).input.text).toBe(text);
  });

  it.each([
    ['@src/*.ts', null],
    ['@src/** @src/*', null],
    ['@app(x) @app[0] @app=3 @src() @app{y} @app<T> @app|less @app#id', null],
    ['@app?.x @app!.x @app,x @app;x', null],
    ['@node:fs @app:3000 @app:12 @app#L3 @node=1 @node*', null],
    ['@src/...', 'src/'],
    ['**@src** *@src* ~~@src~~', 'src'],
    ['*@src/*.ts*', null],
    ['(see @src), [@src] {@src} <@src> `@src` "@src"!', 'src'],
    ["@src's @src, @src; @src: @src? @src...", 'src'],
    ['@node:12 @node:12:3 @node:12-20 (@node:12), @node#L3 @node#L3-L10.', 'node'],
    ['@node,fs', 'node'],
  ])('in %j, which may be code, attaches %j', async (text, name) => {
    for (const path of ['src', 'app', 'src/inner']) mkdirSync(join(folder, path));
    for (const path of ['node', 'src/a.ts']) writeFileSync(join(folder, path), 'x\n');
    expect(await attachedBy(text)).toEqual(name === null ? [] : [name]);
  });

  it.each([
    'how do I import @google/genai in TypeScript?',
    'what does @app.route do in Flask?',
    'see @missing.txt',
    'read @"no such file.txt"',
    'ask @google.com about it',
    'is @notes.txt2 there',
    'is @notes.text there',
  ])('%j names no file: it is text, and a notice says so', async (text) => {
    const { input, notice } = await mention(text);
    expect(input).toEqual({ text, texts: [], attachments: [] });
    const [, word] = /@"?([^" ]+(?: such file\.txt)?)/.exec(text) ?? [];
    expect(notice).toBe(`sent as text, no such file: @${word}`);
  });

  it.each([
    'me@example.org and first.last+tag@notes.txt',
    'thanks @alice, @all!',
    '@@ -1,3 +1,4 @@',
    'node_modules/@types/node',
    'git@github.com:a/b.c',
    'a @ b',
    '@',
    '@. @... @!',
    'not \\@notes.txt',
  ])('%j is text, without a notice', async (text) => {
    const { input, notice } = await mention(text);
    expect(input.text).toBe(text);
    expect(input.attachments).toEqual([]);
    if (text !== '@. @... @!') expect({ texts: input.texts, notice }).toEqual({ texts: [], notice: null });
    else expect(input.texts.filter((one) => one.startsWith('<folder name="..">'))).toEqual([]);
  });

  it('means the longest path that exists', async () => {
    writeFileSync(join(folder, 'notes.txt.'), 'with a full stop\n');
    writeFileSync(join(folder, "it's,here"), 'odd\n');
    expect(await attachedBy("@notes.txt. @it's,here.")).toEqual(['notes.txt.', "it's,here"]);
  });

  it('attaches each file once, and says in one line what was attached and what was not', async () => {
    const { input, notice } = await mention('@notes.txt @./notes.txt (@a/b.c) @x.y');
    expect(input.texts).toHaveLength(2);
    expect(notice).toBe('attached notes.txt (11 tokens), a/b.c (9 tokens) · sent as text, no such file: @x.y');
    const many = Array.from({ length: 9 }, (_, index) => `@${index}.txt`).join(' ');
    expect((await mention(many)).notice).toContain('@4.txt and 4 more');
  });

  it('attaches the listing of a folder', async () => {
    mkdirSync(join(folder, 'a', 'inner'));
    const { input, notice } = await mention('what is in @a? and @a/?');
    expect(input.texts).toEqual(['<folder name="a">\nb.c\ninner/\n</folder>']);
    expect(notice).toBe('attached a (folder, 2 entries)');
  });

  it('is refused, with the reason, if the file exists but cannot be attached', async () => {
    writeFileSync(join(folder, 'app.bin'), Buffer.alloc(10));
    writeFileSync(join(folder, 'large.txt'), Buffer.alloc(21 * 1024 * 1024, 'x'));
    await expect(mention('see @app.bin.')).rejects.toThrow("'app.bin' is a binary file");
    await expect(mention('see @large.txt')).rejects.toThrow('the limit is 20 MB');
  });

  it('is text if a link leads nowhere', async () => {
    symlinkSync('nowhere', join(folder, 'link.txt'));
    expect((await mention('see @link.txt')).notice).toBe('sent as text, no such file: @link.txt');
  });

  it('is not recognised in pasted text', async () => {
    const text = 'see @notes.txt and @a/b.c';
    const { input } = await resolveMentions(text, [{ start: 0, end: 15 }], folder, signal);
    expect(input.texts).toEqual(['<file name="a/b.c">\nint b;\n</file>']);
  });

  it('is found quickly in a text with many @', async () => {
    const text = `@${'x,'.repeat(600_000)} ${'@a,b,c '.repeat(100_000)}`;
    expect((await mention(text)).input.text).toBe(text);
  });
});
