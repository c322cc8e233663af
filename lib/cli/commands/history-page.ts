import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { HiError } from '../../errors.js';
import { conversationPage, type PageContent } from '../../page/conversation-page.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { confirm } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import { writeFileAtomically } from '../base/give-out.js';
import { writeAll } from '../base/output.js';
import type { World } from '../base/world.js';

interface WriterOptions {
  readonly yes: boolean | undefined;
  readonly quiet: boolean | undefined;
}

/** Writes a page. Throws a `HiError`. */
export type WritePage = (content: PageContent) => Promise<void>;

/**
 * What writes a page to a file, or to stdout for null. Asks before a file is overwritten; resolves to null when the
 * user says no. Throws a `HiError` of code `usage`.
 */
export async function pageWriter(
  world: World,
  file: string | null,
  { yes, quiet }: WriterOptions,
): Promise<WritePage | null> {
  const hint = 'Run: hi history --html FILE.html';
  if (file === '') throw new HiError('usage', 'No file name given.', { hint });
  if (file === null) {
    if (world.stdout.isTTY) throw new HiError('usage', 'A terminal cannot show a page.', { hint });
    return async (content) => await writeAll(world.stdout, conversationPage(content));
  }
  const path = resolve(world.cwd, file);
  const say = (text: string): void => void (quiet || world.stderr.write(`${text}\n`));
  if (existsSync(path) && !yes && !(await confirmed(world, file))) {
    say('Nothing was written.');
    return null;
  }
  return async (content) => {
    await stoppable(world, (untilStopped) => writeFileAtomically(path, untilStopped(conversationPage(content))));
    say(`Wrote ${visibleLine(file)}.`);
  };
}

async function confirmed(world: World, file: string): Promise<boolean> {
  const message = `Overwrite ${visibleLine(file)}?`;
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    throw new HiError('usage', `Cannot ask without a terminal: "${message}"`, {
      hint: 'To overwrite it, add -y, or name a file that does not exist yet.',
    });
  }
  try {
    const streams = { input: world.stdin, output: world.stderr };
    return await askQuestion((asking) => confirm({ message, default: false }, asking), streams);
  } catch {
    return false;
  }
}

/**
 * Runs `write` with something that passes texts on until the process is asked to stop: what was written aside is then
 * removed.
 */
async function stoppable(
  { onStop }: World,
  write: (untilStopped: (texts: AsyncIterable<string>) => AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  let stopped: NodeJS.Signals | null = null;
  const release = onStop((signal) => {
    stopped ??= signal;
  });
  try {
    await write(async function* (texts) {
      for await (const text of texts) {
        if (stopped !== null)
          throw new HiError(stopped === 'SIGINT' ? 'interrupted' : 'terminated', 'Nothing was written.');
        yield text;
      }
    });
  } finally {
    release();
  }
}
