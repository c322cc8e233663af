import { hideHistoryProgress } from '../base/history-progress.js';
import type { WiredSession } from '../wiring/wire.js';
import { promptText } from './greeting.js';
import { IdleIndex } from './idle-index.js';
import type { WindowUsage } from './window-usage.js';

/** So long after the first prompt the servers are started, which by then is on the screen. Milliseconds. */
const SERVERS_BEGIN = 50;

/** So long after an answer the user counts as away, and what left the view is summarised. Milliseconds. */
const AWAY = 3 * 60_000;

/** The longest time that a timer can wait, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** The prompt of a chat, and the work that goes on while it waits for the user. */
export class ChatPrompt {
  readonly #wired: WiredSession;
  readonly #usage: WindowUsage;
  readonly #idle: IdleIndex;
  /** Before the first input nothing is done that the start would have to wait for. */
  #hasSpoken = false;
  #away: NodeJS.Timeout | undefined;

  constructor(wired: WiredSession, usage: WindowUsage) {
    this.#wired = wired;
    this.#usage = usage;
    this.#idle = new IdleIndex(wired.session);
  }

  /** The text of the next prompt. Begins the work. */
  async next(): Promise<string> {
    const { session, servers, config } = this.#wired;
    hideHistoryProgress();
    if (!this.#hasSpoken) setTimeout(() => servers.begin(), SERVERS_BEGIN).unref();
    if (this.#hasSpoken && !session.history.isEphemeral) this.#idle.begin();
    const text = promptText(await this.#usage.read(), session.history.isOffRecord);
    if (this.#hasSpoken && config.compaction.background) {
      void session.ahead.begin();
      this.#summariseLater();
    }
    return text;
  }

  /** The user entered something, which may change how full the window is. */
  leave(): void {
    this.#hasSpoken = true;
    this.#idle.wait();
    this.#usage.expire();
    clearTimeout(this.#away);
    const { session } = this.#wired;
    // A question must not wait for it.
    if (session.target.isNear) session.restSummaries.stop();
  }

  /** A server with one place for a prompt would forget that of the conversation, so there it waits until the server has forgotten it anyway. */
  #summariseLater(): void {
    clearTimeout(this.#away);
    const { restSummaries, target } = this.#wired.session;
    const forgotten = target.isSingle ? (target.rest?.cache_life ?? 0) : 0;
    if (forgotten > LONGEST) return;
    this.#away = setTimeout(() => restSummaries.begin(true), Math.max(AWAY, forgotten));
    this.#away.unref();
  }
}
