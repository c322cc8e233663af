/** The bytes of a record: the turn's name, and its id here, 0 for one that must stay away. */
const RECORD = 16;

/** So many names are looked for among all before a table of them is made, which takes as long as fifteen of them. */
const LOOKED_FOR = 15;

/** A stored list, to be read when something has to be looked up in it. */
export interface StoredTurns {
  /** The number of records. */
  readonly count: number;
  /** No id in it is higher. */
  readonly last: number;
  /** The records. Throws the system's error. */
  read(): Buffer;
}

/** So many records are kept beside a list that was not read. */
const BESIDE = 1000;

const NO_TURNS: StoredTurns = { count: 0, last: 0, read: () => Buffer.alloc(0) };

/**
 * The names of all turns that are here, with their ids, and of those that must never come again. Stored as a list of
 * records in order of arrival, and only read and looked through where there is something to look up: a million of them
 * fill 16 MB.
 */
export class KnownTurns {
  /** What is stored, as long as it was not read. */
  #unread: StoredTurns | null;
  /** The records, without the unread ones. */
  #bytes: Buffer = Buffer.alloc(0);
  #count = 0;
  /**
   * The place of each record, plus 1, by its name; 0 where there is none. Twice as long as needed, so that most names
   * are found at once.
   */
  #slots: Int32Array | null = null;
  #lookedFor = 0;
  #stored: number;

  constructor(stored: StoredTurns = NO_TURNS) {
    this.#unread = stored;
    this.#stored = stored.count;
  }

  get count(): number {
    return (this.#unread?.count ?? 0) + this.#count;
  }

  /** How many of them are not kept away. */
  get here(): number {
    this.#read();
    let here = 0;
    for (let at = 0; at < this.#count; at += 1) if (this.#idAt(at) > 0) here += 1;
    return here;
  }

  /** The bytes of so many records. */
  static size(count: number): number {
    return count * RECORD;
  }

  /** The records that were added since they were stored. */
  get added(): Buffer {
    const stored = this.#stored - (this.#unread?.count ?? 0);
    return this.#bytes.subarray(stored * RECORD, this.#count * RECORD);
  }

  get all(): Buffer {
    this.#read();
    return this.#filled;
  }

  /** All records are stored now. */
  stored(): void {
    this.#stored = this.count;
  }

  has(name: string): boolean {
    return this.#find(Buffer.from(name, 'base64url')) !== null;
  }

  /** The id of a turn here; null if it is not here. */
  idOf(name: string): number | null {
    const found = this.#find(Buffer.from(name, 'base64url'));
    return found === null ? null : this.#idAt(found) || null;
  }

  /** The name of the turn with that id; null if there is none. The newest ones are found first. */
  nameOf(id: number): string | null {
    if (this.#unread !== null && id <= this.#unread.last) this.#read();
    for (let at = this.#count - 1; at >= 0; at -= 1) {
      if (this.#idAt(at) === id) return this.#bytes.toString('base64url', at * RECORD, at * RECORD + 8);
    }
    return null;
  }

  /** Adds a turn, or gives a known one another id. */
  add(name: string, id: number): void {
    const key = Buffer.from(name, 'base64url');
    if (this.#unread !== null && (id <= this.#unread.last || this.#count >= BESIDE)) this.#read();
    const found = this.#unread === null ? this.#find(key) : this.#lookFor(key);
    if (found !== null && this.#idAt(found) === id) return;
    if ((this.#count + 1) * RECORD > this.#bytes.length) this.#grow();
    key.copy(this.#bytes, this.#count * RECORD);
    this.#bytes.writeDoubleLE(id, this.#count * RECORD + 8);
    this.#count += 1;
    if (this.#slots !== null) this.#index(this.#count - 1);
  }

  /** The names, 8 bytes each. */
  get names(): Buffer {
    this.#read();
    const names = Buffer.alloc(this.#count * 8);
    for (let at = 0; at < this.#count; at += 1) this.#bytes.copy(names, at * 8, at * RECORD, at * RECORD + 8);
    return names;
  }

  get #filled(): Buffer {
    return this.#bytes.subarray(0, this.#count * RECORD);
  }

  #read(): void {
    if (this.#unread === null) return;
    const before = this.#unread.read();
    this.#unread = null;
    this.#bytes = this.#count === 0 ? before : Buffer.concat([before, this.#filled]);
    this.#count = Math.floor(this.#bytes.length / RECORD);
    this.#lookedFor = 0;
  }

  #grow(): void {
    const larger = Buffer.alloc(Math.max(1024, this.#bytes.length * 2));
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }

  #idAt(record: number): number {
    return this.#bytes.readDoubleLE(record * RECORD + 8);
  }

  #find(name: Buffer): number | null {
    if (this.#unread !== null) {
      // The newest record of a name is the one that counts.
      const found = this.#lookFor(name);
      if (found !== null) return found;
      this.#read();
    }
    if (this.#slots === null && this.#lookedFor < LOOKED_FOR) return this.#lookFor(name);
    const slots = this.#indexed();
    for (let slot = slotOf(name, 0, slots.length); ; slot = (slot + 1) % slots.length) {
      const at = (slots[slot] ?? 0) - 1;
      if (at < 0) return null;
      if (this.#bytes.compare(name, 0, 8, at * RECORD, at * RECORD + 8) === 0) return at;
    }
  }

  #lookFor(name: Buffer): number | null {
    this.#lookedFor += 1;
    const filled = this.#filled;
    let at = filled.lastIndexOf(name);
    // The end of one record and the beginning of the next may be those bytes, too.
    while (at > 0 && at % RECORD !== 0) at = filled.lastIndexOf(name, at - 1);
    return at < 0 ? null : at / RECORD;
  }

  #indexed(): Int32Array {
    if (this.#slots !== null) return this.#slots;
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(4 * this.#count + 64)));
    this.#slots = slots;
    for (let at = 0; at < this.#count; at += 1) this.#index(at);
    return slots;
  }

  /** Enters a record, in place of an earlier one of the same name. */
  #index(record: number): void {
    const slots = this.#indexed();
    if (2 * record >= slots.length) {
      this.#slots = null;
      this.#indexed();
      return;
    }
    const from = record * RECORD;
    for (let slot = slotOf(this.#bytes, from, slots.length); ; slot = (slot + 1) % slots.length) {
      const at = (slots[slot] ?? 0) - 1;
      if (at >= 0 && this.#bytes.compare(this.#bytes, from, from + 8, at * RECORD, at * RECORD + 8) !== 0) continue;
      slots[slot] = record + 1;
      return;
    }
  }
}

const slotOf = (bytes: Buffer, offset: number, slots: number): number => bytes.readUInt32LE(offset) & (slots - 1);
