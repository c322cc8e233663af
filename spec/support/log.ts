import type { CompressBlock, Entry, NewCompressBlock, NewMark } from '../../lib/chat/entry.js';
import type { JsonValue } from '../../lib/chat/json.js';
import type { Message, NewMessage, Part } from '../../lib/chat/message.js';

/** A log in memory that numbers and dates its entries as the history does, for specs that need one without a disk. */
export class Log {
  readonly entries: Entry[] = [];
  #running: number | null = null;
  #calls = 0;

  /** A user's message, which begins a turn. */
  user(text: string, more: Partial<NewMessage> = {}): Message {
    const id = this.#next();
    this.#running = id;
    return this.#push({ role: 'user', content: [{ type: 'text', text }], cwd: '/', ...more, id, turn: id, at: at(id) });
  }

  /** A user's message of another machine, which does not belong to the turn that is running. */
  arrived(text: string, from: string): Message {
    const id = this.#next();
    return this.#push({ role: 'user', content: [{ type: 'text', text }], cwd: '/', from, id, turn: id, at: at(id) });
  }

  /** The answer that ends the turn. */
  answer(text: string, more: Partial<NewMessage> = {}): Message {
    return this.message('assistant', [{ type: 'text', text }], { stop_reason: 'end', ...more });
  }

  /** An answer that calls tools, one after another, and their results. */
  tools(...results: readonly JsonValue[]): void {
    const calls = results.map((result) => ({ call_id: `call-${this.entries.length}-${this.#calls++}`, result }));
    this.message(
      'assistant',
      calls.map(({ call_id }) => ({ type: 'tool_call', call_id, name: 'bash', args: { command: 'ls' } })),
      { stop_reason: 'tool_calls' },
    );
    this.message(
      'tool',
      calls.map(({ call_id, result }) => ({ type: 'tool_result', call_id, name: 'bash', result })),
    );
  }

  /** A whole exchange. */
  exchange(question: string, answer: string): this {
    this.user(question);
    this.answer(answer);
    return this;
  }

  message(role: Message['role'], content: readonly Part[], more: Partial<Message> = {}): Message {
    const id = this.#next();
    return this.#push({ role, content, cwd: '/', id, turn: this.#running ?? id, at: at(id), ...more });
  }

  block(block: NewCompressBlock): CompressBlock {
    const id = this.#next();
    const stored: CompressBlock = { ...block, id, at: at(id) };
    this.entries.push(stored);
    return stored;
  }

  undo(...turns: readonly number[]): void {
    const id = this.#next();
    this.entries.push({ type: 'undo', turns, id, at: at(id) });
  }

  /** Appends what the user decided. */
  mark(mark: NewMark): void {
    const id = this.#next();
    this.entries.push({ ...mark, id, at: at(id) });
  }

  /** The log as another process would read it from the disk. */
  reloaded(): Entry[] {
    return JSON.parse(JSON.stringify(this.entries));
  }

  #next(): number {
    return (this.entries.at(-1)?.id ?? 0) + 1;
  }

  #push(message: Message): Message {
    this.entries.push(message);
    return message;
  }
}

const at = (id: number): string => new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString();
