import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { type Entry, isMessage } from '../../chat/entry.js';
import { HiError } from '../../errors.js';
import { ownEnvironment, shellCommand } from '../../processes.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { textWidth } from '../../screen/text/styled-text.js';
import { outputStreams, writeAll } from '../base/output.js';
import type { World } from '../base/world.js';

/** The pager of the user. */
export interface ChosenPager {
  readonly hasColour: boolean;
  /** Whether it opens at the start of the text although the end was asked for. */
  readonly missesEnd: boolean;
  /**
   * Shows the texts. Resolves when the user has left. Throws a `HiError` of code `config` if the command line of the
   * user started nothing.
   */
  page(texts: AsyncIterable<string>): Promise<void>;
}

/**
 * The pager of the user, or the usual one; null if there is none: a terminal scrolls. It opens at the `end` of the text
 * as far as it can.
 */
export function choosePager(world: World, at: 'start' | 'end'): ChosenPager | null {
  const env = ownEnvironment(world.env);
  const { pager, missing } = pagerFor(env, at);
  if (missing !== null) {
    const instead = pager === null ? 'nothing pages this' : 'less pages this';
    world.stderr.write(neutralise(`hi: There is no '${missing}', which PAGER names: ${instead}.\n`));
  }
  if (pager === null) return null;
  return {
    hasColour: pager.takesColour && outputStreams(world).colour.out,
    missesEnd: pager.missesEnd,
    page: async (texts) => {
      const { isWhole, all } = await firstScreen(texts, world.stdout);
      // At the end of a text that fits, less draws the empty rows above it.
      await run((isWhole ? pagerFor(env, 'start').pager : null) ?? pager, env, all);
    },
  };
}

/** Whether the texts fit on the screen, which is known as soon as they do not, and all of them. */
async function firstScreen(
  texts: AsyncIterable<string>,
  { columns = 80, rows = 24 }: World['stdout'],
): Promise<{ readonly isWhole: boolean; readonly all: AsyncIterable<string> }> {
  const iterator = texts[Symbol.asyncIterator]();
  let held = '';
  let next = await iterator.next();
  const fits = () => held.split('\n').reduce((sum, line) => sum + Math.ceil(textWidth(line) / columns || 1), 0) <= rows;
  for (; !next.done && fits(); next = await iterator.next()) held += next.value;
  const isWhole = next.done === true && fits();
  async function* all(): AsyncGenerator<string> {
    yield held;
    for (; !next.done; next = await iterator.next()) yield next.value;
  }
  return { isWhole, all: all() };
}

async function run(
  { command, env: added }: Pager,
  env: NodeJS.ProcessEnv,
  texts: AsyncIterable<string>,
): Promise<void> {
  const { file, args, options } = shellCommand(command);
  const child = spawn(file, args, { ...options, stdio: ['pipe', 'inherit', 'inherit'], env: { ...env, ...added } });
  child.stdin.on('error', () => child.stdin.destroy());
  const closed = once(child, 'close');
  await writeAll(child.stdin, texts);
  child.stdin.end();
  const [status] = await closed;
  if (NOT_STARTED.includes(status))
    throw new HiError('config', `PAGER cannot be run: '${command}'.`, {
      hint: 'Correct or unset the variable, or print without a pager: hi history | cat',
    });
}

/** The statuses of a shell that cannot start a program. */
const NOT_STARTED: readonly unknown[] = [126, 127];

/** How a pager is started. */
interface Pager {
  readonly command: string;
  /** Added to its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly takesColour: boolean;
  readonly missesEnd: boolean;
}

/** The pager, null for none. */
interface PagerChoice {
  readonly pager: Pager | null;
  /** The program that the user chose and that is not there. */
  readonly missing: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What of the system chooses the pager. A spec passes its own. */
interface PagerSearch {
  readonly platform: NodeJS.Platform;
  /** The file of a program with its links followed; null if there is none. */
  programAt(path: string): string | null;
}

/** What is known of a pager by the name of its program. */
interface KnownPager {
  /** What opens it at the end, by its manual; empty if it prints and is gone. */
  readonly end: string;
  /** Whether it passes colours on, and knows that they have no width. */
  readonly takesColour: boolean;
}

const KNOWN: Readonly<Record<string, KnownPager>> = {
  cat: { end: '', takesColour: true },
  moar: { end: '--follow', takesColour: true },
  moor: { end: '--follow', takesColour: true },
  most: { end: '+999999999', takesColour: true },
  nvim: { end: '+', takesColour: false },
  ov: { end: '--follow-mode', takesColour: true },
  view: { end: '+', takesColour: false },
  vim: { end: '+', takesColour: false },
};

/** Of several programs, or found by a shell alone. */
const OF_A_SHELL = /[|&;<>()$`"'\\*?[]|^[^\s/]*=|^~/;

/**
 * The pager in `PAGER`, or `less`, if it is the real one: BusyBox's knows neither the options nor colours, and Windows'
 * `more` no UTF-8. What the user set for `less` holds, and colours and where it opens are added. A pager that is not
 * known gets plain text, and is taken to open at the start.
 */
export function pagerFor(
  env: Environment,
  at: 'start' | 'end',
  search: PagerSearch = { platform: process.platform, programAt: realProgram },
): PagerChoice {
  const chosen = env.PAGER?.trim() ?? '';
  const [program = ''] = chosen.split(/\s+/);
  const isOfAShell = OF_A_SHELL.test(chosen);
  const isMissing =
    chosen !== '' && !isOfAShell && search.platform !== 'win32' && fileOf(program, env, search) === null;
  if (chosen !== '' && !isMissing) return { pager: chosenPager(chosen, { env, at, search }), missing: null };
  const usual = `less -FRX${at === 'end' ? ' +G' : ''}`;
  const pager = { command: usual, env: {}, takesColour: true, missesEnd: false };
  return { pager: isRealLess('less', env, search) ? pager : null, missing: isMissing ? program : null };
}

/** How the pager that the user chose is started. */
function chosenPager(
  chosen: string,
  { env, at, search }: { readonly env: Environment; readonly at: 'start' | 'end'; readonly search: PagerSearch },
): Pager {
  const isEnd = at === 'end';
  const [program = '', ...args] = chosen.split(/\s+/);
  const name = basename(program);
  // Read by a less that another program starts; a text in it ends at the sign.
  const forLess = { LESS: `${isEnd ? '+G$' : ''}-R ${env.LESS ?? ''}`.trim() };
  if (OF_A_SHELL.test(chosen)) {
    const isLess = /\bless\b/.test(chosen) && !chosen.includes('LESS=');
    return { command: chosen, env: isLess ? forLess : {}, takesColour: false, missesEnd: isEnd && !isLess };
  }
  if (name === 'less' && isRealLess(program, env, search)) {
    const usual = args.length === 0 && !env.LESS ? '-FRX' : '-R';
    return { command: `${chosen} ${usual}${isEnd ? ' +G' : ''}`, env: {}, takesColour: true, missesEnd: false };
  }
  if (name === 'bat' || name === 'batcat') {
    const style = { BAT_STYLE: env.BAT_STYLE ?? 'plain', BAT_PAGER: env.BAT_PAGER ?? 'less -FRX' };
    return { command: chosen, env: { ...forLess, ...style }, takesColour: true, missesEnd: false };
  }
  const known = KNOWN[name];
  const end = isEnd && known && !args.some((arg) => arg.startsWith('+')) ? known.end : '';
  const command = `${chosen} ${end}`.trim();
  return { command, env: {}, takesColour: known?.takesColour ?? false, missesEnd: isEnd && known === undefined };
}

/** How many of the newest entries are shown first: the pager cannot go to the end of all. */
const MOST_FIRST = 1000;

/** The newest entries in turns, the newest turn first, each in reading order. `isWhole` tells whether these are all. */
export async function newestFirst(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
): Promise<{ readonly entries: readonly Entry[]; readonly isWhole: boolean }> {
  const turns: Entry[][] = [];
  let [turn, count, isWhole] = [0, 0, true];
  for await (const entry of entries) {
    const last = turns.at(-1);
    if (last !== undefined && !(isMessage(entry) && entry.turn !== turn)) last.push(entry);
    else turns.push([entry]);
    if (isMessage(entry)) turn = entry.turn;
    count += 1;
    if (count > MOST_FIRST && turns.length > 1) {
      count -= turns.shift()?.length ?? 0;
      isWhole = false;
    }
  }
  return { entries: turns.reverse().flat(), isWhole };
}

function isRealLess(program: string, env: Environment, search: PagerSearch): boolean {
  if (search.platform === 'win32') return false;
  const file = fileOf(program, env, search);
  return file !== null && !basename(file).startsWith('busybox');
}

/** The file of a program, searched for as a shell does in the absolute folders of PATH; null if there is none. */
function fileOf(program: string, env: Environment, { programAt }: PagerSearch): string | null {
  const paths = program.includes('/')
    ? [program]
    : (env.PATH ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, program));
  return paths.map(programAt).find((found) => found !== null) ?? null;
}

function realProgram(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}
