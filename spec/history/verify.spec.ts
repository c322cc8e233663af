import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { frameAt } from '../../lib/history/file/frames.js';
import { exchange, fileIn, openIn, quickFolder, says, zstd } from '../support/history.js';
import { prose } from '../support/prose.js';

let folder: string;
beforeEach(() => {
  folder = quickFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Where the frames of the history begin, and whether each holds data. */
function framesOf(bytes: Buffer): readonly { readonly at: number; readonly isData: boolean; readonly magic: number }[] {
  const frames = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt((offset, length) => bytes.subarray(offset, offset + length), at, bytes.length);
    if (frame === null) throw new Error('no frame');
    frames.push({ at, isData: frame.kind === 'data', magic: frame.magic });
    at += frame.size;
  }
  return frames;
}

/** A long conversation; its bytes are handed to `change`, and what is then wrong with it is told. */
async function problems(change: (bytes: Buffer) => Buffer): Promise<readonly string[]> {
  const store = await openIn(folder);
  for (let turn = 0; turn < 6; turn += 1) await exchange(store, `question ${turn}`, prose(100_000, turn));
  await exchange(store, 'short', 'answer');
  expect(await store.verify()).toEqual({ entries: 14, problems: [] });
  const changed = change(readFileSync(fileIn(folder)));
  writeFileSync(fileIn(folder), changed);
  const found = await store.verify();
  expect(readFileSync(fileIn(folder)).equals(changed)).toBe(true);
  await store.close();
  return found.problems;
}

describe('the check of a history', () => {
  it('finds nothing wrong if there is none, and creates none', async () => {
    const store = await openIn(folder);
    expect(await store.verify()).toEqual({ entries: 0, problems: [] });
    expect(statSync(fileIn(folder), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('finds nothing wrong with a file of another program', async () => {
    const store = await openIn(folder);
    const entries = await exchange(store, 'one', 'two');
    await store.close();
    writeFileSync(fileIn(folder), zstd(Buffer.from(JSON.stringify(entries))));
    expect(await (await openIn(folder)).verify()).toEqual({ entries: 2, problems: [] });
  });

  it('names a frame that cannot be decompressed', async () => {
    const found = await problems((bytes) => {
      const [, at = 0] = framesOf(bytes)
        .filter(({ isData }) => isData)
        .map((frame) => frame.at);
      bytes.writeUInt8(bytes.readUInt8(at + 2000) ^ 1, at + 2000);
      return bytes;
    });
    expect(found[0]).toMatch(/^The frame at byte \d+ cannot be decompressed\.$/);
  });

  it('names a file that was cut off', async () => {
    expect(await problems((bytes) => bytes.subarray(0, bytes.length - 700))).not.toEqual([]);
  });

  it('reports entries that are gone but counted in the record', async () => {
    const found = await problems((bytes) => {
      // The last sealed frame becomes space of the same length.
      const frames = framesOf(bytes);
      const sealed = frames.filter(
        ({ isData, magic }, at) => isData && frames[at - 1]?.magic === 0x184d2a52 && magic > 0,
      );
      const { at = 0 } = sealed.at(-1) ?? {};
      const next = frames.find((frame) => frame.at > at)?.at ?? 0;
      bytes.fill(0, at, next);
      bytes.writeUInt32LE(0x184d2a50, at);
      bytes.writeUInt32LE(next - at - 8, at + 4);
      return bytes;
    });
    expect(found.join('\n')).toContain('The record counts entries that are missing.');
    expect(found.join('\n')).toContain('The seek table does not match the frames.');
  });

  it('reports a frame size in the seek table that differs from the frame', async () => {
    const found = await problems((bytes) => {
      const { at = 0 } = framesOf(bytes).at(-1) ?? {};
      bytes.writeUInt32LE(bytes.readUInt32LE(at + 8 + 2 * 8 + 4) + 1, at + 8 + 2 * 8 + 4);
      return bytes;
    });
    expect(found).toEqual(['The seek table does not match the frames.']);
  });

  it('names the attachments that are missing or altered, by their file names', async () => {
    const store = await openIn(folder);
    const [kept, lost, altered] = [
      await store.attachments.add(Buffer.from('kept')),
      await store.attachments.add(Buffer.from('lost')),
      await store.attachments.add(Buffer.from('altered')),
    ];
    await store.note({
      ...says('see'),
      content: [
        { type: 'image', mime: 'image/png', sha256: kept, bytes: 4, name: 'kept.png' },
        { type: 'image', mime: 'image/png', sha256: lost, bytes: 4 },
        { type: 'document', mime: 'application/pdf', sha256: altered, bytes: 7, name: 'plan.pdf' },
      ],
    });
    expect(await store.verify()).toEqual({ entries: 1, problems: [] });
    rmSync(join(folder, 'attachments', lost));
    writeFileSync(join(folder, 'attachments', altered), 'other');
    expect(await store.verify()).toEqual({
      entries: 1,
      problems: [],
      lost: ["image 'image/png'", "document 'plan.pdf'"],
    });
    await store.close();
  });
});
