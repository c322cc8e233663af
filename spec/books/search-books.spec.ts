import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { bookFiles } from '../../lib/books/book.js';
import { searchBooksToo } from '../../lib/books/search-books.js';
import { loadCodec } from '../../lib/history/file/codec.js';
import { LogFile } from '../../lib/history/file/log-file.js';
import { Recall } from '../../lib/recall/recall.js';
import { idOf, type Search } from '../../lib/recall/search.js';
import { Shelf } from '../support/books.js';
import { chatgptConversation, claudeCodeLines, jsonLines, type Talk } from '../support/exports.js';
import { openIn } from '../support/history.js';
import { prose } from '../support/prose.js';

let shelf: Shelf;

beforeEach(() => {
  shelf = new Shelf();
});

afterEach(() => {
  shelf.remove();
});

/** A conversation on every day, with an answer of so many characters. */
const talks = (count: number, characters: number, from = 0): readonly Talk[] =>
  Array.from({ length: count }, (_, index): Talk => {
    const [day, at] = [from + index, 1.7e9 + 86_400 * (from + index)];
    const lines = [
      { role: 'user', text: `Question ${day}: which boat is number ${day}?`, at },
      {
        role: 'assistant',
        text: `Boat ${day} is called Margarita${day}. ${prose(characters, day + 5000)}`,
        at: at + 9,
      },
    ] as const;
    return { id: `t${day}`, title: '', lines };
  });

const exported = (all: readonly Talk[]): void =>
  writeFileSync(join(shelf.folder, 'conversations.json'), JSON.stringify(all.map((one) => chatgptConversation(one))));

const search = (query: string): Search => ({ query, who: null, from: null, until: null, count: 3 });

/** The files of the index of the book. */
const indexed = (): readonly string[] =>
  readdirSync(bookFiles(shelf.books, 'chatgpt').index, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();

/** What `work` returns, given the search over an empty conversation and all books. */
async function searching<Result>(
  work: (finder: ReturnType<typeof searchBooksToo>) => Promise<Result>,
): Promise<Result> {
  const history = await openIn(join(shelf.folder, 'data'));
  const finder = searchBooksToo(new Recall({ folder: join(shelf.folder, 'own'), history, writes: true }), shelf.books, {
    writes: true,
  });
  try {
    return await work(finder);
  } finally {
    finder.close();
    await history.close();
  }
}

/** The ids of what is found. */
const found = async (query: string): Promise<readonly string[]> =>
  await searching(async (finder) => (await finder.search(search(query))).hits.map((hit) => idOf(hit)));

describe('an imported book', () => {
  it('has nothing after its sealed pieces, so that no search indexes its end again', async () => {
    exported(talks(3, 10));
    await shelf.import('conversations.json');
    const file = LogFile.open(loadCodec(), bookFiles(shelf.books, 'chatgpt').history, 'r');
    expect(file.unsealed()).toEqual([]);
    file.close();
  });

  it('is indexed and measured by its import, in two files, and again by that of a later edition', async () => {
    const first = talks(45, 14_000);
    exported(first);
    await shelf.import('conversations.json');
    expect(indexed()).toEqual(['0-4.seg', '2-0.seg', 'threshold.json'].sort());
    expect((await found('Margarita7'))[0]).toBe('#chatgpt:16');
    exported([...first, ...talks(20, 14_000, 45)]);
    await shelf.import('conversations.json');
    expect(indexed()).toEqual(['0-4.seg', '3-0.seg', 'threshold.json'].sort());
    expect([(await found('Margarita7'))[0], (await found('Margarita60'))[0]]).toEqual(['#chatgpt:16', '#chatgpt:122']);
  });

  it('gives the best of all books, each with its own neighbours, though one of them cannot be read', async () => {
    exported(talks(4, 40));
    await shelf.import('conversations.json');
    const lines = claudeCodeLines({
      id: 's',
      title: '',
      lines: [{ role: 'user', text: 'Paint Margarita3 red', at: 1 }],
    });
    writeFileSync(join(shelf.folder, 's.jsonl'), jsonLines(lines));
    await shelf.import('s.jsonl');
    const hits = await searching(async (finder) => (await finder.search(search('Margarita3'))).hits);
    expect(hits.map((hit) => idOf(hit)).sort()).toEqual(['#chatgpt:7', '#chatgpt:8', '#claude-code:1']);
    const beside = hits.flatMap(({ book, before, after }) => [before, after].map((said) => said && [book, said.book]));
    expect(beside.filter((books) => books !== null && books[0] !== books[1])).toEqual([]);
    writeFileSync(join(shelf.books, 'chatgpt.json.zst'), 'damaged');
    expect(await found('Margarita3')).toEqual(['#claude-code:1']);
  });
});
