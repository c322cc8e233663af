import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { HistoryStore } from '../../../lib/history/store.js';
import { keepImage } from '../../../lib/session/images/images.js';
import { openIn, quickFolder } from '../../support/history.js';
import { png } from '../../support/pictures.js';

let folder: string;
let history: HistoryStore;
beforeEach(async () => {
  folder = quickFolder();
  history = await openIn(folder);
});
afterEach(async () => {
  await history.close();
  rmSync(folder, { recursive: true });
});

describe('a picture that a model drew', () => {
  it('is stored with the history and as a file, with the extension of its format', async () => {
    const bytes = png();
    const saved: string[] = [];
    const { part, event } = await keepImage(
      { type: 'image', mime: 'image/jpeg', bytes },
      history,
      async (_, extension) => {
        saved.push(extension);
        return { name: 'cat.png', path: '/there/cat.png' };
      },
    );
    const { sha256 } = part;
    expect(part).toEqual({ type: 'image', mime: 'image/png', sha256, bytes: bytes.length, name: 'cat.png' });
    expect(event).toEqual({ type: 'image', path: '/there/cat.png', mime: 'image/png', bytes: bytes.length });
    expect(await history.attachments.get(sha256)).toEqual(bytes);
    expect(saved).toEqual(['png']);
  });

  it.each([
    ['image/jpeg', 'jpg'],
    ['image/svg+xml', 'svg'],
    ['image/webp', 'webp'],
    ['application/octet-stream', 'bin'],
  ])('of type %s has the extension %s if its bytes do not say', async (mime, extension) => {
    const saved: string[] = [];
    const drawing = { type: 'image', mime, bytes: Buffer.from('a drawing'), opaque: { id: 'x' } } as const;
    const { part } = await keepImage(drawing, history, async (_, name) => {
      saved.push(name);
      return { name: `a.${name}`, path: `/a.${name}` };
    });
    expect([saved, part.mime, part.opaque]).toEqual([[extension], mime, { id: 'x' }]);
  });

  it('is in the history even if no file can be written, and off the record in neither', async () => {
    const drawing = { type: 'image', mime: 'image/png', bytes: png() } as const;
    const failed = await keepImage(drawing, history, async () => ({ reason: 'the disk is full' }));
    const text = 'The picture is in the history, but could not be saved: the disk is full';
    expect(failed.event).toEqual({ type: 'notice', level: 'warning', text });
    expect(failed.part).not.toHaveProperty('name');
    expect(failed.part).not.toHaveProperty('opaque');
    await history.goOffRecord();
    let saves = 0;
    const off = await keepImage(drawing, history, async () => {
      saves += 1;
      return { name: 'a', path: 'a' };
    });
    expect(off.event).toMatchObject({ text: 'The picture is not kept: the chat is off the record.' });
    expect(saves).toBe(0);
  });
});
