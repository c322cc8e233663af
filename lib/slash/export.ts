import { inReadingOrder } from '../chat/reading-order.js';
import { storedText } from '../chat/stored-text.js';
import { markdownOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './common/command.js';

/** `/export`: writes the whole conversation to a file, as Markdown or JSON by its extension. */
export const slashExport: SlashCommand = {
  name: 'export',
  aliases: ['save'],
  usage: '/export FILE',
  summary: 'save the conversation as FILE.md or FILE.json',
  complete: (typed, { paths }) => paths(typed),
  async *run(typed, { session, write, exists, confirm }) {
    const argument = /^(["'])(.+)\1$/.exec(typed)?.[2] ?? typed;
    const format = formatOf(argument);
    const question = `Overwrite ${argument}?`;
    if ((await exists(argument)) && !(await confirm(question, 'Or name a file that does not exist yet.'))) {
      return yield { type: 'print', text: 'Nothing was written.' };
    }
    await session.history.refresh();
    await write(argument, format === 'md' ? asMarkdown(session.history) : asJson(session.history));
    yield { type: 'print', text: `Wrote ${argument}.` };
  },
};

function formatOf(file: string): string {
  const format = /\.(md|json)$/.exec(file)?.[1];
  if (format !== undefined) return format;
  const message =
    file === '' ? 'No file name given.' : `Cannot export to '${file}': the name must end in .md or .json.`;
  throw new HiError('usage', message, { hint: 'Type: /export FILE.md or /export FILE.json' });
}

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
