import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { afterEach } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from './program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from './scripted-server.js';
import { control, KEY, openTerminal, type Terminal } from './terminal.js';

/** How long a spec waits for the screen: the machine may be busy with other things. Milliseconds. */
const PATIENCE = 20_000;

/** So often the prompt must be seen again after it came, and after how long each time, in milliseconds. */
const STEADY_CHECKS = 2;
const STEADY_FOR = 10;

/** The built `hi chat` in a terminal, with a scripted server behind it. */
export interface Chat {
  readonly server: ScriptedServer;
  readonly home: Home;
  /** The terminal of the newest process. */
  readonly terminal: Terminal;
  /** Starts the program, once more if it has left, and waits for its prompt. */
  open(options?: OpenOptions): Promise<void>;
  /** Types a line and waits for what it leads to and for the next prompt. */
  say(line: string, until: string | RegExp | ((screen: string) => boolean)): Promise<void>;
  /** Waits for the next prompt, from which it takes the line that was typed if it is back. */
  prompt(line: string): Promise<void>;
  /** Waits for the screen. */
  until(condition: string | RegExp | ((screen: string) => boolean)): Promise<void>;
  /** The contents of the messages of one request, the newest when no index is given. */
  sent(index?: number): readonly unknown[];
  /** What is in the history file. */
  stored(): readonly { readonly [key: string]: unknown }[];
}

export interface OpenOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly term?: string;
  /** The command that runs the program. */
  readonly under?: readonly string[];
}

/**
 * Prepares a spec file: what it returns sets up a server with these answers and a home, all of which are gone after
 * each spec.
 */
export function chatDriver(): (
  answer: (request: SentRequest, index: number) => Reply | Promise<Reply>,
  config?: object,
  models?: readonly string[],
) => Promise<Chat> {
  const endings: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end();
  });

  return async (answer, config = {}, models) => {
    const server = await startScriptedServer(answer, models);
    const home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...config });
    endings.push(home.remove, server.close);
    let terminal: Terminal | null = null;
    const current = (): Terminal => {
      if (terminal === null) throw new Error('The chat was not opened.');
      return terminal;
    };
    const until: Chat['until'] = (condition) => current().until(condition, PATIENCE);
    const prompt: Chat['prompt'] = async (line) => {
      await until((screen) => isAtPrompt(screen) || isBack(screen, line));
      if (isBack(current().screen(), line)) current().type(control('c'));
      await until(isAtPrompt);
      // A line that is being drawn again looks like an empty prompt for a moment.
      for (let checked = 0; checked < STEADY_CHECKS; checked += 1) {
        await setTimeout(STEADY_FOR);
        await until(isAtPrompt);
      }
    };
    return {
      server,
      home,
      get terminal() {
        return current();
      },
      async open({ args = [], env = {}, columns = 100, rows = 40, term = 'xterm-256color', under = [] } = {}) {
        const [command, ...rest] = [...under, RUNTIME, PROGRAM, 'chat', ...args] as const;
        const opened = openTerminal(command ?? RUNTIME, rest, {
          env: { ...home.env, ...env },
          cwd: home.work,
          columns,
          rows,
          term,
        });
        terminal = opened;
        endings.push(opened.close);
        await until(/^hi( \d+%)?> *$/m);
      },
      async say(line, expected) {
        current().type(`${line}${KEY.enter}`);
        await until(expected);
        await prompt(line);
      },
      prompt,
      until,
      sent: (index = server.requests.length - 1) =>
        server.requests[index]?.messages.map(({ content }) => content) ?? [],
      stored: () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString()),
    };
  };
}

/**
 * Whether a line that was refused is back in the prompt: it stands there twice, with the error in between. An error of
 * an earlier line does not count.
 */
function isBack(screen: string, line: string): boolean {
  const shown = screen.trimEnd();
  if (line === '' || !shown.endsWith(`> ${line}`)) return false;
  const sent = shown.lastIndexOf(`> ${line}`, shown.length - line.length - 3);
  return sent !== -1 && shown.indexOf('\nhi: ', sent) !== -1;
}

/** Whether the last line is an empty prompt. */
function isAtPrompt(screen: string): boolean {
  return /^hi( \d+%)?( off)?> *$/.test(screen.trimEnd().split('\n').at(-1) ?? '');
}
