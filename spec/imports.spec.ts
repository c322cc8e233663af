import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { LATE } from '../scripts/build/late.js';

const ROOT = resolve(import.meta.dirname, '..');

/** Each room's floor: a room may import only rooms of a lower floor, and itself. */
const FLOOR: Readonly<Record<string, number>> = {
  errors: 0,
  registry: 0,
  disk: 0,
  chat: 0,
  waits: 0,
  'time-zone': 0,
  processes: 0,
  bun: 0,
  config: 1,
  view: 1,
  permission: 1,
  http: 1,
  screen: 1,
  compaction: 2,
  memory: 2,
  tools: 2,
  skills: 2,
  providers: 2,
  recall: 2,
  page: 2,
  servers: 2,
  history: 3,
  mcp: 3,
  books: 4,
  session: 4,
  share: 4,
  slash: 5,
  repl: 6,
  cli: 7,
  bin: 8,
};

const GROUND = ['errors', 'registry', 'disk', 'chat', 'waits', 'time-zone', 'processes', 'bun'];

/** What a room may use below it, where that is less than everything. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  registry: ['errors'],
  disk: ['errors'],
  chat: ['time-zone/time-zone'],
  waits: [],
  'time-zone': [],
  processes: [],
  bun: [],
  config: GROUND,
  view: ['chat'],
  permission: GROUND,
  http: GROUND,
  screen: GROUND,
  // The type of the settings is written once, where the keys are.
  compaction: [...GROUND, 'view', 'config/config'],
  memory: [...GROUND, 'view'],
  tools: [...GROUND, 'permission'],
  skills: [...GROUND, 'config/config'],
  providers: [...GROUND, 'http'],
  recall: [...GROUND, 'permission/secrets'],
  page: [...GROUND, 'screen/markdown/languages', 'screen/text/neutralise', 'screen/text/styled-text'],
  servers: [...GROUND, 'config', 'providers/common/provider'],
  history: [...GROUND, 'view'],
  mcp: [
    ...GROUND,
    'config/paths',
    'config/server-settings',
    'http/address',
    'http/sdk-console',
    'permission/access',
    'screen/text/neutralise',
    'tools/common/tool',
  ],
  books: [
    ...GROUND,
    'history',
    'recall/recall',
    'recall/several',
    'recall/search',
    'recall/index/documents',
    'screen/text/neutralise',
  ],
  session: [
    ...GROUND,
    'history',
    'view',
    'compaction/strategy',
    'compaction/run-strategy',
    'compaction/rest-block',
    'compaction/rest-record',
    'compaction/cache',
    'providers/common/provider',
    'recall/recall',
    'recall/search',
    'recall/asked',
    'recall/show/for-model',
    'recall/words/words',
    'memory/standing-memory',
    'tools/common/tool',
    'skills/skill',
    'servers/server-states',
  ],
  share: [...GROUND, 'view', 'memory/memory-file', 'memory/memory-text', 'history'],
  slash: [
    ...GROUND,
    'session',
    'recall/recall',
    'recall/search',
    'recall/show/passage',
    'memory/memory-file',
    'memory/memory-text',
    'page/conversation-page',
    'screen/text/neutralise',
  ],
  repl: [...GROUND, 'slash', 'screen'],
  bin: [
    'bun',
    'cli/main',
    'cli/base/world',
    'cli/base/version',
    'cli/executable/thread',
    'cli/executable/run-executable',
  ],
};

/** Plug-in folders have two doors: the contract for anyone above, `index` for the composition root. */
const DOORS: Readonly<Record<string, string>> = {
  providers: 'common/provider',
  tools: 'common/tool',
  slash: 'common/command',
  skills: 'skill',
};

interface Import {
  readonly from: string;
  readonly to: string;
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

function moduleName(file: string): string {
  return relative(ROOT, file)
    .replace(/^lib\//, '')
    .replace(/\.[jt]s$/, '');
}

const roomOf = (module: string): string => module.split('/')[0] ?? module;

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']*)'/g)].map((match) => match[1] ?? '');
  return specifiers.map((specifier) => ({ from: moduleName(file), to: moduleName(resolve(dirname(file), specifier)) }));
}

const IMPORTS = [...sources('bin'), ...sources('lib')].flatMap(importsOf);
const show = ({ from, to }: Import): string => `${from} -> ${to}`;

/**
 * What is left when everything that imports nothing more is taken away, again and again: the cycles, and what leads
 * into them.
 */
function cycle(imports: readonly Import[]): string[] {
  let rest = imports;
  for (;;) {
    const importers = new Set(rest.map(({ from }) => from));
    const next = rest.filter(({ to }) => importers.has(to));
    if (next.length === rest.length) return rest.map(show);
    rest = next;
  }
}

/** Whether Node takes the file at this address for an ES module. */
function isModule(address: string): boolean {
  const file = fileURLToPath(address);
  if (!file.endsWith('.js')) return file.endsWith('.mjs');
  let folder = dirname(file);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).type === 'module';
}

describe('imports', () => {
  it('come from rooms that are on the map', () => {
    const rooms = new Set(IMPORTS.map(({ from }) => roomOf(from)));
    expect([...rooms].filter((room) => FLOOR[room] === undefined)).toEqual([]);
  });

  it('go down only, never up and never sideways', () => {
    const wrong = IMPORTS.filter(({ from, to }) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      return room !== target && (FLOOR[target] ?? Number.NaN) >= (FLOOR[room] ?? Number.NaN);
    });
    // On the ground floor the map of what is allowed tells who is below whom.
    expect(
      wrong.filter(({ from, to }) => !(FLOOR[roomOf(from)] === 0 && ALLOWED[roomOf(from)]?.includes(to))).map(show),
    ).toEqual([]);
  });

  it('form no cycle between files, types and dynamic imports included', () => {
    expect(cycle(IMPORTS)).toEqual([]);
  });

  it('form no cycle between folders, types and dynamic imports included', () => {
    const folders = IMPORTS.map(({ from, to }) => ({ from: dirname(from), to: dirname(to) }));
    expect(cycle(folders.filter(({ from, to }) => from !== to))).toEqual([]);
  });

  it('use only the rooms below that the map allows', () => {
    const wrong = IMPORTS.filter(({ from, to }) => {
      const allowed = ALLOWED[roomOf(from)];
      return roomOf(from) !== roomOf(to) && allowed && !allowed.includes(roomOf(to)) && !allowed.includes(to);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('enter a plug-in folder by its contract, and by its index only from the composition root', () => {
    const wrong = IMPORTS.filter(({ from, to }) => {
      const contract = DOORS[roomOf(to)];
      if (contract === undefined || roomOf(from) === roomOf(to)) return false;
      if (to === `${roomOf(to)}/${contract}`) return false;
      return roomOf(from) !== 'cli';
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it('load a vendor SDK in its own adapter only', () => {
    const SDKS = ['openai', '@anthropic-ai/sdk', '@google/genai', 'ollama'];
    const users = sources('lib').filter((file) => {
      const text = readFileSync(file, 'utf8');
      return SDKS.some((sdk) => new RegExp(`(?:from|import)\\s*\\(?\\s*'${sdk}['/]`).test(text));
    });
    expect(users.filter((file) => !moduleName(file).startsWith('providers/')).map(moduleName)).toEqual([]);
  });

  it('take names of a package at run time only where the bundle keeps them: from an ES module, or by its default', () => {
    const wrong = sources('lib').flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const imports = [...text.matchAll(/(?:const ({[^}]*}) = await )?import\('([^.'][^']*)'\)/g)];
      return imports
        .filter(([, names = '', name = '']) => !name.startsWith('node:') && !names.includes('default'))
        .filter(([, , name = '']) => !isModule(import.meta.resolve(name)) && name !== 'zstd-napi')
        .map(([, , name]) => `${moduleName(file)}: ${name}`);
    });
    expect(wrong.filter((place) => !place.includes('.default('))).toEqual([]);
  });

  it('import an SDK statically in its adapter only, and every adapter is late', () => {
    const sdk = /^import (?!type)[^\n]*from '(?:openai|@anthropic-ai\/sdk|@google\/genai|ollama)['/]/m;
    const isAdapter = (file: string): boolean => file.endsWith('-adapter.ts');
    const wrong = sources('lib').filter((file) => !isAdapter(file) && sdk.test(readFileSync(file, 'utf8')));
    expect(wrong.map(moduleName)).toEqual([]);
    const late = LATE.map((file) => moduleName(resolve(file)));
    expect(late).toEqual(expect.arrayContaining(sources('lib').filter(isAdapter).map(moduleName)));
  });
});
