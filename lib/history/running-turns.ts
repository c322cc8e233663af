import { withoutRepeated } from '../chat/entry-list.js';
import type { Message, NewMessage } from '../chat/message.js';
import { openTurns } from '../view/view.js';
import type { Log } from './log.js';
import { clearRunning, markRunning } from './turn-marks.js';

/** A turn that is running in this process. */
interface RunningTurn {
  /** The conversation that it was written to. */
  readonly log: string | null;
  /** Its messages on disk. Their ids change if the conversation is reset meanwhile. */
  readonly messages: readonly Message[];
}

/** The turns of this process, from their first message to their last. */
export class RunningTurns {
  readonly #log: Log;
  /** The folder of the marks that show other processes the running turns; null if nothing is written. */
  readonly #folder: string | null;
  readonly #running = new Map<number, RunningTurn>();

  constructor(log: Log, folder: string | null) {
    this.#log = log;
    this.#folder = folder;
  }

  /** The current id of a turn that began as `turn`. */
  idOf(turn: number): number {
    return this.#running.get(turn)?.messages[0]?.turn ?? turn;
  }

  /** Writes the message that begins a turn. What it repeats of others stays away unless the log still has that edition. */
  async begin(message: NewMessage, at: string, edition: number): Promise<Message> {
    const [begun] = await this.#write((next) => [withIds(this.#asOf(edition, message), next, next, at)]);
    if (begun === undefined) throw new Error('The first message of a turn was not written.');
    this.#track(begun.id, [begun]);
    return begun;
  }

  /** Appends messages to a turn, like `begin`; none with `onlyThen` if the edition is another one. If the conversation was reset meanwhile, the whole turn moves to the new one. */
  async append(
    turn: number,
    given: readonly NewMessage[],
    at: string,
    edition: number,
    onlyThen = false,
  ): Promise<readonly Message[]> {
    const { log, messages: before } = this.#running.get(turn) ?? { log: this.#log.name, messages: [] };
    let moved = false;
    const written = await this.#write((next) => {
      if (onlyThen && edition !== this.#log.edition) return [];
      const messages = given.map((message) => this.#asOf(edition, message));
      moved = this.#isGone(log, before);
      if (!moved) return messages.map((message, index) => withIds(message, next + index, this.idOf(turn), at));
      const again = before.map((message, index) => ({
        ...message,
        content: withoutRepeated(message.content),
        id: next + index,
        turn: next,
      }));
      return [...again, ...messages.map((message, index) => withIds(message, next + again.length + index, next, at))];
    });
    if (written.length === 0) return [];
    if (before.length > 0) this.#track(turn, moved ? written : [...before, ...written]);
    return written.slice(-given.length);
  }

  /** Writes a running turn into the current conversation if the one in which it began was reset. */
  async follow(turn: number, at: string): Promise<void> {
    const held = this.#running.get(turn);
    if (held !== undefined && this.#isGone(held.log, held.messages)) await this.append(turn, [], at, this.#log.edition);
  }

  #asOf(edition: number, message: NewMessage): NewMessage {
    return edition === this.#log.edition ? message : { ...message, content: withoutRepeated(message.content) };
  }

  /** True when the messages of a turn are not in the current conversation: it was reset, or replaced by an older copy. */
  #isGone(log: string | null, messages: readonly Message[]): boolean {
    const [first] = messages;
    return first !== undefined && (log !== this.#log.name || !this.#log.contains(first));
  }

  /** Stops tracking a turn, to which nothing will be appended. */
  end(turn: number): void {
    if (this.#running.has(turn)) this.#release(turn);
  }

  /** Stops tracking the turns that still run. */
  abandon(): void {
    for (const turn of this.#running.keys()) this.#release(turn);
  }

  /** Writes messages. The mark of a new turn comes first, so that a running turn never looks like a crashed one. */
  async #write(plan: (next: number) => readonly Message[]): Promise<readonly Message[]> {
    let marked: number | null = null;
    try {
      return await this.#log.write((next) => {
        const messages = plan(next);
        const first = messages[0];
        if (this.#folder !== null && first?.id === first?.turn) {
          // The id changed, because the lock was lost meanwhile.
          if (marked !== null && marked !== next) clearRunning(this.#folder, marked);
          markRunning(this.#folder, next);
          marked = next;
        }
        return messages;
      });
    } catch (thrown) {
      if (this.#folder !== null && marked !== null) clearRunning(this.#folder, marked);
      throw thrown;
    }
  }

  #track(turn: number, messages: readonly Message[]): void {
    const before = this.#running.get(turn)?.messages[0]?.turn;
    const now = messages[0]?.turn;
    if (this.#folder !== null && before !== undefined && before !== now) clearRunning(this.#folder, before);
    this.#running.set(turn, { log: this.#log.name, messages });
    if (openTurns(messages).length === 0) this.#release(turn);
  }

  #release(turn: number): void {
    if (this.#folder !== null) clearRunning(this.#folder, this.idOf(turn));
    this.#running.delete(turn);
  }
}

function withIds(message: NewMessage, id: number, turn: number, at: string): Message {
  return { id, turn, at, ...message };
}
