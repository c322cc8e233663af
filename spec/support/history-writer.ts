import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from './history.js';
import { prose } from './prose.js';

/**
 * Writes to a history until it is killed, and says on stdout what was accepted: a line for each message, its id and
 * text, once it is on disk, and a line before and after each reset. Arguments: the data folder, a seed, how many turns
 * (0: for ever), whether to reset now and then.
 */
const [folder = '', seed = '0', turns = '0', resets = 'no'] = process.argv.slice(2);

const say = (line: object): boolean => process.stdout.write(`${JSON.stringify(line)}\n`);

const store = await HistoryStore.open({ folder, now: () => new Date() });
say({ notices: store.takeNotices() });
for (let turn = 1; turn <= Number(turns) || turns === '0'; turn += 1) {
  const random = (Number(seed) * 7919 + turn) * 2654435761;
  const question = `${seed}/${turn} ${prose((random >>> 5) % 300, turn)}`;
  const answer = prose((random >>> 9) % 5 === 0 ? 30_000 : 900, random);
  const asked = await store.begin(says(question));
  say({ id: asked.id, turn: asked.turn, text: question });
  const [called] = await store.append(asked.id, [answers('a tool', 'tool_calls')]);
  say({ id: called?.id, turn: called?.turn, text: 'a tool' });
  const [answered] = await store.append(asked.id, [answers(answer)]);
  say({ id: answered?.id, turn: answered?.turn, text: answer });
  if (resets === 'yes' && turn % 40 === 0) {
    say({ reset: 'begins' });
    await store.reset({ purge: turn % 80 === 0 });
    say({ reset: 'done' });
  }
}
await store.close();
