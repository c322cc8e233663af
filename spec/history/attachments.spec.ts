import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { processName } from '../../lib/history/lock/holder.js';
import { answers, dataFolder, exchange, openIn, says } from '../support/history.js';

const BYTES = Buffer.from('\u0089PNG and so on');
const HASH = '3b3d4ac3e6d7b5f1e2a2a38b0b4f1e2f';

describe('an attachment', () => {
  it('is kept by its hash, once, and found by later processes', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const sha256 = await store.attachments.add(BYTES);
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(await store.attachments.add(BYTES)).toBe(sha256);
    await store.begin({
      ...says('look'),
      content: [{ type: 'image', mime: 'image/png', sha256, bytes: BYTES.length }],
    });
    expect(readdirSync(join(folder, 'attachments'))).toEqual([sha256]);
    expect(await (await openIn(folder)).attachments.get(sha256)).toEqual(BYTES);
  });

  it('that is missing or altered is reported as missing, until the same bytes are attached again', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    expect(await store.attachments.get(HASH)).toBeNull();
    const sha256 = await store.attachments.add(BYTES);
    writeFileSync(join(folder, 'attachments', sha256), 'something else');
    expect(await store.attachments.get(sha256)).toBeNull();
    await store.attachments.add(BYTES);
    expect(await store.attachments.get(sha256)).toEqual(BYTES);
  });

  it('stays for the copy that a reset keeps, and is removed for good by the next reset', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const sha256 = await store.attachments.add(BYTES);
    await store.note({ ...says('look'), content: [{ type: 'image', mime: 'image/png', sha256, bytes: BYTES.length }] });
    await store.reset({ purge: false });
    await store.undoReset();
    expect(await store.attachments.get(sha256)).toEqual(BYTES);
    await store.reset({ purge: false });
    await exchange(store, 'one', 'two');
    await store.reset({ purge: false });
    expect(await store.attachments.get(sha256)).toBeNull();
  });

  it('moves along if its turn continues in a new conversation', async () => {
    const folder = dataFolder();
    const [store, other] = [await openIn(folder), await openIn(folder)];
    const sha256 = await store.attachments.add(BYTES);
    const image = { type: 'image', mime: 'image/png', sha256, bytes: BYTES.length } as const;
    const asked = await store.begin({ ...says('look'), content: [image] });
    await other.reset({ purge: false });
    await store.append(asked.id, [answers('I see.')]);
    await other.reset({ purge: false });
    await other.undoReset();
    expect(other.entries).toMatchObject([{ content: [image] }, { role: 'assistant' }]);
    await other.reset({ purge: false });
    await exchange(store, 'new', 'yes');
    await other.undoReset();
    expect(await other.attachments.get(sha256)).toEqual(BYTES);
  });

  it('moves along if the conversation is cleared before it is sent', async () => {
    const folder = dataFolder();
    const [store, other] = [await openIn(folder), await openIn(folder)];
    await exchange(other, 'one', 'two');
    const sha256 = await store.attachments.add(BYTES);
    await other.reset({ purge: false });
    await store.note({ ...says('look'), content: [{ type: 'image', mime: 'image/png', sha256, bytes: BYTES.length }] });
    await other.reset({ purge: false });
    await other.undoReset();
    expect(await other.attachments.get(sha256)).toEqual(BYTES);
    expect(readdirSync(join(folder, 'attachments'))).toEqual([sha256]);
  });

  it('that no message refers to is removed when the next one is attached', async () => {
    const folder = dataFolder();
    const store = await openIn(folder);
    const sent = await store.attachments.add(BYTES);
    await store.note({
      ...says('look'),
      content: [{ type: 'image', mime: 'image/png', sha256: sent, bytes: BYTES.length }],
    });
    const attachments = join(folder, 'attachments');
    const lost = 'f'.repeat(64);
    // As a process leaves it that was killed between the two: its number is no process of this machine.
    const [place] = processName().split('.');
    for (const name of [lost, `${lost}.${place}.999999999.1`]) writeFileSync(join(attachments, name), 'lost');
    const next = await store.attachments.add(Buffer.from('another'));
    expect(readdirSync(attachments).sort()).toEqual([sent, next, `${next}.${processName()}`].sort());
  });

  it('of an ephemeral history stays in memory', async () => {
    const folder = dataFolder();
    const store = await openIn(folder, { ephemeral: true });
    expect(await store.attachments.get(await store.attachments.add(BYTES))).toEqual(BYTES);
    expect(readdirSync(folder)).toEqual([]);
  });
});
