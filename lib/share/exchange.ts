import { Giving } from './giving.js';
import type { SharedFolder } from './news.js';
import { type ExchangeDeps, Standing } from './standing.js';
import type { MachineState, ShareState } from './state.js';
import { type Arrival, Taking } from './taking.js';

/** Exchanges turns and decisions between the history and a shared folder. Methods throw the system's errors, and `HiError`s of the history. */
export class Exchange {
  readonly #at: Standing;
  readonly #takeIn: Taking;
  readonly #giveOut: Giving;

  constructor(folder: SharedFolder, deps: ExchangeDeps) {
    this.#at = new Standing(folder, deps);
    this.#takeIn = new Taking(this.#at);
    this.#giveOut = new Giving(this.#at);
  }

  /** The id of this machine. */
  get machine(): string {
    return this.#at.folder.machine;
  }

  /** Where this machine stands after the last exchange. */
  get state(): ShareState {
    return this.#at.state;
  }

  /** The other machines, by the names that they have here. */
  get others(): readonly MachineState[] {
    return this.#at.others;
  }

  /** Takes in what the other machines have given out. */
  async takeIn(): Promise<readonly Arrival[]> {
    await this.#at.begin();
    if (this.#at.inOwnFiles !== null) return await this.#both();
    const before = JSON.stringify(this.#at.state);
    const arrivals = await this.#takeIn.takeAll();
    if (before !== JSON.stringify(this.#at.state)) await this.#at.locked(() => undefined);
    return arrivals;
  }

  /** Gives out what is new here. */
  async giveOut(): Promise<void> {
    await this.#at.begin();
    if (this.#at.inOwnFiles === null) await this.#giveOut.give();
    else await this.#both();
  }

  /** Does both after reading everything again, in the folder and in the history. */
  async repair(): Promise<readonly Arrival[]> {
    this.#at.inFiles = new Set();
    await this.#at.readAll();
    return await this.#both();
  }

  async #both(): Promise<readonly Arrival[]> {
    const arrivals = await this.#takeIn.takeAll();
    await this.#giveOut.give();
    return arrivals;
  }
}
