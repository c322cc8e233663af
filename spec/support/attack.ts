import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Home, makeHome, type RunOptions, runProgram } from './program.js';
import { type ScriptedServer, startScriptedServer } from './scripted-server.js';

export type Call = { readonly name: string; readonly args: object };

export const bash = (command: string): Call => ({ name: 'bash', args: { command } });

/** What no request to the model may contain: it is in private files only. */
export const SECRET = 'CANARY417SECRET';

/** One attack: a home with files, rules, and the calls of a model that was talked into harm. */
export interface Attack {
  readonly allow?: readonly (string | object)[];
  readonly deny?: readonly string[];
  readonly tools?: object;
  /** Files of the working folder; a path with `..` lies in the home folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Run in the working folder before hi starts. */
  readonly before?: string;
  readonly calls: readonly Call[];
  readonly args?: readonly string[];
  readonly options?: RunOptions;
  /** Starts hi in the home folder. */
  readonly atHome?: boolean;
}

/** What an attack came to. */
export interface Outcome {
  readonly home: Home;
  /** What the model got for each call. */
  readonly results: readonly string[];
  readonly stderr: string;
  /** Everything that the model was sent. */
  readonly sent: string;
  /** The paths below the home folder of files called pwned…, which an attack makes where it succeeds. */
  readonly pwned: readonly string[];
  /** Runs a command of the user's own in the working folder, as another program later would. */
  later(command: string): void;
}

/** The sandbox has a /tmp of its own, so a home folder that it should guard lies elsewhere. */
const HOMES = resolve(import.meta.dirname, '../../node_modules/.cache/hi-attacks');

/** Makes a home outside of /tmp, with no other home beside it. */
export function guardedHome(config: unknown): Home {
  mkdirSync(HOMES, { recursive: true });
  const parent = mkdtempSync(join(HOMES, 'users-'));
  return { ...makeHome(config, parent), remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/** A PATH with every program of this system but the one that makes sandboxes. */
export function pathWithoutSandbox(): string {
  mkdirSync(HOMES, { recursive: true });
  const folder = mkdtempSync(join(dirname(HOMES), 'hi-path-'));
  const from = ['/usr/sbin', '/bin', '/usr/bin', '/usr/local/bin'].filter((path) => existsSync(path));
  const programs = new Map(from.flatMap((path) => readdirSync(path).map((name) => [name, join(path, name)] as const)));
  programs.delete('bwrap');
  for (const [name, path] of programs) symlinkSync(path, join(folder, name));
  return folder;
}

/** Makes a home, lets the model make its calls in one answer, and looks at what came of it. */
export async function attempt(attack: Attack): Promise<Outcome> {
  const server: ScriptedServer = await startScriptedServer((_request, index) =>
    index === 0 ? { calls: attack.calls } : { text: 'done' },
  );
  const { allow = [], deny = [], tools = {} } = attack;
  const permissions = { allow, ask: [], deny };
  const home = guardedHome({
    provider: 'openai',
    model: 'scripted',
    api_base: server.base,
    api_key: `sk-${SECRET}`,
    tools: { permissions, ...tools },
  });
  const files = { '../.ssh/id_rsa': SECRET, '.env': `API=${SECRET}`, 'notes.txt': 'one\ntwo\n', ...attack.files };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home.work, path)), { recursive: true });
    writeFileSync(join(home.work, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  const later = (command: string): void => {
    execFileSync('bash', ['-c', `${command}; true`], {
      cwd: home.work,
      env: { ...home.env, PATH: process.env.PATH },
      stdio: 'pipe',
    });
  };
  if (attack.before !== undefined) later(attack.before);
  const args = ['ask', ...(attack.args ?? []), 'go'];
  const { stderr } = await runProgram(home, args, {
    ...(attack.atHome ? { cwd: home.folder } : {}),
    ...attack.options,
  });
  await server.close();
  const last = server.requests.at(-1)?.messages ?? [];
  return {
    home,
    stderr,
    results: last.filter(({ role }) => role === 'tool').map(({ content }) => String(content)),
    sent: JSON.stringify(server.requests),
    get pwned() {
      return pwnedBelow(home.folder);
    },
    later,
  };
}

function pwnedBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /(^|\/)pwned/.test(path));
}
