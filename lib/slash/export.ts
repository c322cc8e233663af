import { inReadingOrder } from '../chat/reading-order.js';
import { storedText } from '../chat/stored-text.js';
import { markdownOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './command.js';

/** `/export`: the whole conversation into a file, as Markdown or JSON by its name. */
export const slashExport: SlashCommand = {
  name: 'export',
  aliases: ['save'],
  usage: '/export FILE',
  summary: 'write all of it to FILE.md or FILE.json',
  async *run(argument, { session, write, exists, confirm }) {
    const form = /\.(md|json)$/.exec(argument)?.[1];
    if (form === undefined) {
      throw new HiError(
        'usage',
        argument === '' ? 'There is no file to write.' : `'${argument}' is no .md or .json file.`,
        {
          hint: 'Type: /export FILE.md or /export FILE.json',
        },
      );
    }
    const question = `Write over ${argument}?`;
    if ((await exists(argument)) && !(await confirm(question, 'Or name a file that does not exist yet.'))) {
      return yield { type: 'print', text: 'Nothing was written.' };
    }
    await session.history.refresh();
    await write(argument, form === 'md' ? asMarkdown(session.history) : asJson(session.history));
    yield { type: 'print', text: `Written: ${argument}` };
  },
};

async function* asMarkdown(history: Session['history']): AsyncGenerator<string> {
  yield '# Conversation\n';
  for await (const entry of inReadingOrder(history.archive(), history)) yield markdownOf(entry);
}

async function* asJson(history: Session['history']): AsyncGenerator<string> {
  let first = true;
  for await (const entry of history.archive()) {
    yield `${first ? '[\n' : ',\n'}${storedText(entry)}`;
    first = false;
  }
  yield first ? '[]\n' : '\n]\n';
}
