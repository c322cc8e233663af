import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Silence } from '../../../lib/mcp/connection/adapted-client.js';

describe('the silence of a server', () => {
  it('ends a call, but not while the server sends something or the user is asked', async () => {
    const silence = new Silence(400);
    for (let count = 0; count < 4; count += 1) {
      await sleep(150);
      silence.heard();
    }
    expect(silence.signal.aborted).toBe(false);
    silence.pause();
    await sleep(600);
    expect(silence.signal.aborted).toBe(false);
    silence.resume();
    await sleep(700);
    expect(String(silence.signal.reason)).toContain('The call timed out: it was silent for 0.4 s.');
  });

  it('may be interrupted for ten times its limit in total', async () => {
    const silence = new Silence(100);
    const began = Date.now();
    while (!silence.signal.aborted && Date.now() - began < 5000) {
      await sleep(20);
      silence.heard();
    }
    expect(Date.now() - began).toBeGreaterThan(900);
    // A machine that is busy may be late with one of them.
    expect(String(silence.signal.reason)).toContain('The call timed out');
    silence.pause();
  });
});
