import { isMessage } from '../chat/entry.js';
import type { Part } from '../chat/message.js';
import { nextThinking, THINKING_LEVELS, type ThinkingLevel } from '../chat/model.js';
import { HiError } from '../errors.js';
import { pick } from '../registry.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './common/command.js';

const LEVELS: readonly { readonly name: string; readonly level: ThinkingLevel | null }[] = [
  ...THINKING_LEVELS.map((level) => ({ name: level, level })),
  { name: 'default', level: null },
];

/** Least thinking first, unlike a list of names. */
const BY_DEPTH = `Known: ${LEVELS.map(({ name }) => name).join(', ')}.`;

const SHOW = 'show';

/**
 * `/think`: shows how hard the model thinks, or changes it for the rest of the chat; `/think show` prints its thoughts
 * in the last turn.
 */
export const slashThink: SlashCommand = {
  name: 'think',
  usage: '/think [level|show]',
  summary: 'show or set how hard the model thinks; show its thoughts',
  complete: async (typed) => [...LEVELS.map(({ name }) => name), SHOW].filter((name) => name.startsWith(typed)),
  async *run(argument, { session }) {
    if (argument === SHOW) return yield { type: 'text', text: lastThoughts(session) };
    if (argument !== '') session.useThinking(pick(LEVELS, argument, 'level of thinking', 'usage', BY_DEPTH).level);
    const { thinking, target } = session;
    if (thinking === null) return yield { type: 'print', text: `Thinking: the default of ${target.model}.` };
    const taken = nextThinking(thinking, target.memory.facts);
    const instead =
      taken === thinking ? '' : ` ${target.model} does not support it: ${taken ?? 'its default'} is used.`;
    yield { type: 'print', text: `Thinking: ${thinking}.${instead}` };
  },
};

/** The model's thoughts in the last turn that has any. */
function lastThoughts(session: Session): string {
  const thoughtful = session.history.entries.filter(isMessage).filter(({ content }) => thoughtsIn(content) !== '');
  const turn = thoughtful.at(-1)?.turn;
  const texts = thoughtful.filter((message) => message.turn === turn).map(({ content }) => thoughtsIn(content));
  if (texts.length > 0) return texts.join('\n\n');
  throw new HiError('usage', 'No thoughts to show.', {
    hint: 'The model did not think, or its provider does not show thoughts.',
  });
}

const thoughtsIn = (content: readonly Part[]): string =>
  content
    .map((part) => (part.type === 'thinking' ? part.text.trim() : ''))
    .filter((text) => text !== '')
    .join('\n\n');
