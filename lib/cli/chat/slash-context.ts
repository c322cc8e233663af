import { existsSync } from 'node:fs';
import type { Repl } from '../../repl/repl.js';
import type { SlashContext } from '../../slash/command.js';
import { slashCommands } from '../../slash/index.js';
import type { World } from '../base/world.js';
import type { WiredSession } from '../wiring/wire.js';
import { copyText } from './clipboard.js';
import { expandPath, writeFileAtomically } from './export-file.js';

/** What slash commands reach of the chat, the terminal and the disk. */
export function slashContext(
  world: World,
  { session, tools, connections, settings }: WiredSession,
  repl: () => Repl,
  confirm: SlashContext['confirm'],
): SlashContext {
  const pathOf = (path: string): string => expandPath(path, tools.workingFolder, world.home);
  return {
    session,
    commands: slashCommands,
    confirm,
    edit: async (text) => {
      const edited = await repl().edit(text);
      return edited === text ? null : edited;
    },
    copy: (text) => copyText(text, world, world.stdout),
    models: (signal) => connections.models(session.target, undefined, signal),
    purgeCaches: async () => (await import('../base/purge-caches.js')).purgeCaches(settings.paths),
    spending: async () => (await import('./spending.js')).spendingText(connections.spent),
    exists: async (path) => existsSync(pathOf(path)),
    write: (path, chunks) => writeFileAtomically(pathOf(path), chunks),
  };
}
