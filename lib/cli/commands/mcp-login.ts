import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Paths } from '../../config/paths.js';
import { HiError } from '../../errors.js';
import { logIn } from '../../mcp/auth/login-adapter.js';
import { isPrivate, LoginFile, type StoredLogin } from '../../mcp/auth/login-file.js';
import { RedirectListener } from '../../mcp/auth/redirect-listener.js';
import { revokeTokens } from '../../mcp/auth/tokens-adapter.js';
import { readServers, type ServerEntry } from '../../mcp/base/server-entry.js';
import { lookUp, lookUpAll, type Values, valuesOf } from '../../mcp/connection/destination.js';
import { ownProgram } from '../../processes.js';
import { suggestion } from '../../registry.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { askQuestion } from '../ask/terminal-question.js';
import {
  type ConfiguredServers,
  configuredServers,
  connectionDeps,
  exclusively,
  usableServers,
} from '../base/configured-servers.js';
import type { CommonOptions } from '../base/options.js';
import type { World } from '../base/world.js';

/** How long the user may take, in milliseconds. */
const TIME_LIMIT = 15 * 60_000;

/** Logs in to a server with the browser of the user. Resolves to the exit status. Throws a `HiError`. */
export async function mcpLoginCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const entry = await findServer(world, name, configured);
  if (entry === null) throw unknownServer(name, configured);
  const values = valuesOf(entry, connectionDeps(world, configured));
  const file = new LoginFile(configured.paths.serverLogins, name, exclusively);
  await logInTo(world, entry, values, file);
  if (!options.quiet) world.stderr.write(`Logged in to '${name}'.\n`);
  return 0;
}

async function logInTo(world: World, entry: ServerEntry, values: Values, file: LoginFile): Promise<void> {
  const { address, oauth } = entry;
  if (address.kind === 'process') throw cannot(entry, 'it is a program, which handles its own login.');
  const [url, headers] = [await lookUp(address.url, values), await lookUpAll(address.headers, values)];
  if (Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw cannot(entry, 'its entry has an Authorization header, which is used instead.');
  if (!isPrivate(url)) throw cannot(entry, `others could read the login on the network to '${url}'. Use https.`);
  const secret = oauth.clientSecret === undefined ? null : await lookUp(oauth.clientSecret, values);
  const id = oauth.clientId === undefined ? null : await lookUp(oauth.clientId, values);
  const before = file.read(url);
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(TIME_LIMIT)]);
  const listener = await listen(entry, before);
  const paste = new PastedAddress(world, listener);
  try {
    await logIn({
      url,
      headers,
      before,
      listener,
      signal,
      client: id === null ? null : { id, secret, issuer: oauth.issuer ?? null },
      scope: oauth.scopes === undefined ? null : [oauth.scopes].flat().join(' '),
      environment: values.env,
      agreesTo: agreement(world),
      show: (page) => paste.askFor(page),
      keep: (login) => file.change(url, async () => ({ login, result: undefined })),
    });
  } finally {
    paste.close();
    listener.close();
    release();
  }
}

/** Asks on the terminal, once for each host; without one nobody agrees. */
function agreement({ stdin, stdinIs, stderr }: World): (address: URL) => Promise<boolean> {
  const answers = new Map<string, Promise<boolean>>();
  const ask = async ({ host }: URL): Promise<boolean> => {
    if (stdinIs !== 'terminal' || stderr.isTTY !== true) return false;
    const { confirm } = await import('../ask/inquirer.js');
    const message = visibleLine(`The server wants the login to go to '${host}', a private address. Go there?`);
    const streams = { input: stdin, output: stderr };
    return await askQuestion((context) => confirm({ message, default: false }, context), streams);
  };
  return (address) => {
    const answer = answers.get(address.host) ?? ask(address);
    answers.set(address.host, answer);
    return answer;
  };
}

const cannot = ({ name }: ServerEntry, why: string): HiError =>
  new HiError('usage', `Cannot log in to the server '${name}': ${why}`);

/** Listens where hi is registered to listen, else anywhere. */
async function listen({ name, oauth }: ServerEntry, before: StoredLogin | null): Promise<RedirectListener> {
  const { callbackPort } = oauth;
  if (callbackPort !== undefined) {
    const listener = await RedirectListener.open(callbackPort, 'localhost');
    if (listener !== null) return listener;
    throw new HiError(
      'usage',
      `Cannot log in to the server '${name}': port ${callbackPort} is in use by another program.`,
      {
        hint: 'Stop that program, or change callbackPort in mcpServers.',
      },
    );
  }
  const known = before !== null && URL.canParse(before.redirect) ? Number(new URL(before.redirect).port) : 0;
  const listener = (await RedirectListener.open(known, '127.0.0.1')) ?? (await RedirectListener.open(0, '127.0.0.1'));
  if (listener === null) throw new HiError('usage', 'This machine has no free port for the browser’s answer.');
  return listener;
}

/** Shows the page of the login, and takes the address at which a browser elsewhere ended. */
class PastedAddress {
  readonly #world: World;
  readonly #listener: RedirectListener;
  #lines: ReturnType<typeof createInterface> | null = null;

  constructor(world: World, listener: RedirectListener) {
    this.#world = world;
    this.#listener = listener;
  }

  askFor(page: URL): void {
    const { stderr, stdin, stdinIs } = this.#world;
    const canPaste = stdinIs !== 'nothing';
    const elsewhere = canPaste
      ? ' If your browser is on another machine, paste the address it ends up at here, even if that page fails to load.'
      : '';
    stderr.write(`To log in, open this address.${elsewhere}\n\n${visibleLine(page.href)}\n\n`);
    void openBrowser(this.#world, page).then((isOpen) => {
      if (isOpen) stderr.write('It was opened in your browser. Waiting for the login.\n');
    });
    if (!canPaste) return;
    this.#lines = createInterface({ input: stdin });
    this.#lines.on('line', (line) => {
      if (line.trim() === '' || this.#listener.take(line)) return;
      stderr.write(`That is not the address of this login, which starts with ${this.#listener.url}\n`);
    });
  }

  close(): void {
    if (this.#lines === null) return;
    this.#lines.close();
    this.#world.stdin.pause();
    this.#lines = null;
  }
}

/** Ends the login at a server. Resolves to the exit status. Throws a `HiError` where there is none. */
export async function mcpLogoutCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const { paths } = await configuredServers(world, options);
  if (!(await endLogin(world, paths, name))) throw new HiError('usage', `There is no login for a server '${name}'.`);
  if (!options.quiet) world.stderr.write(`Logged out of '${name}'.\n`);
  return 0;
}

/** An authorization server that does not answer delays nobody for longer, in milliseconds. */
const REVOKED_WITHIN = 5000;

/**
 * Forgets the login at a server, and has its tokens revoked where that is possible; a failure of that is said. Resolves
 * to false where there was none.
 */
export async function endLogin(world: World, paths: Paths, name: string): Promise<boolean> {
  const taken = await new LoginFile(paths.serverLogins, name, exclusively).take();
  if (taken === null) return false;
  if (taken.login?.tokens) await revoked(world, taken.login);
  return true;
}

async function revoked(world: World, login: StoredLogin): Promise<void> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const limit = AbortSignal.any([stop.signal, AbortSignal.timeout(REVOKED_WITHIN)]);
  try {
    await revokeTokens(login, world.env, limit);
  } catch (thrown) {
    const reason = limit.aborted ? 'no answer in time.' : thrown instanceof Error ? thrown.message : String(thrown);
    const text = `The tokens are no longer stored here, but could not be revoked: ${reason}`;
    world.stderr.write(`${visibleLine(text)}\n`);
  } finally {
    release();
  }
}

/** A program and the arguments that stand before the address. */
type Opener = readonly [program: string, ...args: readonly string[]];

/** The programs that open an address in the browser of the user, in the order in which they are tried. */
function openers({ env }: World, platform: NodeJS.Platform): readonly Opener[] {
  if (platform === 'darwin') return [['open']];
  if (platform === 'win32') return [['rundll32', 'url.dll,FileProtocolHandler']];
  const hasScreen = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME, env.TERMUX_VERSION].some(Boolean);
  return hasScreen ? [['xdg-open'], ['wslview'], ['termux-open-url']] : [];
}

/** Opens a web address in the browser, without a shell. Resolves to whether a program for that was there. */
async function openBrowser(world: World, address: URL, platform = process.platform): Promise<boolean> {
  // An address of another kind would open another program.
  if (!['http:', 'https:'].includes(address.protocol)) return false;
  for (const [program, ...args] of openers(world, platform))
    if (await isStarted(program, [...args, address.href], world)) return true;
  return false;
}

function isStarted(program: string, args: readonly string[], { env }: World): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(ownProgram(program, env), args, { env: { ...env }, detached: true, stdio: 'ignore' });
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
    child.once('error', () => resolve(false));
  });
}

/**
 * A server by its name, even a disabled one; null if there is none. Throws a `HiError` if its entry is invalid or waits
 * for the user's approval.
 */
export async function findServer(
  world: World,
  name: string,
  configured: ConfiguredServers,
): Promise<ServerEntry | null> {
  const { servers, timeout } = configured;
  const file = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (file === undefined) return await projectServer(world, name, configured);
  const { entries, problems } = readServers({ [name]: { ...file, enabled: true, disabled: false } }, timeout);
  if (entries[0] === undefined) throw new HiError('config', problems.join('\n'));
  return entries[0];
}

async function projectServer(world: World, name: string, configured: ConfiguredServers): Promise<ServerEntry | null> {
  const { entries, waiting } = await usableServers(world, configured);
  if (waiting.some((server) => server.name === name))
    throw new HiError('usage', `The server '${name}' of this project is waiting for your approval.`, {
      hint: `To review and approve it, run: hi mcp approve ${name}`,
    });
  return entries.find((entry) => entry.name === name) ?? null;
}

/** The error for a name that no server has. `known` are the names to choose from. */
export function unknownServer(
  name: string,
  { paths, servers }: ConfiguredServers,
  known: readonly string[] = Object.keys(servers),
): HiError {
  return new HiError('usage', `There is no server '${name}' in '${paths.configFile}'.`, {
    hint: suggestion(name, known),
  });
}
