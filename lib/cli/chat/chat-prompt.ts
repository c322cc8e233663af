import { hideHistoryProgress } from '../base/history-progress.js';
import type { WiredSession } from '../wiring/wire.js';
import { AwaySummaries } from './away-summaries.js';
import { promptText } from './greeting.js';
import { IdleIndex } from './idle-index.js';
import type { WindowUsage } from './window-usage.js';

/** So long after the first prompt the servers are started, which by then is on the screen. Milliseconds. */
const SERVERS_BEGIN = 50;

/** The prompt of a chat, and the work that goes on while it waits for the user. */
export class ChatPrompt {
  readonly #wired: WiredSession;
  readonly #usage: WindowUsage;
  readonly #idle: IdleIndex;
  readonly #away: AwaySummaries;
  /** Before the first input nothing is done that the start would have to wait for. */
  #hasSpoken = false;

  constructor(wired: WiredSession, usage: WindowUsage) {
    this.#wired = wired;
    this.#usage = usage;
    this.#idle = new IdleIndex(wired.session);
    this.#away = new AwaySummaries(wired.session);
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
      this.#away.begin();
    }
    return text;
  }

  /** The user entered something, which may change how full the window is. */
  leave(): void {
    this.#hasSpoken = true;
    this.#idle.wait();
    this.#usage.expire();
    this.#away.end();
  }
}
