import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Talks, and questions with known answers in them. They are used for evaluation only and are not part of the project.
 */
const DATA = process.env.HI_RECALL_DATA ?? '../shared/recall-data';

export type Id = string | number;

/** A talk between people, or a chat with an assistant, and questions about it. */
export interface Talk {
  readonly messages: readonly {
    readonly id: Id;
    readonly role: string;
    readonly name?: string;
    readonly at?: string;
    readonly session: number;
    readonly text: string;
  }[];
  readonly questions: readonly {
    readonly q: string;
    readonly gold: readonly Id[];
    readonly sessions: readonly number[];
  }[];
}

/** The names of the available sets. */
export function setNames(): readonly string[] {
  const files = existsSync(DATA) ? readdirSync(DATA) : [];
  return [...new Set(files.flatMap((file) => /^(.+)\.jsonl(?:\.zst)?$/.exec(file)?.[1] ?? []))].sort();
}

/** The talks of a set. */
export function talks(name: string): readonly Talk[] {
  const plain = join(DATA, `${name}.jsonl`);
  const text = existsSync(plain)
    ? readFileSync(plain, 'utf8')
    : execFileSync('zstd', ['-dc', `${plain}.zst`], { maxBuffer: 2 ** 30, encoding: 'utf8' });
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The ids of a message and its two neighbours. */
export function around({ messages }: Talk, document: number): readonly Id[] {
  return messages.slice(Math.max(0, document - 1), document + 2).map(({ id }) => id);
}

/** A question about the people of another talk. */
export function renamed(question: string, from: Talk, to: Talk): string {
  const names = (talk: Talk): readonly string[] => [...new Set(talk.messages.flatMap(({ name }) => name ?? []))];
  const others = names(to);
  return names(from).reduce((text, name, index) => text.replaceAll(name, others[index] ?? ''), question);
}
