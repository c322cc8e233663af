import { quantity } from '../chat/text.js';
import { HiError } from '../errors.js';
import { groundLines, indented } from '../recall/show/passage.js';
import { type Grounds, groundsOf, plain, statementsWith } from '../session/grounds.js';
import type { SlashCommand, SlashContext, SlashEvent } from './common/command.js';

/** How many statements are shown. */
const SHOWN = 5;

/** `/why`: shows the messages that a line of the summary is based on. */
export const slashWhy: SlashCommand = {
  name: 'why',
  usage: '/why TEXT',
  summary: 'show the messages a line of the summary is based on',
  takesWords: true,
  async *run(argument, context, signal) {
    const text = /^"(.+)"$/s.exec(argument)?.[1] ?? argument;
    if (text === '') {
      throw new HiError('usage', 'No text given.', { hint: 'Type: /why TEXT, or /why #ID' });
    }
    const { session } = context;
    await session.history.refresh();
    const found = statementsWith(session.history, text);
    if (found === null) return yield { type: 'print', text: 'No summary is in view.' };
    if (found.length === 0) {
      const text = `The summary has no line with '${argument}'. To search the messages: /find TEXT`;
      return yield { type: 'print', text };
    }
    for (const statement of found.slice(0, SHOWN)) yield* shown(statement, context, signal);
    const more = found.length - SHOWN;
    const narrow = more > 0 ? `${quantity(more, 'more line')}; add words to narrow it. ` : '';
    yield { type: 'print', text: `${narrow}To see a message in its place: /history #ID` };
  },
};

async function* shown(statement: string, context: SlashContext, signal: AbortSignal): AsyncGenerator<SlashEvent> {
  const { session, now } = context;
  const grounds = await groundsOf(statement, session.history, await session.finder(), signal);
  yield { type: 'print', text: statement };
  for (const text of notesOn(grounds)) yield { type: 'print', text: `  ${text}` };
  for (const ground of grounds.messages) {
    for (const line of groundLines(ground, plain(statement), now())) {
      const { text, marks } = indented(line);
      yield { type: 'print', text, hits: marks };
    }
  }
}

function notesOn({ isNamed, messages, missing }: Grounds): readonly string[] {
  const ids = missing.map((id) => `#${id}`).join(', ');
  const gone = missing.length === 0 ? [] : [`${ids} ${missing.length === 1 ? 'is' : 'are'} no longer in the history.`];
  if (isNamed) return gone;
  const named = missing.length === 0 ? ['It does not cite a message.'] : gone;
  if (messages.length === 0) return [...named, 'None of the summarised messages matches it.'];
  return [...named, 'The summarised messages that match it best:'];
}
