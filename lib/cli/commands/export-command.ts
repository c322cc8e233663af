import { resolve } from 'node:path';
import { bookFiles, bookNames } from '../../books/book.js';
import { exportAll } from '../../books/export-books.js';
import { exportForms } from '../../books/export-forms.js';
import { findPaths } from '../../config/paths.js';
import { HiError, isAbort } from '../../errors.js';
import { prepareCodec } from '../../history/file/codec.js';
import { HistoryStore } from '../../history/store.js';
import { pick } from '../../registry.js';
import type { CommonOptions } from '../base/options.js';
import { printHistoryNotices } from '../base/output.js';
import { stoppingOf, type World } from '../base/world.js';
import { countsOf, leftOutOf } from './import-command.js';

interface ExportOptions extends CommonOptions {
  readonly to?: string;
}

/**
 * Writes the conversation and all books into a folder, in a form that other programs read. Makes no request. Resolves
 * to the exit status. Throws `HiError`s.
 */
export async function exportCommand(
  world: World,
  folder: string,
  { to, config, quiet }: ExportOptions,
): Promise<number> {
  const names = exportForms.map(({ name }) => name).join('|');
  if (to === undefined) throw new HiError('usage', 'No form given.', { hint: `Run: hi export --to ${names} DIR` });
  const form = pick(exportForms, to, 'form', 'usage');
  const paths = await findPaths(world.env, config ?? null);
  await prepareCodec();
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  const stopping = stoppingOf(world);
  try {
    const outcomes = await exportAll({
      ...{ form, target: resolve(world.cwd, folder), signal: stopping.signal },
      archive: () => history.archive(),
      read: (sha256) => history.attachments.get(sha256),
      books: bookNames(paths.imports).map((name) => bookFiles(paths.imports, name)),
    });
    printHistoryNotices(world, history);
    for (const { name, threads, messages, left_out } of outcomes)
      world.stdout.write(`${name}: ${countsOf(threads, messages)}.${leftOutOf(left_out)}\n`);
    if (outcomes.length === 0 && !quiet) world.stderr.write('Nothing was said yet.\n');
    return 0;
  } catch (thrown) {
    if (stopping.status === null || !isAbort(thrown)) throw thrown;
    world.stderr.write('Stopped. Nothing was exported.\n');
    return stopping.status;
  } finally {
    stopping.release();
    await history.close();
  }
}
