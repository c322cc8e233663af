import { createHash } from 'node:crypto';

/** Dollars for a million tokens; a write of null costs what other input does. */
export interface Prices {
  readonly input: number;
  readonly write: number | null;
  readonly slowWrite: number | null;
  readonly read: number;
  readonly output: number;
}

/** A piece of a request in the order in which vendors cache it. */
export interface Piece {
  readonly text: string;
  /** The seconds for which everything up to here is to be kept; null if the request does not say so. */
  readonly kept: number | null;
}

/** The tokens of a request by what they cost. */
export interface Counted {
  readonly read: number;
  readonly written: number;
  readonly writtenSlowly: number;
  readonly rest: number;
}

/** What a vendor holds of earlier requests. */
export interface Cache {
  /** Counts a request, and keeps it. Times are in seconds. */
  take(pieces: readonly Piece[], now: number): Counted;
}

/** Vendors cache no shorter prefix. */
const SHORTEST = 1024;

/** The number of blocks before a breakpoint at which Anthropic looks for an earlier one. */
const LOOK_BACK = 20;

/** What has to be kept longer than five minutes costs more. */
const SHORT_LIFE = 300;

export const tokensOf = (characters: number): number => Math.ceil(characters / 4);

export function dollars({ read, written, writtenSlowly, rest }: Counted, output: number, prices: Prices): number {
  const { input, write, slowWrite } = prices;
  const sum =
    read * prices.read +
    written * (write ?? input) +
    writtenSlowly * (slowWrite ?? write ?? input) +
    rest * input +
    output * prices.output;
  return sum / 1e6;
}

/** Anthropic's: what is marked is kept, and is found again at the block where it ended; each use keeps it anew. */
export class MarkedCache implements Cache {
  /** By prefix, its life and when it ends. */
  readonly #kept = new Map<string, { readonly life: number; readonly end: number }>();

  take(pieces: readonly Piece[], now: number): Counted {
    const ends = prefixesOf(pieces);
    const marked = pieces.flatMap(({ kept }, at) => (kept === null ? [] : [at]));
    const isLive = (at: number): boolean => (this.#kept.get(ends[at]?.prefix ?? '')?.end ?? 0) >= now;
    const found = marked.flatMap((mark) => {
      const near = Array.from({ length: Math.min(LOOK_BACK, mark + 1) }, (_, back) => mark - back);
      return near.find(isLive) ?? [];
    });
    const sizeAt = (at: number): number => tokensOf(ends[at]?.length ?? 0);
    const read = found.reduce((most, at) => Math.max(most, sizeAt(at)), 0);
    const counted = { read, written: 0, writtenSlowly: 0, rest: 0 };
    let done = read;
    for (const at of marked) {
      const [size, life] = [sizeAt(at), pieces[at]?.kept ?? SHORT_LIFE];
      if (size < SHORTEST) continue;
      this.#kept.set(ends[at]?.prefix ?? '', { life, end: now + life });
      counted[life > SHORT_LIFE ? 'writtenSlowly' : 'written'] += Math.max(0, size - done);
      done = Math.max(done, size);
    }
    for (const at of found) {
      const prefix = ends[at]?.prefix ?? '';
      const life = this.#kept.get(prefix)?.life ?? SHORT_LIFE;
      this.#kept.set(prefix, { life, end: now + life });
    }
    return { ...counted, rest: sizeAt(pieces.length - 1) - done };
  }
}

/** The number of requests that are kept. */
const KEPT = 64;

/** That of OpenAI, Gemini and Ollama: the longest beginning that a recent request had too, without being asked to. */
export class PrefixCache implements Cache {
  readonly #life: number;
  readonly #step: number;
  readonly #isWritten: boolean;
  #kept: { readonly text: string; readonly life: number; end: number }[] = [];

  /**
   * `life` in seconds, `step` in tokens: longer beginnings are counted in whole steps. `isWritten`: whether writing is
   * charged.
   */
  constructor({
    life,
    step,
    isWritten,
  }: { readonly life: number; readonly step: number; readonly isWritten: boolean }) {
    this.#life = life;
    this.#step = step;
    this.#isWritten = isWritten;
  }

  take(pieces: readonly Piece[], now: number): Counted {
    const text = pieces.map((piece) => piece.text).join('');
    let longest = 0;
    for (const one of this.#kept) {
      if (one.end < now) continue;
      const same = sameLength(one.text, text);
      if (tokensOf(same) >= SHORTEST) one.end = now + one.life;
      longest = Math.max(longest, same);
    }
    const life = pieces.at(-1)?.kept ?? this.#life;
    if (life > 0) this.#kept = [...this.#kept, { text, end: now + life, life }].slice(-KEPT);
    const all = tokensOf(text.length);
    const same = Math.floor(longest / 4 / this.#step) * this.#step;
    const read = same < SHORTEST ? 0 : same;
    const isKept = this.#isWritten && life > 0 && all >= SHORTEST;
    return { read, written: isKept ? all - read : 0, writtenSlowly: 0, rest: isKept ? 0 : all - read };
  }
}

function sameLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  // Whole blocks first, because a request is long.
  let same = 0;
  for (let block = 65_536; block >= 1; block = Math.floor(block / 4)) {
    while (same + block <= most && one.slice(same, same + block) === other.slice(same, same + block)) same += block;
  }
  return same;
}

function prefixesOf(pieces: readonly Piece[]): readonly { readonly prefix: string; readonly length: number }[] {
  let length = 0;
  const hash = createHash('sha256');
  return pieces.map(({ text }) => {
    length += text.length;
    hash.update(text);
    return { prefix: hash.copy().digest('base64'), length };
  });
}
