import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import * as bytes from '../../lib/history/file/codec.js';
import { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';

/** One thing done to the file, in the order it was done. */
type Done =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'cut'; readonly size: number }
  | { readonly kind: 'flush' };

const done: Done[] = [];

// Passes everything on to the disk and remembers it, so that any part of it can be undone as a power cut does.
jest.unstable_mockModule('../../lib/history/file/codec.js', () => ({
  ...bytes,
  writeAt(file: number, content: Uint8Array, offset: number) {
    done.push({ kind: 'write', offset, bytes: Buffer.from(content) });
    bytes.writeAt(file, content, offset);
  },
  truncateFile(file: number, size: number) {
    done.push({ kind: 'cut', size });
    bytes.truncateFile(file, size);
  },
  syncData(file: number) {
    done.push({ kind: 'flush' });
    bytes.syncData(file);
  },
  async syncDataAsync(file: number) {
    done.push({ kind: 'flush' });
    await bytes.syncDataAsync(file);
  },
}));

const { answers, archived, fileIn, openIn, printed, quickFolder, says } = await import('../support/history.js');

/** A disk writes sectors, each of them whole or not. */
const SECTOR = 512;

/**
 * How much of a write a power cut left: all, none, its beginning, its end, or any sectors of it; what is missing is as
 * it was or zero.
 */
function torn(
  file: Buffer,
  { offset, bytes: content }: Extract<Done, { kind: 'write' }>,
  random: () => number,
): Buffer {
  const grown = Buffer.concat([file, Buffer.alloc(Math.max(0, offset + content.length - file.length))]);
  const way = Math.floor(random() * 5);
  const zero = random() < 0.3;
  const border = Math.floor(random() * content.length);
  for (let at = 0; at < content.length; ) {
    const next = Math.min(content.length, at + SECTOR - ((offset + at) % SECTOR));
    const left =
      way === 0 || (way === 1 && at < border) || (way === 2 && at >= border) || (way === 3 && random() < 0.5);
    if (left) content.copy(grown, offset + at, at, next);
    else if (zero && way !== 4) grown.fill(0, offset + at, offset + next);
    at = next;
  }
  return grown;
}

function applied(file: Buffer, step: Done): Buffer {
  if (step.kind === 'flush') return file;
  if (step.kind === 'cut') return file.subarray(0, step.size);
  const grown = Buffer.concat([file, Buffer.alloc(Math.max(0, step.offset + step.bytes.length - file.length))]);
  step.bytes.copy(grown, step.offset);
  return grown;
}

/** A file as a power cut leaves it: what was flushed is there, of everything later any part. */
function afterPowerCut(before: Buffer, past: readonly Done[], random: () => number): Buffer {
  const flushed = past.findLastIndex(({ kind }) => kind === 'flush') + 1;
  let file = past.slice(0, flushed).reduce(applied, before);
  for (const step of past.slice(flushed)) {
    if (step.kind === 'write') file = torn(file, step, random);
    else if (random() < 0.5) file = applied(file, step);
  }
  return file;
}

// Many processes and files on what may be a busy machine.
jest.setTimeout(180_000);

describe('a history after a power cut', () => {
  it('contains every accepted message, whatever part of the last writes reached the disk', async () => {
    const folder = quickFolder();
    const store = await openIn(folder);
    const said: Entry[] = [];
    let [state, cuts, repaired, seals] = [1, 0, 0, 0];
    const random = (): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    for (let round = 1; round <= 50; round += 1) {
      const asked = await store.begin(says(`question ${round}`));
      said.push(asked);
      const before = readFileSync(fileIn(folder));
      done.length = 0;
      const answer = await store.append(asked.id, [
        answers(prose(round % 7 === 0 ? 40_000 : 300 * (round % 9), round)),
      ]);
      const steps = [...done];
      const sealed = steps.length > 10;
      seals += sealed ? 1 : 0;
      for (let cut = 0; cut < cases(sealed ? 4 : 1); cut += 1) {
        const past = steps.slice(0, Math.floor(random() * (steps.length + 1)));
        const accepted = past.some(({ kind }) => kind === 'flush') ? [...said, ...answer] : said;
        const place = quickFolder();
        writeFileSync(fileIn(place), afterPowerCut(before, past, random));
        const later = await openIn(place);
        const found = await archived(later);
        const expected = [...said, ...answer].slice(0, Math.max(found.length, accepted.length));
        expect(JSON.stringify(found) === JSON.stringify(expected)).toBe(true);
        expect(JSON.parse(printed(place))).toHaveLength(found.length);
        if (sealed) {
          // Whatever a seal left half done, later ones go on from there.
          for (let more = 0; more < 3; more += 1) found.push(await later.note(says(prose(15_000, more))));
          expect(printed(place) === JSON.stringify(found)).toBe(true);
          expect(await (await openIn(place)).verify()).toEqual({ entries: found.length, problems: [] });
        }
        cuts += 1;
        repaired += later.takeNotices().some((notice) => notice.includes('damaged')) ? 1 : 0;
        await later.close();
        rmSync(place, { recursive: true });
      }
      said.push(...answer);
    }
    // The case is shown only if some cuts did harm, and some fell into a seal.
    expect(seals).toBeGreaterThan(3);
    expect(repaired).toBeGreaterThan(0);
    expect(repaired).toBeLessThan(cuts / 2);
    rmSync(folder, { recursive: true });
  });
});
