import { Giving } from './giving.js';
import type { ResetItem } from './items.js';
import type { SharedFolder } from './news.js';
import { newId } from './sealed-file.js';
import { type ExchangeDeps, Standing } from './standing.js';
import {
  bar,
  hasReset,
  type MachineState,
  namesIn,
  readBarred,
  rememberReset,
  type ShareState,
  statePaths,
} from './state.js';
import { type Arrival, Taking } from './taking.js';

/**
 * Exchanges turns and decisions between the history and a shared folder. Methods throw the system's errors, and
 * `HiError`s of the history.
 */
export class Exchange {
  readonly #at: Standing;
  readonly #takeIn: Taking;
  readonly #giveOut: Giving;

  /** What came from other machines, also if something failed after that. */
  readonly arrivals: Arrival[] = [];

  /** The machines on which the user has reset all. */
  readonly resetBy: { readonly machine: string; readonly purge: boolean }[] = [];

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
  async takeIn(): Promise<void> {
    await this.#at.begin();
    await this.#at.compareOwn();
    if (this.#at.inOwnFiles !== null) return await this.#both();
    if (!this.#takeIn.isDue) return;
    const before = JSON.stringify(this.#at.state);
    await this.#takeAll();
    if (before !== JSON.stringify(this.#at.state)) await this.#at.locked(() => undefined);
  }

  /** Gives out what is new here. */
  async giveOut(): Promise<void> {
    await this.#at.begin();
    if (this.#at.inOwnFiles === null) await this.#giveOut.give();
    else await this.#both();
  }

  /** Does both after reading everything again, in the folder and in the history. */
  async repair(): Promise<void> {
    this.#at.inFiles = new Set();
    await this.#at.readAll();
    await this.#both();
  }

  async #both(): Promise<void> {
    await this.#takeAll();
    await this.#giveOut.give();
  }

  /** Tells the other machines to reset, after this one was: everything that stays away here. */
  async giveReset(purge: boolean): Promise<void> {
    await this.#at.begin();
    await this.#at.compareOwn();
    await this.#both();
    const paths = statePaths(this.#at.deps.data);
    const item: ResetItem = { kind: 'reset', id: newId(), purge, known: readBarred(paths).toString('base64') };
    rememberReset(paths, item.id);
    await this.#giveOut.giveReset(item);
  }

  async #takeAll(): Promise<void> {
    for (const arrival of await this.#takeIn.takeAll()) this.arrivals.push(arrival);
    const { resets } = this.#takeIn;
    // Those that come with what is read again are looked at, too.
    for (let next = resets.shift(); next !== undefined; next = resets.shift()) {
      if (!(await this.#reset(next.item))) continue;
      this.resetBy.push({ machine: next.machine, purge: next.item.purge });
      this.arrivals.length = 0;
    }
  }

  /** Carries out a reset of all machines. Resolves to false if it was before, or nothing that is meant is here. */
  async #reset({ id, purge, known: encoded }: ResetItem): Promise<boolean> {
    const { deps, accounted } = this.#at;
    const paths = statePaths(deps.data);
    const names = Buffer.from(encoded, 'base64');
    const isMeant = !hasReset(paths, id) && namesIn(names).some((name) => accounted.known.idOf(name) !== null);
    if (isMeant) {
      // What is not meant comes back from the folder. With a state of no folder, a kill from here on lets everything be
      // read again.
      this.#at.state.folder = '';
      await this.#giveOut.give();
      bar(deps.data, names);
      await deps.reset(purge);
    }
    rememberReset(paths, id);
    if (!isMeant) return false;
    await deps.history.refresh();
    await this.#at.readAll();
    await this.#takeIn.takeAll();
    await this.#giveOut.give();
    await this.#giveOut.giveReset(null);
    return true;
  }
}
