import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** The module with which nearly every run begins. */
export const CORE = 'lib/cli/run.ts';

/** The module that a start with MCP servers needs. */
const SERVERS = 'lib/cli/wiring/session-servers.ts';

/** The parts that share it. */
const SERVER_PARTS = /[\\/]lib[\\/](?:mcp|cli[\\/]mcp|cli[\\/]from-servers)[\\/]/;

/**
 * Combines the modules that nearly every run needs into one chunk. A module that only some of the lazy parts share would become a separate chunk, and
 * each chunk costs a start more than its contents; so each of these parts imports the whole core. Parts in `alone` never do.
 */
export function oneCore(alone: readonly string[]): Plugin {
  return {
    name: 'one core',
    setup({ onLoad }) {
      const core = resolve(CORE);
      const parts = new Set([...sources()].flatMap(loadedOnDemand));
      for (const path of [core, ...alone.map((file) => resolve(file))]) parts.delete(path);
      const shared = sharedByAdapters();
      onLoad({ filter: /[\\/]lib[\\/].*\.ts$/ }, ({ path }) => {
        const others = path === core ? shared : parts.has(path) ? sharedWith(path) : [];
        if (others.length === 0) return undefined;
        const imports = others.map((other) => `import ${JSON.stringify(other)};`);
        return { contents: [...imports, readFileSync(path, 'utf8')].join('\n'), loader: 'ts' };
      });
    },
  };
}

/** The modules that a part shares with others. */
function sharedWith(part: string): readonly string[] {
  return SERVER_PARTS.test(part) ? [resolve(CORE), resolve(SERVERS)] : [resolve(CORE)];
}

function sources(): readonly string[] {
  return readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => resolve('lib', file));
}

/** The dynamic imports of one of our modules. */
function loadedOnDemand(file: string): readonly string[] {
  return imported(file, /import\('(\.[^']+)\.js'\)/g);
}

/** The modules that several adapters import, directly or not. They are needed whenever one of the adapters is. */
function sharedByAdapters(): readonly string[] {
  const adapters = sources().filter((file) => /\/lib\/providers\/.*-adapter\.ts$/.test(file));
  const all = adapters.flatMap((file) => [...reached(file)]);
  const shared = new Set(all.filter((path, place) => all.indexOf(path) < place));
  if (shared.size === 0)
    throw new Error("No module is shared by lib/providers/*-adapter.ts: 'one core' cannot have read their imports.");
  return [...shared];
}

/** The static imports of one of our modules, direct and indirect. */
function reached(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const path of imported(file, /^(?:import|export) (?!type)[^;]*?from '(\.[^']+)\.js'/gm)) {
    if (!found.has(path)) reached(path, found.add(path));
  }
  return found;
}

function imported(file: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, path = '']) => `${resolve(dirname(file), path)}.ts`);
}
