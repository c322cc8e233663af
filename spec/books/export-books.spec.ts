import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bookFiles } from '../../lib/books/book.js';
import { type Exported, type ExportOrder, exportAll } from '../../lib/books/export-books.js';
import { exportForms } from '../../lib/books/export-forms.js';
import type { Entry } from '../../lib/chat/entry.js';
import { fileBlock } from '../../lib/chat/marked-text.js';
import { type Message, type Part, textOf, typedText } from '../../lib/chat/message.js';
import { hashOf } from '../../lib/history/attachments.js';
import { pick } from '../../lib/registry.js';
import { neutralise as shown } from '../../lib/screen/text/neutralise.js';
import { Shelf } from '../support/books.js';
import { chatgptConversation } from '../support/exports.js';
import { png } from '../support/pictures.js';
import fc, { cases } from '../support/properties.js';

const picture = png(2, 3);

/** Where an export of each form is imported to. */
const BOOKS = { 'chatgpt-json': 'chatgpt', 'claude-code': 'claude-code', llm: 'llm', markdown: 'markdown' } as const;
const FORMS = Object.keys(BOOKS) as readonly (keyof typeof BOOKS)[];

let shelf: Shelf;

beforeEach(() => {
  shelf = new Shelf();
});

afterEach(() => {
  shelf.remove();
});

async function exported(form: string, entries: readonly Entry[], more: Partial<ExportOrder> = {}, from = shelf) {
  const outcomes = await exportAll({
    ...{ form: pick(exportForms, form, 'form'), target: join(from.folder, 'out'), books: [] },
    archive: async function* () {
      yield* entries;
    },
    read: async (sha256) => (sha256 === hashOf(picture) ? picture : null),
    signal: new AbortController().signal,
    ...more,
  });
  return Object.fromEntries(outcomes.map((one) => [one.name, one])) as Readonly<Record<string, Exported>>;
}

const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string): Part => ({ type: 'tool_call', call_id: id, name: 'bash', args: { command: 'ls' } });

/** What was said, message by message; pieces of one message together. */
function words(messages: readonly Message[]): readonly (readonly string[])[] {
  const said: [string, string, string][] = [];
  for (const { role, at, content } of messages) {
    const one = role === 'tool' ? '' : role === 'user' ? typedText(content) : textOf(content);
    const last = said.at(-1);
    if (one !== '' && last?.[0] === role && last[1] === at) last[2] += one;
    else if (one !== '') said.push([role, at, one]);
  }
  return said.map(([role, at, one]) => [role, at, one.replaceAll(/\s+/g, ' ')]);
}

/** A turn: the question, what the model did, its answer. */
const turn = fc.record({
  asked: fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('## User', '# Title\n## Assistant · 2025\n\\## User', '```\n', '\x1b[2J\x1b]0;x\x07', '[]({"'),
    fc.constantFrom('<system-reminder>x', '<command-name>/x</command-name>', '<bash-input>ls</bash-input>'),
  ),
  answered: fc.string({ unit: 'grapheme', minLength: 1 }),
  tool: fc.boolean(),
  thinks: fc.boolean(),
  pause: fc.integer({ min: 1, max: 100_000_000 }),
});

describe('an export', () => {
  it.each(FORMS)(
    'as %s that is imported again is the same words, in the same order, with the same times',
    async (form) => {
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 5 }), async (turns) => {
          const own = new Shelf();
          let [id, time] = [0, 1_700_000_000_123];
          const entries = turns.flatMap(({ asked, answered, tool, thinks, pause }, index): Message[] => {
            time += pause;
            const first = id + 1;
            const one = (role: Message['role'], content: readonly Part[], after: number): Message => {
              id += 1;
              return {
                id,
                turn: first,
                at: new Date(time + after).toISOString(),
                cwd: '/w',
                role,
                content,
                ...(role === 'assistant' && { model: 'gpt-6' }),
              };
            };
            const parts: readonly Part[] = [
              ...(thinks ? [{ type: 'thinking', text: 'hm' } as const] : []),
              text(`${index}a ${answered}.`),
            ];
            return [
              one('user', [text(`${asked} ${index}u.`)], 0),
              ...(tool
                ? [
                    one('assistant', [...parts, call(`c${index}`)], 1),
                    one(
                      'tool',
                      [{ type: 'tool_result', call_id: `c${index}`, name: 'bash', result: 'I always allow it' }],
                      2,
                    ),
                  ]
                : []),
              one('assistant', parts, 3),
            ];
          });
          await exported(form, entries, {}, own);
          await own.import('out');
          const neutral = (said: ReturnType<typeof words>) =>
            form === 'markdown' ? said.map(([role, at, one = '']) => [role, at, shown(one)]) : said;
          expect(words(own.messages(BOOKS[form]))).toEqual(neutral(words(entries)));
          expect(await own.import('out')).toMatchObject([{ added: 0 }]);
          own.remove();
        }),
        { numRuns: cases(8) },
      );
    },
  );

  it.each(FORMS)(
    'as %s has the conversation and each book in a folder of its own, and names what does not fit',
    async (form) => {
      writeFileSync(
        join(shelf.folder, 'in.json'),
        JSON.stringify([
          chatgptConversation({
            id: 'a',
            title: '../../a',
            lines: [
              { role: 'user', text: 'boats?', at: 1000 },
              { role: 'assistant', text: 'Some.', at: 1001 },
            ],
          }),
        ]),
      );
      await shelf.import('in.json');
      const base = { cwd: '/w', at: '2026-01-01T10:00:00.000Z' };
      const image = {
        type: 'image',
        mime: 'image/png',
        sha256: hashOf(picture),
        bytes: picture.length,
        name: 'cat.png',
      } as const;
      const lost = { ...image, sha256: hashOf(Buffer.from('lost')) };
      const entries: readonly Entry[] = [
        {
          ...base,
          id: 1,
          turn: 1,
          role: 'user',
          content: [
            { type: 'text', text: 'note', clock: true },
            image,
            lost,
            text(fileBlock('a.txt', 'I allow everything')),
            text('this?'),
          ],
        },
        { ...base, id: 2, turn: 1, role: 'assistant', content: [text('A cat.')] },
        { ...base, id: 3, turn: 3, role: 'user', content: [text('undone')] },
        { id: 4, at: base.at, type: 'undo', turns: [3] },
      ];
      const outcomes = await exported(form, entries, { books: [bookFiles(shelf.books, 'chatgpt')] });
      expect(outcomes.conversation).toMatchObject({
        threads: 1,
        messages: 2,
        left_out: { 'notes that hi added': 1, 'files that are lost': 1, 'messages of undone turns': 1 },
      });
      expect(outcomes.chatgpt).toEqual({ name: 'chatgpt', threads: 1, messages: 2, left_out: {} });
      expect(readdirSync(join(shelf.folder, 'out')).sort()).toEqual(['chatgpt', 'conversation']);
      const back = new Shelf();
      await back.import(join('..', shelf.folder.replace(/^.*\//, ''), 'out'));
      expect(back.lines(BOOKS[form])).toContain('user: boats?');
      const [user] = back.messages(BOOKS[form]).filter(({ content }) => typedText(content) === 'this?');
      expect(user?.content.filter(({ type }) => type === 'image')).toMatchObject([{ sha256: hashOf(picture) }]);
      // What was attached does not become the user's words.
      expect(
        back
          .messages(BOOKS[form])
          .map(({ role, content }) => role === 'user' && typedText(content))
          .join(),
      ).not.toContain('I allow');
      back.remove();
    },
  );

  it('writes no escape sequence, and into no folder that has something', async () => {
    const said: Entry = { id: 1, turn: 1, at: '', cwd: '', role: 'user', content: [text('\x1b]0;x\x07\x9b2J')] };
    for (const form of FORMS) {
      const target = join(shelf.folder, form);
      await exported(form, [said], { target });
      for (const name of readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((one) => one.includes('.')))
        expect(readFileSync(join(target, name), 'utf8')).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
      await expect(exported(form, [said], { target })).rejects.toMatchObject({ code: 'usage' });
    }
    mkdirSync(join(shelf.folder, 'empty'));
    await exported('llm', [said], { target: join(shelf.folder, 'empty') });
  });

  it('that is stopped leaves nothing', async () => {
    const said: Entry = { id: 1, turn: 1, at: '', cwd: '', role: 'user', content: [text('hello')] };
    const stopped = exported('markdown', [said], { signal: AbortSignal.abort() });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
    expect(existsSync(join(shelf.folder, 'out'))).toBe(false);
    expect(readdirSync(shelf.folder)).toEqual([]);
  });
});
