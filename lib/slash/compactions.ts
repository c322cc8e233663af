import { ARRIVAL, type CompressBlock } from '../chat/entry.js';
import { quantity } from '../chat/text.js';
import { shortCount } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import { compactionsOf, takenBack } from '../session/compactions.js';
import type { SlashCommand } from './common/command.js';

/** `/compactions`: lists what each compaction did, or shows one with its summary. */
export const slashCompactions: SlashCommand = {
  name: 'compactions',
  usage: '/compactions [#ID]',
  summary: 'list the compactions, or show the summary of one',
  async *run(argument, { session, prices, now }) {
    const blocks = await compactionsOf(session.history);
    if (argument !== '') return yield { type: 'entry', entry: chosen(blocks, argument), now: now(), hasId: true };
    const taken = takenBack(blocks);
    const costs = await prices.compactions(blocks);
    const rows = blocks
      .filter(({ restores }) => restores === undefined)
      .map((block) => `${rowOf(block, costs.get(block.id) ?? null)}${taken.has(block.id) ? ' · undone' : ''}`);
    yield { type: 'print', text: rows.length === 0 ? 'There are no compactions yet.' : rows.join('\n') };
  },
};

/** The compaction with that id, `#57` or `57`. */
function chosen(blocks: readonly CompressBlock[], argument: string): CompressBlock {
  const [, id] = /^#?(\d+)$/.exec(argument) ?? [];
  const block = blocks.find((one) => one.id === Number(id));
  if (block !== undefined) return block;
  throw new HiError('usage', `There is no compaction '${argument}'.`, { hint: 'List them with: /compactions' });
}

/**
 * `#57 · 2026-11-23 10:02 · 42 messages replaced, 6 kept from #40 on · 101k → 14k tokens · summary, by gpt-5-mini, 3.1k
 * + 400 tokens, about $0.0016`.
 */
function rowOf(block: CompressBlock, cost: string | null): string {
  const { id, at, messages_compacted, messages_kept, first_kept, tokens_before, tokens_after } = block;
  const when = new Date(at);
  const kept = `${messages_kept} kept${first_kept === null ? '' : ` from #${first_kept} on`}`;
  return [
    `#${id}`,
    `${when.toLocaleDateString('sv')} ${when.toLocaleTimeString('sv', { hour: '2-digit', minute: '2-digit' })}`,
    `${quantity(messages_compacted, 'message')} replaced, ${kept}`,
    `${shortCount(tokens_before)} → ${shortCount(tokens_after)} tokens`,
    `${howOf(block)}${cost === null ? '' : `, ${cost}`}`,
  ].join(' · ');
}

function howOf({ source, strategy, model, usage }: CompressBlock): string {
  if (strategy === ARRIVAL) return 'much arrived from other machines';
  if (source === 'fallback') return `${strategy}, because no summary could be written`;
  const writer = model === undefined ? '' : `, by ${model}`;
  const used =
    usage === undefined ? '' : `, ${shortCount(usage.input_tokens)} + ${shortCount(usage.output_tokens)} tokens`;
  return `${strategy}${source === 'cache' ? ', from the cache' : ''}${writer}${used}`;
}
