import { storedText } from '../chat/entry.js';
import { inReadingOrder, marksAmong, standing, undoneTurns } from '../chat/entry-list.js';
import { markdownOf } from '../chat/transcript.js';
import { HiError } from '../errors.js';
import { conversationPage } from '../page/conversation-page.js';
import { neutralise, neutraliseJson } from '../screen/text/neutralise.js';
import type { Session } from '../session/session.js';
import type { SlashCommand } from './common/command.js';

/** `/export`: writes the whole conversation to a file, as HTML, Markdown or JSON, by the file's extension. */
export const slashExport: SlashCommand = {
  name: 'export',
  aliases: ['save'],
  usage: '/export FILE',
  summary: 'save as .html, .md or .json; also --no-undone',
  complete: (typed, { files }) => files.paths(typed),
  async *run(typed, { session, files, ask, now }, signal) {
    const isWhole = !typed.endsWith(NO_UNDONE);
    const name = isWhole ? typed : typed.slice(0, -NO_UNDONE.length);
    const argument = /^(["'])(.+)\1$/.exec(name)?.[2] ?? name;
    const format = formatOf(argument);
    const question = `Overwrite ${argument}?`;
    if ((await files.exists(argument)) && !(await ask.confirm(question, 'Or name a file that does not exist yet.'))) {
      return yield { type: 'print', text: 'Nothing was written.' };
    }
    await session.history.refresh();
    await files.write(argument, untilAborted(FORMATS[format](session.history, isWhole, now()), signal));
    yield { type: 'print', text: `Wrote ${argument}.` };
  },
};

/** Leaves out turns that were undone or failed, and notes about them and about pins. */
const NO_UNDONE = ' --no-undone';

async function* untilAborted(texts: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<string> {
  for await (const text of texts) {
    signal.throwIfAborted();
    yield text;
  }
}

type History = Session['history'];

/** The function that writes each format, by file extension. */
const FORMATS = { html: asPage, md: asMarkdown, json: asJson } as const;

type Format = keyof typeof FORMATS;

const isFormat = (extension: string): extension is Format => Object.hasOwn(FORMATS, extension);

function formatOf(file: string): Format {
  const extension = /\.([a-z]+)$/.exec(file)?.[1] ?? '';
  if (isFormat(extension)) return extension;
  const message =
    file === '' ? 'No file name given.' : `Cannot export to '${file}': the name must end in .html, .md or .json.`;
  throw new HiError('usage', message, { hint: 'Type: /export FILE.html, /export FILE.md or /export FILE.json' });
}

async function* asPage(history: History, isWhole: boolean, now: Date): AsyncGenerator<string> {
  const ordered = inReadingOrder(history.archive(), history);
  const entries = isWhole ? ordered : standing(ordered, await undoneIn(history));
  yield* conversationPage({ entries, read: (sha256) => history.attachments.get(sha256), now });
}

async function* asMarkdown(history: History, isWhole: boolean): AsyncGenerator<string> {
  yield '# Conversation\n';
  const undone = await undoneIn(history);
  const ordered = inReadingOrder(history.archive(), history);
  for await (const entry of isWhole ? ordered : standing(ordered, undone)) yield neutralise(markdownOf(entry, undone));
}

async function* asJson(history: History, isWhole: boolean): AsyncGenerator<string> {
  let first = true;
  for await (const entry of isWhole ? history.archive() : standing(history.archive(), await undoneIn(history))) {
    yield `${first ? '[\n' : ',\n'}${neutraliseJson(storedText(entry))}`;
    first = false;
  }
  yield first ? '[]\n' : '\n]\n';
}

const undoneIn = async (history: History): Promise<ReadonlySet<number>> =>
  undoneTurns(await marksAmong(history.archive()));
