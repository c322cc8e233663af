import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { compile } from './compile.js';
import { type FakeVendor, startFakeVendor } from './fake-vendor.js';
import { conversation } from './history.js';
import { type Cost, runOnce, untilPrompt } from './process.js';
import { median, type Row } from './row.js';

export const PROGRAM = resolve('dist/hi.js');
const ROUNDS = 11;
const FLOOR = [process.execPath, '-e', '0'];

/** What the start, single questions and long answers cost, as ratios to `node -e 0` in the same round. */
export async function rows(): Promise<readonly Row[]> {
  const vendor = await startFakeVendor();
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-start-'));
  try {
    return [
      ...(await startUp(folder)),
      ...(await oneShots(folder, vendor)),
      ...(await longAnswers(folder, vendor)),
      ...(await resumed(folder, vendor)),
    ];
  } finally {
    vendor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the floor and some programs in turn. Resolves to the medians of each program's ratios to the floor. */
export async function compare<Name extends string>(
  programs: Readonly<Record<Name, () => Promise<Cost>>>,
  rounds: number,
  floorCommand: readonly string[] = FLOOR,
): Promise<Readonly<Record<Name, Cost>>> {
  const ratios = new Map<string, Cost[]>();
  const names = Object.keys(programs) as Name[];
  for (let round = 0; round < rounds; round += 1) {
    const floor = await runOnce(floorCommand, {}, null);
    for (const name of names) {
      const cost = await programs[name]();
      const ratio: Cost = {
        wall: cost.wall / floor.wall,
        peak: cost.peak / floor.peak,
        request: cost.request / floor.wall,
        output: cost.output / floor.wall,
        bytes: cost.bytes,
      };
      ratios.set(name, [...(ratios.get(name) ?? []), ratio]);
    }
  }
  const middle = (name: string): Cost => {
    const costs = ratios.get(name) ?? [];
    const of = (key: keyof Cost): number => median(costs.map((cost) => cost[key]));
    return { wall: of('wall'), peak: of('peak'), request: of('request'), output: of('output'), bytes: of('bytes') };
  };
  return Object.fromEntries(names.map((name) => [name, middle(name)])) as Record<Name, Cost>;
}

async function startUp(folder: string): Promise<readonly Row[]> {
  const env = home(folder, 'startup', null);
  const found = await compare(
    {
      version: () => runOnce([process.execPath, PROGRAM, '--version'], env, null),
      help: () => runOnce([process.execPath, PROGRAM, '--help'], env, null),
    },
    ROUNDS,
  );
  return [
    { what: '`hi --version`, wall', value: found.version.wall, unit: '×', limit: 1.4 },
    { what: '`hi --help`, wall', value: found.help.wall, unit: '×', limit: 1.4 },
  ];
}

/** The path of each vendor's API, and the limits for a single question. */
export const VENDORS = [
  { provider: 'openai', title: 'OpenAI', path: '/v1', request: 2.8, exit: 3.3 },
  { provider: 'ollama', title: 'Ollama', path: '', request: 2.8, exit: 3.3 },
  { provider: 'anthropic', title: 'Anthropic', path: '', request: 3.8, exit: 4.3 },
  { provider: 'gemini', title: 'Gemini', path: '', request: 3.8, exit: 4.3 },
] as const;

async function oneShots(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  vendor.pieces = 1;
  const programs = {
    ...Object.fromEntries(VENDORS.map(({ provider, path }) => [provider, asking(folder, vendor, provider, path)])),
    first: asking(folder, vendor, 'openai', '/v1', { isFirst: true }),
  };
  const found: Readonly<Record<string, Cost>> = await compare(programs, ROUNDS);
  const first = {
    what: '`hi ask`, OpenAI, the very first message: → exit',
    value: found.first?.wall ?? Number.NaN,
    unit: '×',
  };
  const rows = VENDORS.flatMap(({ provider, title, request, exit }): Row[] => {
    const cost = found[provider];
    if (cost === undefined) return [];
    return [
      { what: `\`hi ask\`, ${title}: → first request`, value: cost.request, unit: '×', limit: request },
      { what: `\`hi ask\`, ${title}: → exit`, value: cost.wall, unit: '×', limit: exit },
      { what: `\`hi ask\`, ${title}: peak memory`, value: cost.peak, unit: '×', limit: 1.7 },
    ];
  });
  return [...rows, first];
}

async function longAnswers(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  vendor.pieces = 20_000;
  const address = `http://127.0.0.1:${vendor.port}`;
  const bare = async (entry: string): Promise<() => Promise<Cost>> => {
    const program = await compile(entry, folder, { packages: 'external' });
    return () => runOnce([process.execPath, program, address], home(folder, 'bare', null), vendor.clock);
  };
  const found = await compare(
    {
      ...Object.fromEntries(VENDORS.map(({ provider, path }) => [provider, asking(folder, vendor, provider, path)])),
      bareGemini: await bare('bench/bare-gemini.ts'),
      bareOllama: await bare('bench/bare-ollama.ts'),
    },
    7,
  );
  const costs: Readonly<Record<string, Cost>> = found;
  const cost = (name: string, of: keyof Cost): number => costs[name]?.[of] ?? Number.NaN;
  const long = (provider: string, title: string): readonly Row[] => [
    { what: `20,000 chunks, ${title}: → exit`, value: cost(provider, 'wall'), unit: '×', limit: 12 },
    {
      what: `20,000 chunks, ${title}: → first text in a pipe`,
      value: cost(provider, 'output'),
      unit: '×',
      limit: 3.5,
    },
  ];
  const against = (provider: string, title: string, bare: string): readonly Row[] => [
    { what: `20,000 chunks, ${title}: → exit`, value: cost(provider, 'wall'), unit: '×' },
    {
      what: `20,000 chunks, ${title}: → exit, against the bare SDK`,
      value: cost(provider, 'wall') / cost(bare, 'wall'),
      unit: '×',
      limit: 1.2,
    },
  ];
  return [
    ...long('openai', 'OpenAI'),
    ...long('anthropic', 'Anthropic'),
    ...against('gemini', 'Gemini', 'bareGemini'),
    ...against('ollama', 'Ollama', 'bareOllama'),
    ...VENDORS.map(({ provider, title }) => {
      return { what: `20,000 chunks, ${title}: peak memory`, value: cost(provider, 'peak'), unit: '×' };
    }),
  ];
}

/** The lengths of the conversations to resume, in messages. A hundred of these are sent. */
const LENGTHS = [100, 10_000, 1_000_000];

async function resumed(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  vendor.pieces = 1;
  const homes = LENGTHS.map((length) => {
    const env = home(folder, `resume-${length}`, settingsFor(vendor, 'openai', '/v1'));
    const data = env.HI_DATA_DIR ?? '';
    mkdirSync(data);
    replaceHistory(loadCodec(), historyPathsIn(data), 'bench', conversation(length));
    return [length, env] as const;
  });
  const programs: Record<string, () => Promise<Cost>> = {};
  for (const [length, env] of homes) {
    programs[`ask ${length}`] = () => runOnce([process.execPath, PROGRAM, 'ask', 'hello'], env, vendor.clock);
    programs[`chat ${length}`] = () => untilPrompt([process.execPath, PROGRAM, 'chat'], env);
  }
  const found = await compare(programs, ROUNDS);
  const asked = (length: number): number => found[`ask ${length}`]?.request ?? Number.NaN;
  const prompted = (length: number): number => found[`chat ${length}`]?.output ?? Number.NaN;
  const written = (length: number): string => `${length.toLocaleString('en')} messages`;
  const [shortest = 0, longest = 0] = [LENGTHS[0], LENGTHS.at(-1)];
  return [
    ...LENGTHS.map((length) => ({
      what: `resume of ${written(length)} → first request`,
      value: asked(length),
      unit: '×',
    })),
    {
      what: `resume of ${written(longest)} → first request, against resume of ${written(shortest)}`,
      value: asked(longest) / asked(shortest),
      unit: '×',
      limit: 1.3,
    },
    ...LENGTHS.map((length) => ({
      what: `\`hi chat\` → prompt on the screen, ${written(length)}`,
      value: prompted(length),
      unit: '×',
      ...(length === longest ? { limit: 4 } : {}),
    })),
  ];
}

export function settingsFor(vendor: FakeVendor, provider: string, path: string): object {
  const api_base = `http://127.0.0.1:${vendor.port}${path}`;
  return { provider, model: 'm', api_base, api_key: 'sk-bench', small_model: null };
}

/**
 * Asks the second question of a conversation, in a home of that name; with `isFirst` the first one, which creates the
 * history.
 */
export function asking(
  folder: string,
  vendor: FakeVendor,
  provider: string,
  path: string,
  {
    isFirst = false,
    name = isFirst ? `${provider}-first` : provider,
    command = [process.execPath, PROGRAM],
  }: { readonly isFirst?: boolean; readonly name?: string; readonly command?: readonly string[] } = {},
): () => Promise<Cost> {
  const env = home(folder, name, settingsFor(vendor, provider, path));
  const data = env.HI_DATA_DIR ?? '';
  const begun = `${data}-begun`;
  const ask = () => runOnce([...command, 'ask', 'hello'], env, vendor.clock);
  return async () => {
    rmSync(data, { recursive: true, force: true });
    if (isFirst) return await ask();
    if (!existsSync(begun)) {
      await ask();
      renameSync(data, begun);
    }
    cpSync(begun, data, { recursive: true });
    return await ask();
  };
}

export function home(folder: string, name: string, config: object | null): Record<string, string> {
  const own = join(folder, name);
  mkdirSync(join(own, 'config'), { recursive: true });
  if (config !== null) writeFileSync(join(own, 'config', 'config.json'), JSON.stringify(config), { mode: 0o600 });
  return {
    PATH: process.env.PATH ?? '',
    HOME: own,
    HI_CONFIG_DIR: join(own, 'config'),
    HI_DATA_DIR: join(own, 'data'),
    HI_CACHE_DIR: join(own, 'cache'),
  };
}
