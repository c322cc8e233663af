import { rmSync } from 'node:fs';
import type { ServerFile } from '../../config/server-settings.js';
import { changeServers } from '../../config/write.js';
import { HiError } from '../../errors.js';
import { LoginNeeded } from '../../mcp/auth/login-file.js';
import { readServers, type ServerEntry } from '../../mcp/base/server-entry.js';
import { ServerLog } from '../../mcp/connection/spawn-server.js';
import { type Offer, OfferCache, ToolPins } from '../../mcp/definitions/definition.js';
import { approvalsIn, type ProjectServer } from '../../mcp/project-servers.js';
import { suggestion } from '../../registry.js';
import { neutralise, visibleLine } from '../../screen/text/neutralise.js';
import { askToAgree } from '../ask/approve.js';
import { type ConfiguredServers, configuredServers, usableServers } from '../base/configured-servers.js';
import type { CommonOptions } from '../base/options.js';
import type { World } from '../base/world.js';
import { mcpAddFrom } from './mcp-from.js';
import { keepOffer, offerText, withServer } from './mcp-list.js';
import { endLogin, unknownServer } from './mcp-login.js';

/** As the schema of the configuration has it. */
const LONGEST_NAME = 64;

interface McpAddOptions extends CommonOptions {
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly transport?: 'http' | 'sse';
  /** False for `--no-test`. */
  readonly test: boolean;
  /** The program whose servers are listed. */
  readonly from?: string;
}

/**
 * Starts a server once, shows what it offers, and adds it to `config.json`. Throws a `HiError` if it cannot be used;
 * nothing is written then.
 */
export async function mcpAddCommand(
  world: World,
  name: string | undefined,
  words: readonly string[],
  options: McpAddOptions,
): Promise<number> {
  if (options.from !== undefined)
    return await mcpAddFrom(world, options.from, name === undefined ? [] : [name, ...words], options);
  if (name === undefined || words.length === 0)
    throw new HiError('usage', name === undefined ? 'No name given.' : `No program or address given for '${name}'.`, {
      hint: 'Run: hi mcp add NAME URL, or: hi mcp add NAME -- PROGRAM ARGUMENTS',
    });
  requireName(name);
  const configured = await configuredServers(world, options);
  const { paths, servers, timeout } = configured;
  if (Object.hasOwn(servers, name))
    throw new HiError('usage', `There is already a server '${name}'.`, {
      hint: `Choose another name, or remove it first: hi mcp remove ${name}`,
    });
  const file = fileOf(words, options);
  const { entries, problems } = readServers({ [name]: file }, timeout);
  const [entry] = entries;
  if (entry === undefined) throw new HiError('usage', problems.join('\n'));
  const offer = options.test ? await offerOf(world, configured, entry) : null;
  if (offer !== null) {
    world.stdout.write(neutralise(`${offerText(offer)}\n`));
    keepOffer(entry, offer, paths);
  }
  await changeServers(paths.configFile, (others) => ({ ...others, [name]: file }));
  if (!options.quiet) world.stderr.write(`Added '${name}' to '${paths.configFile}'.\n`);
  return 0;
}

/** A name that the configuration refuses would leave it unreadable for every command. */
function requireName(name: string): void {
  if (name.length > 0 && name.length <= LONGEST_NAME && name === visibleLine(name)) return;
  throw new HiError('usage', `'${visibleLine(name)}' is not the name of a server.`, {
    hint: `Choose a name of 1 to ${LONGEST_NAME} visible characters.`,
  });
}

/** What the server offers; null where it wants a login first, which is said. */
async function offerOf(world: World, configured: ConfiguredServers, entry: ServerEntry): Promise<Offer | null> {
  try {
    return await withServer(world, configured, entry, (connection, signal) => connection.offer(signal));
  } catch (thrown) {
    if (!(thrown instanceof HiError) || !(thrown.cause instanceof LoginNeeded)) throw thrown;
    world.stderr.write(`${thrown.message}\n`);
    return null;
  }
}

function fileOf(words: readonly string[], { env = [], header = [], transport }: McpAddOptions): ServerFile {
  const [first = '', ...args] = words;
  if (!/^https?:\/\//.test(first)) {
    refuse(header, '--header', 'an address', `'${first}' is a program. Give its environment with -e NAME=VALUE.`);
    return {
      command: first,
      ...(args.length > 0 && { args }),
      ...(env.length > 0 && { env: pairs(env, '=', '--env') }),
    };
  }
  refuse(env, '--env', 'a program', `'${first}' is an address. Give its headers with -H 'Name: value'.`);
  if (args.length > 0)
    throw new HiError('usage', `Unexpected arguments after the address: '${args.join(' ')}'.`, {
      hint: 'Give only an address, or -- and a program with its arguments.',
    });
  return {
    type: transport ?? 'http',
    url: first,
    ...(header.length > 0 && { headers: pairs(header, ':', '--header') }),
  };
}

function refuse(given: readonly string[], option: string, whose: string, hint: string): void {
  if (given.length > 0) throw new HiError('usage', `${option} is for ${whose}.`, { hint });
}

function pairs(texts: readonly string[], mark: string, option: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(mark);
      if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
      throw new HiError('usage', `${option} has no '${mark}': '${text}'.`, {
        hint: `Write ${option} '${mark === '=' ? 'NAME=VALUE' : 'Name: value'}'.`,
      });
    }),
  );
}

/**
 * Shows each server of the project that was not agreed to, all of its entry, and asks. An answer holds for this very
 * entry in its folder. Resolves to the exit status. Throws a `HiError` where nobody can be asked.
 */
export async function mcpApproveCommand(
  world: World,
  names: readonly string[],
  options: CommonOptions,
): Promise<number> {
  const configured = await configuredServers(world, options);
  const { waiting, problems } = await usableServers(world, configured);
  for (const problem of problems) world.stderr.write(`${problem}\n`);
  const unknown = names.find((name) => waiting.every((server) => server.name !== name));
  if (unknown !== undefined)
    throw new HiError('usage', `No server '${unknown}' is waiting for your approval here.`, {
      hint: suggestion(
        unknown,
        waiting.map(({ name }) => name),
      ),
    });
  const asked = waiting.filter(({ name }) => names.length === 0 || names.includes(name));
  if (asked.length === 0) world.stderr.write('No server is waiting for your approval here.\n');
  else if (world.stdinIs !== 'terminal' || !world.stderr.isTTY)
    throw new HiError('usage', 'Cannot ask for approval without a terminal.', {
      hint: "A project's server runs commands that its authors wrote. Run this on a terminal.",
    });
  const approvals = approvalsIn(configured.paths.serverApprovals);
  for (const server of asked) if (await isApproved(world, server)) approvals.add(server);
  return 0;
}

async function isApproved({ stdin, stderr }: World, { name, file }: ProjectServer): Promise<boolean> {
  const message = `May hi start the server '${name}' of this project?`;
  const texts = [{ name, text: JSON.stringify(file, null, 2) }];
  return await askToAgree(texts, message, { input: stdin, output: stderr });
}

/**
 * Removes a server from `config.json`, and everything that is known of it. Resolves to the exit status. Throws a
 * `HiError` for an unknown name.
 */
export async function mcpRemoveCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths, servers } = configured;
  if (!Object.hasOwn(servers, name)) throw unknownServer(name, configured);
  await changeServers(paths.configFile, ({ [name]: _, ...others }) => others);
  new OfferCache(paths.servers).remove(name);
  new ToolPins(paths.serverPins).remove(name);
  await endLogin(world, paths, name);
  const { path } = new ServerLog(paths.servers, name);
  for (const file of [path, `${path}.old`]) rmSync(file, { force: true });
  if (!options.quiet) world.stderr.write(`Removed '${name}' from '${paths.configFile}'.\n`);
  return 0;
}
