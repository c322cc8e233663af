import { HiError } from '../errors.js';
import type { SlashCommand } from './common/command.js';

/** `/queue`: the questions that wait for a server. */
export const slashQueue: SlashCommand = {
  name: 'queue',
  usage: '/queue [send|drop]',
  summary: 'list the questions that wait; send them, or drop number N',
  async *run(argument, { desk }, signal) {
    const [word = '', which] = argument.split(/\s+/);
    const waiting = desk.queue.list();
    if (word === '' && waiting.length === 0) return yield { type: 'print', text: 'No question waits.' };
    if (word === '') {
      const rows = waiting.map(({ line }, at) => `${at + 1}  ${line}`);
      return yield { type: 'print', text: `${rows.join('\n')}\n/queue send asks them now.` };
    }
    if (word === 'send') return yield* desk.queue.send(signal);
    const chosen = waiting[Number(which) - 1];
    if (word !== 'drop' || chosen === undefined)
      throw new HiError('usage', `No question of the queue: '${argument}'.`, {
        hint: 'Type: /queue, /queue send, /queue drop 1',
      });
    desk.queue.remove(chosen.id);
    yield { type: 'print', text: `Dropped: ${chosen.line}` };
  },
};
