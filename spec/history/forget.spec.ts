import { rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import type { NewCompressBlock } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import { archived, exchange, openIn, quickFolder } from '../support/history.js';

const SIZES = { messages_compacted: 2, messages_kept: 0, tokens_before: asTokens(9), tokens_after: asTokens(1) };

it('drops a summary that was being written while another process forgot its sources', async () => {
  const folder = quickFolder();
  try {
    const [store, other] = [await openIn(folder), await openIn(folder)];
    await exchange(store, 'my word is xyzzy', 'noted');
    await exchange(store, 'and more', 'of course');
    const events: string[] = [];
    const written = store.compact(
      null,
      async function* (): AsyncGenerator<never, NewCompressBlock> {
        await other.forget({ kind: 'text', text: 'xyzzy' }, () => undefined);
        const content = 'They spoke of xyzzy.';
        return { type: 'compress', content, strategy: 'summary', source: 'model', first_kept: null, ...SIZES };
      },
      'keep',
    );
    for await (const event of written) if (event.type === 'notice') events.push(event.text);
    expect(events).toEqual(['Another hi forgot a part of the conversation meanwhile.']);
    expect(JSON.stringify(await archived(store))).not.toContain('xyzzy');
    await Promise.all([store.close(), other.close()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('waits while something is read that must stay', async () => {
  const folder = quickFolder();
  try {
    const [store, other] = [await openIn(folder), await openIn(folder)];
    await exchange(store, 'my word is xyzzy', 'noted');
    const order: string[] = [];
    let forgetting: Promise<unknown> = Promise.resolve();
    await store.undisturbed(async () => {
      forgetting = other.forget({ kind: 'text', text: 'xyzzy' }, () => void order.push('forgotten'));
      await delay(100);
      // Such work may have a part that is such work.
      await store.undisturbed(async () => order.push('read'));
    });
    await forgetting;
    expect(order).toEqual(['read', 'forgotten']);
    await Promise.all([store.close(), other.close()]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
