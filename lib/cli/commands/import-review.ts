import { bookFiles, bookNames } from '../../books/book.js';
import { standingSentences } from '../../books/standing-sentences.js';
import { type Paths, userInstructions } from '../../config/paths.js';
import { readRegularFile } from '../../disk.js';
import { prepareCodec } from '../../history/file/codec.js';
import { HistoryStore } from '../../history/store.js';
import { readMemory } from '../../memory/memory-file.js';
import { linesOf, notOffered } from '../../memory/memory-text.js';
import { neutralise, visibleLine } from '../../screen/text/neutralise.js';
import { confirm } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import { colours, writeJson } from '../base/command-output.js';
import type { World } from '../base/world.js';
import { openMemory } from '../wiring/open-memory.js';

/** A line that the memory may get, and where the user said it. */
interface Proposal {
  readonly text: string;
  readonly evidence: readonly string[];
}

/**
 * Proposes lines for the memory, one by one with their evidence: those of the user's instructions for other programs,
 * and the sentences that they said again and again in their books. Without a terminal it only prints them. Makes no
 * request. Resolves to the exit status. Throws `HiError`s, as an interruption if the user stops it.
 */
export async function importReview(
  world: World,
  paths: Paths,
  { json, quiet }: { readonly json?: boolean; readonly quiet?: boolean },
): Promise<number> {
  await prepareCodec();
  const found = notOffered([...instructionLines(world), ...saidAgain(paths)], readMemory(paths.memory));
  if (json) writeJson(world.stdout, found, 2);
  else if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    for (const proposal of found) world.stdout.write(`${shown(proposal, world)}\n`);
    if (!quiet && found.length > 0) world.stderr.write('To choose which to keep, run this on a terminal.\n');
  } else await ask(world, paths, found);
  if (found.length === 0 && !quiet) world.stderr.write('There is nothing new to propose.\n');
  return 0;
}

const shown = ({ text, evidence }: Proposal, world: World): string =>
  neutralise(`${text}\n  ${colours(world).dim(evidence.map(visibleLine).join(' · '))}`);

async function ask(world: World, paths: Paths, found: readonly Proposal[]): Promise<void> {
  if (found.length === 0) return;
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  try {
    const { file, origin } = await openMemory(paths.memory, history, world.now);
    const streams = { input: world.stdin, output: world.stderr };
    let kept = 0;
    for (const proposal of found) {
      world.stderr.write(`${shown(proposal, world)}\n`);
      const asked = { message: 'Always keep this in mind? It is sent with every request.', default: false };
      const isKept = await askQuestion((context) => confirm(asked, context), streams);
      if (isKept) await file.keep(proposal.text, { ...origin('user'), id: null });
      await file.noteOffered(proposal);
      kept += isKept ? 1 : 0;
    }
    world.stderr.write(`Kept ${kept} of ${found.length}. Those you declined are not offered again.\n`);
  } finally {
    await history.close();
  }
}

/** The longest line that is proposed, and the most of one file. */
const LONGEST = 400;
const MOST = 50;

/**
 * The lines of the user's own instructions for other programs, which say themselves what always holds. Headings, code
 * and files that they include are none.
 */
function instructionLines(world: World): readonly Proposal[] {
  return userInstructions(world).flatMap((path) => {
    const text = textOf(path).replace(/```[\s\S]*?(?:```|$)/g, (code) => code.replace(/[^\n]+/g, ''));
    const lines = linesOf(text).filter((line) => !/^[#@|]/.test(line.text) && line.text.length <= LONGEST);
    return lines.slice(0, MOST).map(({ line, text: said }) => ({ text: said, evidence: [`${path}, line ${line}`] }));
  });
}

function textOf(path: string): string {
  try {
    const bytes = readRegularFile(path);
    return bytes.includes(0) ? '' : bytes.toString();
  } catch {
    return '';
  }
}

function saidAgain({ imports }: Paths): readonly Proposal[] {
  const books = bookNames(imports).map((name) => bookFiles(imports, name));
  return standingSentences(books).map(({ text, conversations, evidence }) => ({
    text,
    evidence: [
      `in ${conversations} conversations`,
      ...evidence.map(({ id, at }) => (at === '' ? id : `${id}, ${new Date(at).toLocaleDateString('sv')}`)),
    ],
  }));
}
