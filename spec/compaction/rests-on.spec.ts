import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type CompressBlock, isForeignBlock, type NewCompressBlock } from '../../lib/chat/entry.js';
import type { Part } from '../../lib/chat/message.js';
import { restOf, stateOf } from '../../lib/view/block-state.js';
import { inputFor, pass, SETTINGS } from '../support/compaction.js';
import { Log } from '../support/log.js';
import { partsOf, scripted } from '../support/summarisers.js';

const PLANTED = 'PLANTED';
const text = (words: string): Part => ({ type: 'text', text: words });

/** What a conversation is made of. Those that bring in others' words say so. */
const STEPS: Readonly<Record<string, (log: Log, number: number) => void>> = {
  talk: (log, number) => void log.exchange(`Question KEY-${number} ${'more '.repeat(40)}`, 'An answer. '.repeat(40)),
  tool(log) {
    log.user('Look it up.');
    log.tools(PLANTED);
    log.answer('It is there.');
  },
  file(log) {
    log.user('', { content: [text(`<file>${PLANTED}</file>`), text('What is that?')] });
    log.answer('A file.');
  },
  web(log) {
    log.user('Search.');
    log.answer(PLANTED, { sources: [] });
  },
  command: (log) =>
    void log.user(`I ran this command myself: cat\n\n<output>\n${PLANTED}\n</output>`, { stop_reason: 'end' }),
};

/** Copies whatever it reads that matters, so that it misses nothing that was planted. */
const copying = () =>
  scripted((prompt) => {
    const { earlier, facts, conversation } = partsOf(prompt);
    const all = `${earlier} ${facts} ${conversation}`;
    const keys = [...new Set(conversation.match(/KEY-\d+/g) ?? [])];
    const prose = all.includes(PLANTED) ? `They talked of ${PLANTED}.` : 'They talked.';
    const planted = conversation.includes(PLANTED) ? [`- pref: ${PLANTED}`] : [];
    return `=== SUMMARY ===\n${prose}\n=== NEW FACTS ===\n${[...keys.map((key) => `- fact: ${key}`), ...planted].join('\n')}\n`;
  });

async function compacted(log: Log, strategy: string): Promise<CompressBlock | null> {
  const { block } = await pass(inputFor(log, { settings: { ...SETTINGS, keep_recent: 2, strategy } }), [copying()]);
  return block === null ? null : log.block(block);
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.constant('talk') },
  { weight: 1, arbitrary: fc.constantFrom('tool', 'file', 'web', 'command') },
  { weight: 2, arbitrary: fc.constantFrom('summary', 'replace', 'truncate') },
);

describe('what a summary rests on', () => {
  it('has the lowest origin of its sources, in every later summary too; each fact keeps its own', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const log = new Log();
        const ownFacts = new Set<string>();
        for (const [number, name] of steps.entries()) {
          STEPS[name]?.(log, number);
          const block = name in STEPS ? null : await compacted(log, name);
          if (block === null) continue;
          const isPlanted = JSON.stringify(log.entries).includes(PLANTED);
          if (block.content.includes(PLANTED)) expect(block.rests_on).toBe('foreign');
          if (!isPlanted && block.content !== '') expect(block.rests_on).toBe('own');
          for (const fact of stateOf(block).facts) {
            if (fact.text.includes(PLANTED)) expect(restOf(fact, block)).toBe('foreign');
            if (!isPlanted) ownFacts.add(fact.text);
            if (ownFacts.has(fact.text)) expect(restOf(fact, block)).toBe('own');
          }
        }
      }),
    );
  });

  it('is unknown for a block that does not say', () => {
    const block = { content: 'They talked.' };
    const rests = (more: Partial<NewCompressBlock>) => isForeignBlock({ ...block, ...more });
    expect([rests({}), rests({ rests_on: 'foreign' }), rests({ rests_on: 'own' }), rests({ content: '' })]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
