import { factsToReview } from '../memory/memory-text.js';
import type { SlashCommand, SlashContext, SlashEvent } from './common/command.js';

const REVIEW = 'review';

/**
 * `/memory`: opens the memory in the user's editor. `review` offers preferences and decisions from summaries for it,
 * each once.
 */
export const slashMemory: SlashCommand = {
  name: 'memory',
  usage: '/memory [review]',
  summary: 'edit the memory, or review what to add from summaries',
  options: [REVIEW],
  complete: async (typed) => [REVIEW].filter((word) => word.startsWith(typed)),
  async *run(argument, context) {
    yield* argument === REVIEW ? review(context) : editAll(context);
  },
};

async function* editAll({ memory, desk }: SlashContext): AsyncGenerator<SlashEvent> {
  const { file } = await memory();
  const original = file.read();
  const edited = await desk.edit(original);
  if (edited === null) return yield { type: 'print', text: 'Nothing changed.' };
  const { after } = await file.edit(original, edited);
  const { sentMemory, MEMORY_LIMIT } = await import('../memory/memory-text.js');
  const { tokens, leftOutFrom } = sentMemory(after);
  const size = `${tokens} of ${MEMORY_LIMIT} tokens`;
  if (leftOutFrom === null)
    return yield { type: 'print', text: `Saved: ${size}. It takes effect with the next message.` };
  const text = `Saved, but it has ${size}: line ${leftOutFrom} and everything after it is not sent. To shorten it, type: /memory`;
  yield { type: 'notice', level: 'warning', text };
}

async function* review({ memory, session, ask }: SlashContext): AsyncGenerator<SlashEvent> {
  await session.history.refresh();
  const { file, origin } = await memory();
  const facts = factsToReview(session.history.entries, file.read());
  let kept = 0;
  for (const fact of facts) {
    const rests = fact.isForeign ? ' Part of it comes from tools, files or web pages.' : '';
    if (await ask.confirm(`Always keep in mind: "${fact.text}"?${rests}`, '/memory opens it in the editor.')) {
      await file.keep(fact.text, { ...origin('record'), ...(fact.isForeign && { foreign: true }) });
      kept += 1;
    }
    await file.noteOffered(fact);
  }
  const text = `Kept ${kept} of ${facts.length}. Those you declined are not offered again.`;
  yield {
    type: 'print',
    text: facts.length === 0 ? 'The summary has no new preference or decision.' : text,
  };
}
