import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, realpathSync } from 'node:fs';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import type { Writable } from 'node:stream';
import { ownEnvironment } from '../../own-programs.js';
import { shellCommand } from '../../shell-command.js';
import { outputStreams } from '../base/output.js';
import type { World } from '../base/world.js';

/** A running pager. */
export interface OpenPager {
  readonly input: Writable;
  readonly hasColour: boolean;
  /** Ends the input. Resolves when the user has left. */
  done(): Promise<void>;
}

/** Starts the pager of the user, or the usual one; null if there is none: a terminal scrolls. It opens at the `end` of the text as far as it can. */
export function openPager(world: World, at: 'start' | 'end'): OpenPager | null {
  const pager = pagerFor(world.env, at);
  if (pager === null) return null;
  const { file, args, options } = shellCommand(pager.command);
  const child = spawn(file, args, {
    ...options,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...ownEnvironment(world.env), ...pager.env },
  });
  child.stdin.on('error', () => child.stdin.destroy());
  const closed = once(child, 'close');
  return {
    input: child.stdin,
    hasColour: pager.takesColour && outputStreams(world).colour.out,
    async done() {
      child.stdin.end();
      await closed;
    },
  };
}

/** How a pager is started. */
interface Pager {
  readonly command: string;
  /** Added to its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly takesColour: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** What of the system chooses the pager. A spec passes its own. */
interface PagerSearch {
  readonly platform: NodeJS.Platform;
  /** The file of a program with its links followed; null if there is none. */
  programAt(path: string): string | null;
}

/** What is behind these names is known to pass colours on; `less` and what pages with it can open at the end. */
const COLOURED: readonly string[] = ['bat', 'batcat', 'cat', 'moar', 'moor', 'ov'];

/**
 * The pager in `PAGER`, or `less`, if it is the real one: BusyBox's knows neither the options nor colours, and Windows' `more` no UTF-8. What the user set for
 * `less` holds, and colours and where it opens are added. A pager that is not known gets plain text.
 */
export function pagerFor(
  env: Environment,
  at: 'start' | 'end',
  search: PagerSearch = { platform: process.platform, programAt: realProgram },
): Pager | null {
  const place = at === 'end' ? ' +G' : '';
  const usual = `-FRX${place}`;
  const chosen = env.PAGER?.trim() ?? '';
  if (chosen === '')
    return isRealLess('less', env, search) ? { command: `less ${usual}`, env: {}, takesColour: true } : null;
  const [program = '', ...args] = chosen.split(/\s+/);
  const name = basename(program);
  // A command line of several programs is the user's own affair.
  if (/[|&;<>()$`"'\\]/.test(chosen)) return { command: chosen, env: {}, takesColour: false };
  if (name === 'less' && isRealLess(program, env, search)) {
    const isBare = args.length === 0 && !env.LESS;
    return { command: `${chosen} ${isBare ? usual : `-R${place}`}`, env: {}, takesColour: true };
  }
  const forBat = { BAT_PAGER: env.BAT_PAGER ?? `less ${usual}`, BAT_STYLE: env.BAT_STYLE ?? 'plain' };
  const isBat = name === 'bat' || name === 'batcat';
  return { command: chosen, env: isBat ? forBat : {}, takesColour: COLOURED.includes(name) };
}

function isRealLess(program: string, env: Environment, { platform, programAt }: PagerSearch): boolean {
  if (platform === 'win32') return false;
  const paths = program.includes('/')
    ? [program]
    : (env.PATH ?? '')
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, program));
  const file = paths.map(programAt).find((found) => found !== null);
  return file !== undefined && file !== null && !basename(file).startsWith('busybox');
}

function realProgram(path: string): string | null {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return null;
  }
}
