import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * The modules that are evaluated at the first call of one of their functions, though they are imported like all others: to evaluate all of the program would
 * double the time of a start. Each exports functions and types only. What only late modules import is late with them.
 */
export const LATE: readonly string[] = [
  'lib/cli/base/report-error.ts',
  'lib/cli/commands/acp-command.ts',
  'lib/cli/commands/chat-command.ts',
  'lib/cli/commands/compact-command.ts',
  'lib/cli/commands/completion-command.ts',
  'lib/cli/commands/config-command.ts',
  'lib/cli/commands/forget-command.ts',
  'lib/cli/commands/history-command.ts',
  'lib/cli/commands/memory-command.ts',
  'lib/cli/commands/recall-command.ts',
  'lib/cli/commands/remember-command.ts',
  'lib/cli/commands/reset-command.ts',
  'lib/cli/commands/shell-init-command.ts',
  'lib/cli/commands/skills-command.ts',
  'lib/cli/commands/status-command.ts',
  'lib/cli/commands/usage-command.ts',
  'lib/cli/mcp/mcp-add.ts',
  'lib/cli/mcp/mcp-approve.ts',
  'lib/cli/mcp/mcp-list.ts',
  'lib/cli/mcp/mcp-log.ts',
  'lib/cli/mcp/mcp-login.ts',
  'lib/cli/mcp/mcp-logout.ts',
  'lib/cli/mcp/mcp-remove.ts',
  'lib/cli/mcp/mcp-test.ts',
  'lib/cli/program.ts',
];

/** What finds a late module when one of its functions is called, as code. `file` is its path. */
type Finder = (file: string) => string;

/** Puts functions that find the module first in the place of each late module. The build fails when the program does not import one of them. */
export function late(finder: Finder = inBundle, files = LATE): Plugin {
  return {
    name: 'late',
    setup({ onResolve, onLoad, onEnd }) {
      const modules = new Set(files.map((file) => resolve(file)));
      const left = new Set(modules);
      onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir, kind }) => {
        const file = resolve(resolveDir, path.replace(/\.js$/, '.ts'));
        if (!modules.has(file) || kind !== 'import-statement') return undefined;
        left.delete(file);
        return { path: file, namespace: 'late', sideEffects: false };
      });
      onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => ({
        contents: standIn(readFileSync(path, 'utf8'), finder(path)),
        resolveDir: resolve('.'),
      }));
      onEnd(() => ({
        errors: [...left].map((file) => ({ text: `The program does not import ${file}, which is to be late.` })),
      }));
    },
  };
}

/** In a bundle without `splitting`, esbuild evaluates what is required when it is. */
const inBundle: Finder = (file) => `require(${JSON.stringify(file)})`;

/** The name of the file of a late module, where each is one of its own. */
export const lateName = (file: string): string => `late-${basename(file, '.ts')}`;

function standIn(code: string, found: string): string {
  const functions = exportedFunctions(code).map(
    (name) => `export function ${name}(...values) { return find().${name}(...values); }`,
  );
  return [`let found; const find = () => (found ??= ${found});`, ...functions].join('\n');
}

/** The beginning of a function, as a declaration or as a constant. */
const FUNCTION = /^(?:(?:async )?function\*? |const (?=\w+(?:: [^=]+)? = (?:async )?\(.*\)(?:: [^=]+)? =>))(\w+)/;

/** The functions that a module exports. Throws if it exports anything else but types, which could not wait for a call. */
export function exportedFunctions(code: string): readonly string[] {
  const exported = [...code.matchAll(/^export (?!type |interface )(.*)$/gm)].map(([, rest = '']) => rest);
  return exported.map((rest) => {
    const [, name] = FUNCTION.exec(rest) ?? [];
    if (name === undefined) throw new Error(`A late module exports functions and types only, not '${rest}'.`);
    return name;
  });
}
