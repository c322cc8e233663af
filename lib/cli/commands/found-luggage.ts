import { existsSync } from 'node:fs';
import { bookNames } from '../../books/book.js';
import { sources } from '../../books/sources/index.js';
import { quantity } from '../../chat/text.js';
import { commandFolders, type Paths, sharedSkills, userInstructions } from '../../config/paths.js';
import { isAbort } from '../../errors.js';
import { foreignPrograms, readForeignServers } from '../../mcp/foreign-servers.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { scanSharedFolder } from '../../skills/scan.js';
import { openPrompts, type Prompts } from '../ask/asker.js';
import type { World } from '../base/world.js';
import { findOwnCommands } from '../input/own-commands.js';
import { importCommand } from './import-command.js';

/** How many names are said. */
const NAMED = 5;

/**
 * Says what other programs have for this user on this machine, and asks whether to import the chats that are not
 * imported yet. Says and asks nothing where there is nothing. Cancelling means no.
 */
export async function offerLuggage(world: World, paths: Paths): Promise<void> {
  const prompts = await openPrompts(world, new AbortController().signal);
  const books = new Set(bookNames(paths.imports));
  const chats = sources.filter(
    (source) => !books.has(source.name) && source.places(world).some((place) => existsSync(place)),
  );
  const lines = [
    ...worksAlready(world, paths),
    ...serversOf(world),
    ...(userInstructions(world).some((file) => existsSync(file))
      ? ["your instructions for other programs; for lines of your memory from them, run 'hi import --review'"]
      : []),
    ...(chats.length > 0 ? [`chats with ${chats.map(({ title }) => title).join(', ')}`] : []),
  ];
  if (lines.length === 0) return;
  prompts.say(`Also on this machine:\n${lines.map((line) => `- ${line}`).join('\n')}`);
  if (chats.length === 0 || !(await isWanted(prompts))) return;
  await importCommand(
    world,
    chats.map(({ name }) => name),
    {},
  );
}

async function isWanted(prompts: Prompts): Promise<boolean> {
  try {
    const question =
      'Import the chats, so that hi remembers them too? They stay on this machine until you say otherwise.';
    const choices = [
      ['yes', 'yes'],
      ['no', 'no; later: hi import'],
    ] as const;
    return (await prompts.select(question, choices)) === 'yes';
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    return false;
  }
}

/** Skills and commands. */
function worksAlready(world: World, paths: Paths): readonly string[] {
  const folders = sharedSkills(world);
  const skills = new Set(folders.flatMap((each) => scanSharedFolder(each, folders).files.map(({ name }) => name)));
  const { foreign } = commandFolders(world, paths);
  const commands =
    findOwnCommands({ own: paths.commands, foreign }).length -
    findOwnCommands({ own: paths.commands, foreign: [] }).length;
  const counts = [
    ...(skills.size > 0 ? [quantity(skills.size, 'skill')] : []),
    ...(commands > 0 ? [quantity(commands, 'command')] : []),
  ];
  const work = skills.size + commands === 1 ? 'works' : 'work';
  return counts.length === 0 ? [] : [`${counts.join(' and ')} of other programs, which ${work} here too`];
}

/** MCP servers, of which none is started. */
function serversOf(world: World): readonly string[] {
  return foreignPrograms().flatMap((program) => {
    const names = (readForeignServers(program, world, world.cwd) ?? []).map(({ name }) => visibleLine(name));
    if (names.length === 0) return [];
    const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
    const shown = `${names.slice(0, NAMED).join(', ')}${more}`;
    return [`MCP servers of ${program.title} (${shown}); to choose some, run 'hi mcp add --from ${program.name}'`];
  });
}
