import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { unzstd } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { cases } from '../support/properties.js';
import { prose } from '../support/prose.js';
import { startScriptedServer } from '../support/scripted-server.js';

/** Never changed by the writers. */
const KEPT = 'the heron is number 4711';

/** The five kinds of searches, and what each says about that message. */
const KINDS: Readonly<Record<string, (home: Home) => Promise<string>>> = {
  recall: (home) => printed(home, 'recall', 'heron', '-n', '1'),
  find: (home) => printed(home, 'history', '--find', 'heron is'),
  rebuild: async (home) => {
    await printed(home, 'recall', '--rebuild');
    return KEPT;
  },
  // Answered so that the answer is no other message with the heron.
  tool: async (home) => (await printed(home, 'ask', 'use the tool')).replace(/^FOUND\n$/, KEPT),
  unasked: (home) => printed(home, 'ask', 'do you remember the keeper of the old lighthouse?'),
};

async function printed(home: Home, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runProgram(home, args);
  // A message of a turn that runs is not forgotten.
  if (status !== 0 && !(args[0] === 'forget' && stderr.includes('is still running')))
    throw new Error(`hi ${args.join(' ')}: ${status} ${stderr}`);
  return stdout;
}

describe('a search beside three writers', () => {
  it('never fails, and each result is that of one moment', async () => {
    const server = await startScriptedServer(({ messages }, index) => {
      const last = JSON.stringify(messages.at(-1)?.content);
      if (last.includes('use the tool') && messages.at(-1)?.role === 'user')
        return { calls: [{ name: 'recall', args: { query: 'heron' } }] };
      if (messages.at(-1)?.role === 'tool') return { text: last.includes(KEPT) ? 'FOUND' : last };
      return { text: last.includes('write much') ? prose(6000, index) : 'ACK' };
    });
    const home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    let isOver = false;
    try {
      await printed(home, 'ask', KEPT);
      const write = async (args: (round: number) => readonly string[]): Promise<void> => {
        for (let round = 0; !isOver; round += 1) await printed(home, ...args(round));
      };
      const writers = [
        write((round) => ['ask', `write much ${round}`]),
        write((round) => ['ask', `the word of round ${round} is walrus. ${prose(200, round)}`]),
        write((round) => (round % 3 === 0 ? ['compact', '--strategy', 'truncate'] : ['forget', '-y', 'walrus'])),
      ];
      const count = Number(process.env.HI_SEARCHES ?? cases(5));
      for (let search = 0; search < count; search += 1) {
        const [kind, run] = Object.entries(KINDS)[search % 5] ?? [];
        const found = (await run?.(home)) ?? '';
        if (kind !== 'unasked')
          expect([kind, found.replaceAll('*', '')]).toEqual([kind, expect.stringContaining(KEPT)]);
      }
      isOver = true;
      await Promise.all(writers);
      expect(unzstd(readFileSync(home.historyFile))).toContain(KEPT);
      expect(await printed(home, 'recall', 'heron', '-n', '1')).toContain('4711');
    } finally {
      isOver = true;
      home.remove();
      await server.close();
    }
    // A search takes four seconds beside three writers on two cores.
  }, 7_200_000);
});
