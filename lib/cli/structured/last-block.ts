import type { ChatEvent } from '../../chat/event.js';
import { codeBlocks } from '../../chat/text/code-blocks.js';
import { MisfitError } from './ask-structured.js';

/** The same events, with the answer's last code block in place of its text. Throws a `MisfitError` if there is none. An interrupted turn ends unchanged. */
export async function* lastBlock(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    if (event.type === 'text') continue;
    if (event.type === 'turn-end' && event.stop_reason !== 'interrupted')
      yield { type: 'print', text: `${codeIn(event.text)}\n`, exact: true };
    yield event;
  }
}

function codeIn(answer: string): string {
  const block = codeBlocks(answer).at(-1);
  if (block !== undefined) return block.code;
  throw new MisfitError('The answer has no code block.', answer, { hint: 'Its text is above, on stderr.' });
}
