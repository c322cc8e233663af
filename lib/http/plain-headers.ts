/** The types that headers can be created from (WHATWG Fetch, HeadersInit). */
type Init = Iterable<readonly [string, string]> | Readonly<Record<string, string>> | null | undefined;

/**
 * The part of the Fetch standard's `Headers` that the SDKs use: names ignore case, and several values of one name are joined with commas. Unlike the standard,
 * fields keep the order in which they were added. `node:http` checks the values when it sends them.
 */
export class PlainHeaders {
  readonly #fields = new Map<string, string>();

  constructor(init?: Init) {
    for (const [name, value] of pairs(init ?? {})) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#fields.set(name.toLowerCase(), String(value));
  }

  get(name: string): string | null {
    return this.#fields.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#fields.delete(name.toLowerCase());
  }

  forEach(callback: (value: string, name: string, headers: PlainHeaders) => void): void {
    for (const [name, value] of this.#fields) callback(value, name, this);
  }

  getSetCookie(): string[] {
    const cookies = this.get('set-cookie');
    return cookies === null ? [] : [cookies];
  }

  keys(): MapIterator<string> {
    return this.#fields.keys();
  }

  values(): MapIterator<string> {
    return this.#fields.values();
  }

  entries(): MapIterator<[string, string]> {
    return this.#fields.entries();
  }

  [Symbol.iterator](): MapIterator<[string, string]> {
    return this.entries();
  }
}

function pairs(init: NonNullable<Init>): Iterable<readonly [string, string]> {
  return isIterable(init) ? init : Object.entries(init);
}

function isIterable(init: NonNullable<Init>): init is Iterable<readonly [string, string]> {
  return Symbol.iterator in init;
}
