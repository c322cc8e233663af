import { createInterface } from 'node:readline';
import { HiError } from '../../errors.js';
import { logIn } from '../../mcp/auth/login-adapter.js';
import { isPrivate, LoginFile, type StoredLogin } from '../../mcp/auth/login-file.js';
import { RedirectListener } from '../../mcp/auth/redirect-listener.js';
import type { ServerEntry } from '../../mcp/base/server-entry.js';
import { lookUp, lookUpAll, type Values, valuesOf } from '../../mcp/connection/destination.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers, connectionDeps, exclusively } from '../base/configured-servers.js';
import type { World } from '../base/world.js';
import { askQuestion } from '../terminal/ask-question.js';
import { findServer, unknownServer } from './find-server.js';
import { openBrowser } from './open-browser.js';

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
    const { confirm } = await import('../terminal/inquirer.js');
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
