import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../../../../lib/chat/event.js';
import { CoalescedStream } from '../../../../lib/providers/common/stream.js';
import fc from '../../../support/properties.js';

const event: fc.Arbitrary<StreamEvent> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('text' as const), text: fc.string() }) },
  fc.record({ type: fc.constant('thinking' as const), text: fc.string() }),
  fc.record({ type: fc.constant('notice' as const), text: fc.string() }),
);

/** The same events with neighbours of one kind put together, however they were cut. */
function joined(events: readonly StreamEvent[]): readonly string[] {
  const lines: string[] = [];
  let last = '';
  for (const one of events) {
    const text = 'text' in one ? one.text : '';
    if (one.type === last && one.type !== 'notice') lines[lines.length - 1] += text;
    else lines.push(`${one.type} ${text}`);
    last = one.type;
  }
  return lines;
}

async function* stream(events: readonly (StreamEvent | 'pause')[], failure: Error | null): AsyncGenerator<StreamEvent> {
  for (const one of events) {
    if (one === 'pause') await new Promise((resolve) => setTimeout(resolve));
    else yield one;
  }
  if (failure) throw failure;
}

describe('coalesced events', () => {
  it('are the same events in the same order, and a failure follows all of them', async () => {
    const mixed = fc.array(fc.oneof({ weight: 20, arbitrary: event }, fc.constant('pause' as const)), {
      maxLength: 300,
    });
    await fc.assert(
      fc.asyncProperty(mixed, fc.boolean(), async (events, fails) => {
        const gathered = new CoalescedStream((one) => one);
        const failure = fails ? new Error('cut') : null;
        const reading = gathered.fill(stream(events, failure));
        const got: StreamEvent[] = [];
        let thrown: unknown = null;
        try {
          for (let some = await gathered.take(); some !== null; some = await gathered.take()) got.push(...some);
        } catch (error) {
          thrown = error;
        }
        await reading;
        expect(joined(got)).toEqual(joined(events.filter((one) => one !== 'pause')));
        expect(thrown).toBe(failure);
      }),
      { numRuns: 200 },
    );
  });

  it('arrive at once if they come one by one, and block the producer if nobody reads them', async () => {
    let brought = 0;
    async function* endless(): AsyncGenerator<StreamEvent> {
      for (;;) {
        brought += 1;
        yield { type: 'text', text: 'x' };
      }
    }
    const gathered = new CoalescedStream((one) => one);
    const reading = gathered.fill(endless());
    expect(await gathered.take()).toEqual([{ type: 'text', text: 'x' }]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(brought).toBeLessThan(100);
    gathered.close();
    await reading;
  });

  it('are not read ahead behind a large one, which would fill the memory', async () => {
    const page = 'x'.repeat(20_000);
    let brought = 0;
    async function* endless(): AsyncGenerator<StreamEvent> {
      for (;;) {
        brought += 1;
        yield { type: 'text', text: page };
      }
    }
    const gathered = new CoalescedStream((one) => one);
    const reading = gathered.fill(endless());
    for (let taken = 1; taken < 5; taken += 1) {
      expect(await gathered.take()).toEqual([{ type: 'text', text: page }]);
      await new Promise((resolve) => setTimeout(resolve));
      expect(brought).toBe(taken);
    }
    gathered.close();
    await reading;
  });
});
