import type { ServerFile } from '../../config/server-settings.js';
import { changeServers } from '../../config/write.js';
import { HiError } from '../../errors.js';
import { type ForeignServer, foreignPrograms, readForeignServers } from '../../mcp/foreign-servers.js';
import { pick, suggestion } from '../../registry.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { checkbox } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import { colours } from '../base/command-output.js';
import { configuredServers } from '../base/configured-servers.js';
import type { CommonOptions } from '../base/options.js';
import type { World } from '../base/world.js';

/**
 * Lists the servers that another program has, and adds those that are named, or chosen on a terminal, to `config.json`.
 * Starts none. Resolves to the exit status. Throws a `HiError` for an unknown program or server, or a file that cannot
 * be read.
 */
export async function mcpAddFrom(
  world: World,
  from: string,
  names: readonly string[],
  options: CommonOptions,
): Promise<number> {
  const program = pick(foreignPrograms(), from, 'program', 'usage');
  const { paths, servers } = await configuredServers(world, options);
  const found = readForeignServers(program, world, world.cwd) ?? [];
  if (found.length === 0) {
    world.stderr.write(`${program.title} has no MCP servers in '${visibleLine(program.file(world))}'.\n`);
    return 0;
  }
  const isThere = (name: string): boolean => Object.hasOwn(servers, name);
  const usable = found.filter((one): one is UsableServer => 'file' in one && !isThere(one.name));
  let chosen: readonly UsableServer[] = names.map((name) => named(name, found, isThere));
  if (names.length === 0) {
    for (const server of found) world.stdout.write(`${lineOf(server, isThere(server.name), world)}\n`);
    if (usable.length > 0) chosen = await choose(world, from, usable);
  }
  if (chosen.length === 0) return 0;
  const added = Object.fromEntries(chosen.map(({ name, file }) => [name, file]));
  await changeServers(paths.configFile, (others) => ({ ...others, ...added }));
  const list = chosen.map(({ name }) => `'${visibleLine(name)}'`).join(', ');
  if (!options.quiet)
    world.stderr.write(`Added ${list} to '${paths.configFile}'. None was started; to try one, run: hi mcp test NAME\n`);
  return 0;
}

type UsableServer = Extract<ForeignServer, { readonly file: ServerFile }>;

/** A server that the user named. Throws a `HiError` if there is none, or it cannot be added. */
function named(name: string, found: readonly ForeignServer[], isThere: (name: string) => boolean): UsableServer {
  const server = found.find((one) => one.name === name);
  if (server === undefined)
    throw new HiError('usage', `There is no server '${visibleLine(name)}'.`, {
      hint: suggestion(
        name,
        found.map((one) => one.name),
      ),
    });
  if (isThere(name))
    throw new HiError('usage', `There is already a server '${name}'.`, {
      hint: `To replace it, remove it first: hi mcp remove ${name}`,
    });
  if ('file' in server) return server;
  throw new HiError('usage', `The server '${name}' ${server.problem}.`, { hint: `Add it by hand: hi mcp add ${name}` });
}

/** The program or address of a server, and the names of what may be secret. */
function lineOf(server: ForeignServer, isThere: boolean, world: World): string {
  const { bold, dim } = colours(world);
  const name = bold(visibleLine(server.name));
  if ('problem' in server) return `${name}  ${dim(visibleLine(`left out: it ${server.problem}`))}`;
  const { command, args = [], url, env = {}, headers = {}, enabled, disabled } = server.file;
  const notes = [
    ...(isThere ? ['already there'] : []),
    ...(enabled === false || disabled === true ? ['disabled'] : []),
    ...[...Object.keys(env), ...Object.keys(headers)].map((key) => `${key}=…`),
    ...(server.unused.length > 0 ? [`without ${server.unused.join(', ')}`] : []),
  ];
  const address = url ?? [command, ...args].join(' ');
  return [name, visibleLine(address), dim(visibleLine(notes.join(' · ')))].filter(Boolean).join('  ');
}

/** Asks which of them to add, none of them unasked. Without a terminal it says how to name them. */
async function choose(world: World, from: string, usable: readonly UsableServer[]): Promise<readonly UsableServer[]> {
  if (world.stdinIs !== 'terminal' || !world.stderr.isTTY) {
    world.stderr.write(`Nothing was added. To add some of them, run: hi mcp add --from ${from} NAME...\n`);
    return [];
  }
  const streams = { input: world.stdin, output: world.stderr };
  const message = 'Which of them should hi use? None is started now.';
  const choices = usable.map(({ name }, at) => ({ value: at, name: visibleLine(name) }));
  const places = await askQuestion((context) => checkbox<number>({ message, choices }, context), streams);
  return places.flatMap((place) => usable[place] ?? []);
}
