import { readdirSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** The module that nearly every run begins with. */
export const CORE = 'lib/cli/run.ts';

/** What a start needs of MCP servers, where there are some. */
const SERVERS = 'lib/cli/wiring/session-servers.ts';

/** The parts that share it. */
const OF_SERVERS = /\/lib\/(?:mcp|cli\/mcp|cli\/from-servers)\//;

/**
 * Makes one chunk of what nearly every run needs. A module that some of the parts loaded on demand share, but not others, would be a chunk of its own, and
 * each costs a start more than what is in it; so each of those parts is made to share all of the core. `alone` are parts that never do.
 */
export function oneCore(alone: readonly string[]): Plugin {
  return {
    name: 'one core',
    setup({ onLoad }) {
      const core = resolve(CORE);
      const parts = new Set([...sources()].flatMap(loadedOnDemand));
      for (const path of [core, ...alone.map((file) => resolve(file))]) parts.delete(path);
      const shared = sharedByAdapters();
      onLoad({ filter: /\/lib\/.*\.ts$/ }, ({ path }) => {
        const others = path === core ? shared : parts.has(path) ? sharedWith(path) : [];
        if (others.length === 0) return undefined;
        const imports = others.map((other) => `import ${JSON.stringify(other)};`);
        return { contents: [...imports, readFileSync(path, 'utf8')].join('\n'), loader: 'ts' };
      });
    },
  };
}

/** What a part shares with others. */
function sharedWith(part: string): readonly string[] {
  return OF_SERVERS.test(part) ? [resolve(CORE), resolve(SERVERS)] : [resolve(CORE)];
}

function sources(): readonly string[] {
  return readdirSync('lib', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => resolve('lib', file));
}

/** What a module of ours loads at run time, on demand. */
function loadedOnDemand(file: string): readonly string[] {
  return imported(file, /import\('(\.[^']+)\.js'\)/g);
}

/** What more than one adapter imports, by others too: it is needed whenever one of them is. */
function sharedByAdapters(): readonly string[] {
  const adapters = sources().filter((file) => file.endsWith('-adapter.ts'));
  const all = adapters.flatMap((file) => [...reached(file)]);
  const shared = new Set(all.filter((path, place) => all.indexOf(path) < place));
  if (shared.size === 0)
    throw new Error("No module is shared by lib/providers/*-adapter.ts: 'one core' cannot have read their imports.");
  return [...shared];
}

/** What a module of ours loads when it is loaded. */
function reached(file: string, found = new Set<string>()): ReadonlySet<string> {
  for (const path of imported(file, /^(?:import|export) (?!type)[^;]*?from '(\.[^']+)\.js'/gm)) {
    if (!found.has(path)) reached(path, found.add(path));
  }
  return found;
}

function imported(file: string, pattern: RegExp): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, path = '']) => `${resolve(dirname(file), path)}.ts`);
}
