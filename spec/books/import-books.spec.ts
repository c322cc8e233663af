import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bookFiles } from '../../lib/books/book.js';
import { forgetInBook, withText } from '../../lib/books/forget-in-books.js';
import { Shelf } from '../support/books.js';
import { chatgptConversation, claudeCodeLines, jsonLines, type Talk, zip } from '../support/exports.js';
import { png } from '../support/pictures.js';
import fc, { cases } from '../support/properties.js';

let shelf: Shelf;

beforeEach(() => {
  shelf = new Shelf();
});

afterEach(() => {
  shelf.remove();
});

const write = (name: string, content: Buffer | string): void => writeFileSync(join(shelf.folder, name), content);

const pdf = (text: string): Buffer =>
  Buffer.concat([Buffer.from('%PDF-1.7\nstream\n'), deflateSync(text), Buffer.from('\nendstream\n%%EOF')]);

const talk = (id: string, start: number, count = 4): Talk => ({
  id,
  title: `Talk ${id}`,
  lines: Array.from({ length: count }, (_, index) => ({
    role: index % 2 ? 'assistant' : 'user',
    text: `line ${index} of ${id}`,
    at: start + index,
  })),
});

/** The newest first, as an export has them. */
const chatgpt = (...talks: readonly Talk[]): string => JSON.stringify(talks.map((one) => chatgptConversation(one)));

describe('an import', () => {
  it('takes the current branch of each conversation in time order, with its times, its model and the ids of its source', async () => {
    write('conversations.json', chatgpt(talk('b', 2000), talk('a', 1000)));
    const [outcome] = await shelf.import('conversations.json');
    expect(outcome).toMatchObject({ name: 'chatgpt', threads: 2, messages: 8, added: 8, unread: 0 });
    expect(outcome?.left_out).toEqual({ 'messages of other branches': 8, 'hidden messages and instructions': 2 });
    const messages = shelf.messages('chatgpt');
    expect(messages.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(messages[1]).toEqual({
      ...{ id: 2, turn: 1, at: '1970-01-01T00:16:41.000Z', cwd: '', role: 'assistant', model: 'gpt-4o' },
      content: [{ type: 'text', text: 'line 1 of a' }],
      imported: { thread: 'a', id: 'a-n1' },
    });
    expect(messages[4]).toMatchObject({ role: 'user', imported: { thread: 'b', id: 'b-n0', title: 'Talk b' } });
  });

  it('adds only what is new, at the end, whatever the order, and nothing the next time', async () => {
    write('conversations.json', chatgpt(talk('a', 1000)));
    await shelf.import('conversations.json');
    const before = shelf.messages('chatgpt');
    write('conversations.json', chatgpt(talk('early', 10, 2), talk('a', 1000, 6)));
    expect(await shelf.import('conversations.json')).toMatchObject([{ messages: 8, added: 4 }]);
    expect(shelf.messages('chatgpt').slice(0, 4)).toEqual(before);
    expect(shelf.lines('chatgpt').slice(4)).toEqual([
      ...['user: line 0 of early', 'assistant: line 1 of early', 'user: line 4 of a', 'assistant: line 5 of a'],
    ]);
    const file = readFileSync(join(shelf.books, 'chatgpt.json.zst'));
    expect(await shelf.import('conversations.json')).toMatchObject([{ added: 0 }]);
    expect(readFileSync(join(shelf.books, 'chatgpt.json.zst'))).toEqual(file);
  });

  it('leaves a changed or deleted message as it was, and follows the source with `mirror`', async () => {
    write('conversations.json', chatgpt(talk('a', 1000), talk('b', 2000)));
    await shelf.import('conversations.json');
    const changed = talk('a', 1000);
    const lines = changed.lines.map((line, index) => (index === 1 ? { ...line, text: 'another answer' } : line));
    write('conversations.json', chatgpt({ ...changed, lines }));
    expect(await shelf.import('conversations.json')).toMatchObject([{ added: 0, changed: 0, removed: 0 }]);
    expect(shelf.messages('chatgpt')).toHaveLength(8);
    expect(await shelf.import('conversations.json', { mirror: true })).toMatchObject([{ changed: 1, removed: 4 }]);
    expect(shelf.lines('chatgpt')[1]).toBe('assistant: another answer');
    expect(shelf.messages('chatgpt').map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });

  it('writes nothing in a dry run, and takes only what is not older than `since`', async () => {
    write('conversations.json', chatgpt(talk('a', 1000), talk('b', 2000)));
    expect(await shelf.import('conversations.json', { dryRun: true })).toMatchObject([{ added: 8 }]);
    expect(readdirSync(shelf.folder)).toEqual(['conversations.json']);
    const since = new Date(2001 * 1000);
    expect(await shelf.import('conversations.json', { since })).toMatchObject([{ threads: 1, added: 3 }]);
    expect(shelf.lines('chatgpt')[0]).toBe('assistant: line 1 of b');
  });

  it('that is stopped, or fails, leaves everything as it was', async () => {
    write('conversations.json', chatgpt(talk('a', 1000)));
    await shelf.import('conversations.json');
    const files = () =>
      readdirSync(shelf.books, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name))]);
    const before = files();
    write('conversations.json', chatgpt(talk('a', 1000), talk('b', 2000)));
    const stop = new AbortController();
    const stopped = shelf.import('conversations.json', { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    expect(files()).toEqual(before);
  });

  it.each([false, true])(
    'reads numbered parts, and files and pictures beside them, in a ZIP archive (zip64: %s)',
    async (zip64) => {
      const content = {
        content_type: 'multimodal_text',
        parts: [{ content_type: 'image_asset_pointer', asset_pointer: 'sediment://file_000abc' }, 'Look at this'],
      };
      const attachments = [
        { id: 'file-Notes1', name: 'notes.txt' },
        { id: 'file-gone', name: 'gone.pdf' },
        { id: 'file-Plan', name: 'plan.pdf' },
      ];
      const message = { id: 'm', author: { role: 'user' }, create_time: 1, content, metadata: { attachments } };
      const pictured = { id: 'p', current_node: 'm', mapping: { m: { id: 'm', parent: null, message } } };
      const members = [
        { name: 'file_000abc-sanitized.dat', content: png(2, 3) },
        { name: 'file-Notes1-notes.txt', content: 'milk' },
        { name: 'file-Plan-plan.pdf', content: pdf('(saffron) Tj') },
        { name: 'conversations-000.json', content: chatgpt(talk('a', 1000)) },
        { name: 'conversations-001.json', content: JSON.stringify([pictured]) },
        { name: 'user.json', content: '{"id":"user-1"}' },
      ];
      write('export.zip', zip(members, { zip64 }));
      expect(await shelf.import('export.zip')).toMatchObject([
        { added: 5, left_out: { 'files that the export lacks': 1 } },
      ]);
      const [first] = shelf.messages('chatgpt');
      expect(first?.content).toMatchObject([
        { type: 'image', mime: 'image/png', width: 2, height: 3, name: 'file_000abc-sanitized.dat' },
        { type: 'text', text: '<file name="notes.txt">\nmilk\n</file>' },
        { type: 'document', mime: 'application/pdf', name: 'plan.pdf' },
        { type: 'text', text: 'Look at this' },
      ]);
      const [picture] = first?.content ?? [];
      const stored = picture?.type === 'image' ? join(shelf.books, 'chatgpt.attachments', picture.sha256) : '';
      expect(readFileSync(stored)).toEqual(png(2, 3));
      const meant = withText(bookFiles(shelf.books, 'chatgpt'), 'saffron');
      expect(meant.messages).toEqual([first]);
      forgetInBook(meant);
      expect(withText(meant.book, 'saffron').isNothing).toBe(true);
      expect(shelf.lines('chatgpt')).toHaveLength(5);
    },
  );

  it('takes an answer of Claude Code once, however often it was written, and never what stands in the place of the user', async () => {
    const lines = claudeCodeLines(talk('s1', 1000));
    write('s1.jsonl', jsonLines(lines));
    // A resumed session begins with the lines of the one before.
    const resumed = claudeCodeLines(talk('s2', 5000)).slice(2);
    write('s2.jsonl', jsonLines([...lines.map((line) => ({ ...line, sessionId: 's2' })), ...resumed]));
    expect(await shelf.import('.')).toMatchObject([{ name: 'claude-code', unread: 0 }]);
    const said = shelf.lines('claude-code').filter((line) => !line.startsWith('tool'));
    expect(said).toEqual([
      ...['user: line 0 of s1', 'assistant: line 1 of s1', 'user: line 2 of s1', 'assistant: line 3 of s1'],
      ...['user: line 0 of s2', 'assistant: line 1 of s2', 'user: line 2 of s2', 'assistant: line 3 of s2'],
    ]);
    const [, answer, result] = shelf.messages('claude-code');
    expect(answer).toMatchObject({
      model: 'claude-opus-4',
      cwd: '/work',
      usage: { input_tokens: 3, output_tokens: 5 },
    });
    expect(result).toMatchObject({ role: 'tool', content: [{ type: 'tool_result', call_id: 'call-s1-1' }] });
  });

  it('goes on with an answer that was still being written the last time', async () => {
    const lines = claudeCodeLines(talk('s1', 1000, 2));
    write('s1.jsonl', jsonLines(lines.slice(0, 4)));
    await shelf.import('.');
    expect(shelf.lines('claude-code').at(-1)).toBe('assistant: line 1');
    write('s1.jsonl', jsonLines(lines));
    expect(await shelf.import('.')).toMatchObject([{ added: 1, changed: 1 }]);
    expect(shelf.messages('claude-code').map(({ id, role }) => [id, role])).toEqual([
      ...[
        [1, 'user'],
        [2, 'assistant'],
        [3, 'tool'],
      ],
    ]);
    expect(shelf.messages('claude-code')[1]?.content).toMatchObject([{ text: 'line 1 of s1' }, { name: 'Bash' }]);
    expect(await shelf.import('.')).toMatchObject([{ added: 0, changed: 0 }]);
  });

  it('has every word of user and model once, in order and with its time, from any conversation', async () => {
    const line = fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const),
      text: fc.string({ unit: 'grapheme', minLength: 1 }),
      at: fc.option(fc.integer({ min: 1_600_000_000, max: 1_800_000_000 })),
    });
    const talks = fc.array(fc.array(line, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(talks, async (all) => {
        const shelf = new Shelf();
        const said = all.map((lines, index) => ({
          id: `t${index}`,
          title: '',
          lines: lines.map((one, place) => ({ ...one, text: `${index}.${place} ${one.text}` })),
        }));
        writeFileSync(join(shelf.folder, 'x'), JSON.stringify(said.map((one) => chatgptConversation(one))));
        for (const one of said) writeFileSync(join(shelf.folder, one.id), jsonLines(claudeCodeLines(one)));
        await shelf.import('.');
        for (const book of ['chatgpt', 'claude-code']) {
          for (const { id, lines } of said) {
            const own = shelf.messages(book).filter(({ imported, role }) => imported?.thread === id && role !== 'tool');
            expect(own.map(({ role, at, content }) => [role, at, content[0]])).toEqual(
              lines.map(({ role, text, at }) => [
                role,
                at === null ? '' : new Date(at * 1000).toISOString(),
                { type: 'text', text: text.toWellFormed() },
              ]),
            );
          }
        }
        expect((await shelf.import('.')).map(({ added }) => added)).toEqual([0, 0]);
        shelf.remove();
      }),
      { numRuns: cases(10) },
    );
  });
});

describe('a hostile export', () => {
  it('is read as far as it can be, and says where it cannot', async () => {
    const whole = JSON.stringify([chatgptConversation(talk('a', 1000)), chatgptConversation(talk('b', 2000))]);
    write('cut.json', whole.slice(0, -100));
    expect(await shelf.import('cut.json')).toMatchObject([
      { threads: 1, problems: [{ what: 'the file ends in the middle of an object' }] },
    ]);
    write('between.json', whole.slice(0, whole.lastIndexOf(',{"id":"b"')));
    expect(await shelf.import('between.json')).toMatchObject([
      { threads: 1, problems: [{ what: 'the file ends in the middle of an array' }] },
    ]);
    write('lines.jsonl', `${jsonLines(claudeCodeLines(talk('s', 1000)))}{"type":"user","sess`);
    expect(await shelf.import('lines.jsonl')).toMatchObject([
      { unread: 1, problems: [{ place: 'line 13', what: 'not a JSON object' }] },
    ]);
  });

  it('cannot lead in circles, out of its archive, or through a link', async () => {
    const circle = chatgptConversation(talk('a', 1000));
    const mapping = { x: { parent: 'y', message: null }, y: { parent: 'x', message: null } };
    const members = [
      { name: 'conversations.json', content: JSON.stringify([{ ...circle, mapping, current_node: 'x' }, circle]) },
      { name: '../../conversations.json', content: chatgpt(talk('out', 1)) },
      { name: 'link.json', content: '/etc/passwd', mode: 0o120777 },
    ];
    write('export.zip', zip(members));
    expect(await shelf.import('export.zip')).toMatchObject([
      { messages: 4, problems: [{ what: 'the conversation leads back into itself' }] },
    ]);
    expect(shelf.skipped.map((line) => line.replace(/.*: /, ''))).toEqual([
      'its name leads out of the archive',
      'it is a link',
    ]);
  });

  it('in UTF-16, or after a byte order mark, is text like any other', async () => {
    const text = chatgpt(talk('ä', 1000));
    write('wide.json', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]));
    write('marked.json', `\ufeff${text}`);
    expect(await shelf.import('wide.json')).toMatchObject([{ added: 4 }]);
    expect(await shelf.import('marked.json')).toMatchObject([{ added: 0, messages: 4 }]);
  });

  it('with a checksum that does not fit is read, and said to be damaged', async () => {
    const bytes = zip([{ name: 'conversations.json', content: chatgpt(talk('a', 1000)) }]);
    // The entry of the central directory: signature, …, checksum at 16 (APPNOTE 4.3.12).
    bytes.writeUInt32LE(1, bytes.lastIndexOf('PK\u0001\u0002') + 16);
    write('changed.zip', bytes);
    expect(await shelf.import('changed.zip')).toMatchObject([
      { messages: 4, problems: [{ what: 'its checksum in the archive does not fit, so it may be damaged' }] },
    ]);
  });

  it('that grows beyond measure, or has one endless line, is given up', async () => {
    const zeros = Buffer.alloc(40 * 1024 * 1024, ' ');
    const bomb = `[${JSON.stringify(chatgptConversation(talk('a', 1000)))},`;
    const whole = chatgpt(talk('beside', 2000));
    const beside = Array.from({ length: 4 }, (_, at) => ({ name: `bomb-${at}.json`, content: zeros }));
    const unknown = { name: 'unknown.json', content: Buffer.concat([Buffer.from('[{"mapping":"'), zeros]) };
    const members = [
      unknown,
      ...beside,
      { name: 'conversations-001.json', content: Buffer.concat([Buffer.from(bomb), zeros]) },
    ];
    write('bomb.zip', zip([...members, { name: 'conversations-002.json', content: whole }]));
    expect(await shelf.import('bomb.zip')).toMatchObject([
      { added: 8, problems: [{ what: 'the file holds more than 250 times its size' }] },
    ]);
    const path = join(shelf.folder, 'bomb.zip', 'unknown.json');
    expect(shelf.skipped).toEqual([`${path}: the file holds more than 250 times its size`]);
    const long = Buffer.concat([Buffer.from(`${bomb}{"mapping":{"a":"`), Buffer.alloc(40 * 1024 * 1024, 'x')]);
    write('long.json', Buffer.concat([long, Buffer.from(`"}},${JSON.stringify(chatgptConversation(talk('b', 1)))}]`)]));
    expect(await shelf.import('long.json')).toMatchObject([
      { added: 4, messages: 8, problems: [{ what: 'an object of more than 32 MB is too large' }] },
    ]);
  });
});
