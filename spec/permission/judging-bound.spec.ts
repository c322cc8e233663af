import { describe, expect, it } from '@jest/globals';
import { excessOf, excessOfParts, inTime, isStackOverflow } from '../../lib/permission/access.js';
import { judgeWith } from '../support/judging.js';

describe('a command that is too complex to judge', () => {
  it('is too long, nested too deeply, or has too many words or parts', () => {
    expect([excessOf('x'.repeat(64 * 1024)), excessOf('x'.repeat(64 * 1024 + 1))]).toEqual([
      null,
      'it is longer than 64 KiB, too long to judge',
    ]);
    for (const one of ['$(', '${', '$[', '<(', '>(', '`', '<<']) {
      expect([one, excessOf(one.repeat(1000))]).toEqual([one, null]);
      expect([one, excessOf(one.repeat(1001))]).toEqual([one, 'it is nested too deeply to judge']);
    }
    expect(excessOf('( [ { $x < > '.repeat(2000))).toBeNull();
    const tooMany = 'it has too many words to check';
    expect([excessOfParts(2000, 1000), excessOfParts(2001, 1), excessOfParts(1, 1001)]).toEqual([
      null,
      tooMany,
      tooMany,
    ]);
  });

  it('is asked about, even with a rule that covers everything', async () => {
    const judge = judgeWith({ allow: ['bash'] });
    for (const [command, reason] of [
      [`echo ${'x'.repeat(70_000)}`, 'it is longer than 64 KiB, too long to judge'],
      [`echo ${'$('.repeat(1001)}`, 'it is nested too deeply to judge'],
      [`ls ${'a '.repeat(2100)}`, 'it has too many words to check'],
      ['ls;'.repeat(1100), 'it has too many words to check'],
    ] as const)
      expect([command.slice(0, 9), await judge(command)]).toMatchObject([
        command.slice(0, 9),
        { decision: 'ask', reason, rule: null },
      ]);
  });

  it('is recognised by an overflow of the parser’s stack, and by no other error', () => {
    expect(isStackOverflow(new RangeError('Maximum call stack size exceeded'))).toBe(true);
    expect([new RangeError('Invalid array length'), new Error('call stack'), null].map(isStackOverflow)).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('the time limit of a judgement', () => {
  it('ends with the result, and aborts the work still running for it', async () => {
    let ended = false;
    const judging = async (signal: AbortSignal): Promise<string> => {
      signal.addEventListener('abort', () => {
        ended = true;
      });
      return 'yes';
    };
    expect([await inTime(judging, new AbortController().signal), ended]).toEqual(['yes', true]);
    const failing = inTime(async () => await Promise.reject(new Error('no')), new AbortController().signal);
    await expect(failing).rejects.toThrow('no');
  });

  it('is three seconds at most', async () => {
    const began = Date.now();
    expect(await inTime(() => new Promise(() => undefined), new AbortController().signal)).toBeNull();
    expect(Date.now() - began).toBeGreaterThan(2900);
  });

  it('ends early if the user interrupts', async () => {
    const stop = new AbortController();
    const judging = inTime(() => new Promise(() => undefined), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(judging).rejects.toMatchObject({ name: 'AbortError' });
  });
});
