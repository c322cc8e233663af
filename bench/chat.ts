import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startScriptedServer } from '../spec/support/scripted-server.js';
import { control, openTerminal, type Terminal } from '../spec/support/terminal.js';
import { median, type Row } from './row.js';
import { answerInChunks, CHUNKS } from './screen.js';

const HI = resolve('dist/hi.js');
const ROUNDS = 9;

/**
 * The built `hi chat` in a terminal: how much more a chunk costs there than in `hi ask` into a pipe, and how soon the
 * prompt is back after Ctrl-C.
 */
export async function rows(): Promise<readonly Row[]> {
  const server = await startScriptedServer((_request, index) => answers[index] ?? { text: 'ok' });
  const answers: { readonly pieces: readonly string[]; readonly delay?: number }[] = [];
  const home = makeHome(server.base);
  const prepare = (pieces: readonly string[], delay?: number): void => {
    answers[server.requests.length] = { pieces, ...(delay === undefined ? {} : { delay }) };
  };
  try {
    const answer = answerInChunks();
    const found: Record<string, CpuTime[]> = { askOne: [], askAll: [], chatOne: [], chatAll: [] };
    const measure = async (name: string, pieces: readonly string[], cost: (home: Home) => Promise<CpuTime>) => {
      prepare(pieces);
      found[name]?.push(await cost(home));
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      await measure('askOne', ['one\n'], askCost);
      await measure('chatOne', ['one\n'], chatCost);
      await measure('askAll', answer, askCost);
      await measure('chatAll', answer, chatCost);
    }
    // The minimum of several rounds: whatever else the machine does can only add CPU time.
    const least = (name: string, of: keyof CpuTime): number =>
      (found[name] ?? []).reduce((lowest, one) => Math.min(lowest, one[of]), Number.POSITIVE_INFINITY);
    const more = (of: keyof CpuTime): number =>
      (least('chatAll', of) - least('chatOne', of) - (least('askAll', of) - least('askOne', of))) / CHUNKS;
    return [
      { what: 'a chunk in hi chat beyond hi ask', value: more('main'), unit: 'µs CPU', limit: 5 },
      { what: "the same with V8's threads, which compile and collect meanwhile", value: more('all'), unit: 'µs CPU' },
      { what: 'prompt back after Ctrl-C', value: await stopTime(home, prepare), unit: 'ms', limit: 100 },
    ];
  } finally {
    await server.close();
    rmSync(home.folder, { recursive: true, force: true });
  }
}

const WORDS = Array.from({ length: 500 }, (_, index) => `word${index % 97} `);

interface Home {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file to which an ending process writes its CPU time. */
  readonly cpuFile: string;
}

function makeHome(base: string): Home {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-chat-'));
  const [config, cpuFile, hook] = ['config', 'cpu', 'hook.mjs'].map((name) => join(folder, name));
  mkdirSync(join(folder, 'config'));
  const settings = { provider: 'openai', model: 'bench', api_base: base, context_window: 10_000_000 };
  writeFileSync(join(folder, 'config', 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  writeFileSync(
    join(folder, 'hook.mjs'),
    `import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const main = Number(readFileSync(\`/proc/self/task/\${process.pid}/schedstat\`, 'utf8').split(' ')[0]) / 1000;
  writeFileSync(${JSON.stringify(cpuFile)}, JSON.stringify({ main, all: user + system }));
});`,
  );
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    HI_CONFIG_DIR: config,
    HI_DATA_DIR: join(folder, 'data'),
    HI_CACHE_DIR: join(folder, 'cache'),
    NODE_OPTIONS: `--import=${hook}`,
  };
  return { folder, env, cpuFile: cpuFile ?? '' };
}

/**
 * CPU time in microseconds: of the thread that runs the program, and of all threads, including V8's compiler and
 * garbage collector.
 */
interface CpuTime {
  readonly main: number;
  readonly all: number;
}

const cpuTime = ({ cpuFile }: Home): CpuTime => JSON.parse(readFileSync(cpuFile, 'utf8'));

async function askCost(home: Home): Promise<CpuTime> {
  await reset(home);
  // Not spawnSync: the server runs in this process.
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, [HI, 'ask', 'go'], { env: home.env, stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  await new Promise((done) => child.on('close', done));
  return cpuTime(home);
}

async function chatCost(home: Home): Promise<CpuTime> {
  await reset(home);
  const terminal = await openChat(home);
  terminal.type('go\r');
  await terminal.until(/\n\nhi.*> *$/, 60_000);
  terminal.type(control('d'));
  await terminal.exit();
  return cpuTime(home);
}

async function stopTime(home: Home, prepare: (pieces: readonly string[], delay: number) => void): Promise<number> {
  await reset(home);
  const terminal = await openChat(home);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    prepare(WORDS, 10);
    terminal.type('go\r');
    await terminal.until(/word9 word10 (?![\s\S]*\(interrupted\))/, 60_000);
    const before = performance.now();
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi.*> *$/, 60_000);
    times.push(performance.now() - before);
  }
  terminal.type(control('d'));
  await terminal.exit();
  return median(times);
}

async function openChat(home: Home): Promise<Terminal> {
  const terminal = openTerminal(process.execPath, [HI, 'chat'], { env: home.env, rows: 50 });
  await terminal.until(/^hi.*> *$/m, 60_000);
  return terminal;
}

async function reset(home: Home): Promise<void> {
  spawnSync(process.execPath, [HI, 'reset', '-y', '--purge'], { env: home.env });
}
