import { type BookMessage, BookWriter, bookFiles } from '../lib/books/book.js';
import { numbers } from './recall-lives.js';

/** The books of a user of five other programs, and how many messages are in each. */
export const BOOKS = ['chatgpt', 'claude', 'claude-code', 'codex', 'gemini'];
export const IN_EACH = 100_000;

/** Messages in one conversation. */
const CONVERSATION = 20;

/**
 * Writes five books of chains of words from these texts into the folder of books; one message in twenty is a whole
 * text.
 */
export function writeBooks(folder: string, texts: readonly string[]): void {
  const random = numbers();
  const words = texts.flatMap((text) => text.split(/\s+/));
  for (const book of BOOKS) {
    const writer = new BookWriter(bookFiles(folder, book));
    for (let first = 0; first < IN_EACH; first += CONVERSATION) {
      const messages = Array.from({ length: CONVERSATION }, (_, index): BookMessage => {
        const text = random() < 0.05 ? (texts[Math.floor(random() * texts.length)] ?? '') : chain(words, random);
        return message(book, first + index, text);
      });
      writer.add(messages);
    }
    writer.commit();
  }
}

function message(book: string, index: number, text: string): BookMessage {
  const at = new Date(1.6e12 + index * 9e5).toISOString();
  const imported = { thread: `${Math.floor(index / CONVERSATION)}`, id: `${book}-${index}` };
  const said = { at, cwd: '', content: [{ type: 'text', text }], imported } as const;
  if (index % 2 === 0) return { ...said, role: 'user' };
  return { ...said, role: 'assistant', model: 'gpt-4o', provider: 'openai', stop_reason: 'end' };
}

/** Six consecutive words from one place, six from another and so on, and now and then a name. */
export function chain(words: readonly string[], random: () => number): string {
  const length = 60 + random() * random() * 1600;
  const said: string[] = [];
  for (let characters = 0, at = 0, count = 0; characters < length; count += 1, at += 1) {
    if (count % 6 === 0) at = Math.floor(random() * (words.length - 6));
    const word = words[at] ?? '';
    said.push(word);
    characters += word.length + 1;
    if (random() < 0.015) said.push(name(random));
  }
  return said.join(' ');
}

function name(random: () => number): string {
  const [consonants, vowels] = ['bcdfghjklmnprstvz', 'aeiou'];
  const syllable = (): string =>
    (consonants[Math.floor(random() * consonants.length)] ?? '') + (vowels[Math.floor(random() * vowels.length)] ?? '');
  return Array.from({ length: 2 + Math.floor(random() * 3) }, syllable).join('');
}
