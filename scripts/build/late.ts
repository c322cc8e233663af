import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/**
 * The modules that are evaluated at the first call of one of their functions, though they are imported like all others:
 * to evaluate all of the program would double the time of a start. Each exports functions and types only. What only
 * late modules import is late with them.
 */
export const LATE: readonly string[] = [
  'lib/books/import-books.ts',
  'lib/books/input/find-files.ts',
  'lib/books/search-books.ts',
  'lib/cli/ask/approve.ts',
  'lib/cli/ask/asker.ts',
  'lib/cli/ask/elicit.ts',
  'lib/cli/ask/inquirer.ts',
  'lib/cli/ask/terminal-question.ts',
  'lib/cli/base/configured-servers.ts',
  'lib/cli/base/give-out.ts',
  'lib/cli/report-error.ts',
  'lib/cli/chat/chat.ts',
  'lib/cli/commands/acp-command.ts',
  'lib/cli/commands/ask-several.ts',
  'lib/cli/commands/check-command.ts',
  'lib/cli/commands/compact-command.ts',
  'lib/cli/commands/completion-command.ts',
  'lib/cli/commands/config-command.ts',
  'lib/cli/commands/export-command.ts',
  'lib/cli/commands/forget-command.ts',
  'lib/cli/commands/found-luggage.ts',
  'lib/cli/commands/history-command.ts',
  'lib/cli/commands/history-page.ts',
  'lib/cli/commands/import-command.ts',
  'lib/cli/commands/mcp-add.ts',
  'lib/cli/commands/mcp-from.ts',
  'lib/cli/commands/mcp-list.ts',
  'lib/cli/commands/mcp-login.ts',
  'lib/cli/commands/memory-command.ts',
  'lib/cli/commands/models-command.ts',
  'lib/cli/commands/recall-command.ts',
  'lib/cli/commands/reset-command.ts',
  'lib/cli/commands/share-command.ts',
  'lib/cli/commands/shell-init-command.ts',
  'lib/cli/commands/skills-command.ts',
  'lib/cli/commands/status-command.ts',
  'lib/cli/commands/structure.ts',
  'lib/cli/commands/usage-command.ts',
  'lib/cli/forget/forgetting.ts',
  'lib/cli/forget/places.ts',
  'lib/cli/init/first-model.ts',
  'lib/cli/init/init.ts',
  'lib/cli/input/from-servers.ts',
  'lib/cli/input/own-commands.ts',
  'lib/cli/program.ts',
  'lib/cli/wiring/index-slice.ts',
  'lib/cli/wiring/limited-provider.ts',
  'lib/cli/wiring/open-memory.ts',
  'lib/cli/wiring/price.ts',
  'lib/cli/wiring/server-list.ts',
  'lib/cli/wiring/sharing.ts',
  'lib/compaction/rest-block.ts',
  'lib/compaction/rest-record.ts',
  'lib/compaction/run-strategy.ts',
  'lib/config/read-key.ts',
  'lib/config/validate-config.ts',
  'lib/config/write.ts',
  'lib/history/append-block.ts',
  'lib/history/attachments.ts',
  'lib/history/forget-everywhere.ts',
  'lib/history/lock/exclusive.ts',
  'lib/history/open-reading.ts',
  'lib/history/reset-history.ts',
  'lib/history/verify.ts',
  'lib/mcp/auth/login-adapter.ts',
  'lib/mcp/auth/tokens-adapter.ts',
  'lib/mcp/calls/read-result.ts',
  'lib/mcp/connection/client-adapter.ts',
  'lib/mcp/foreign-servers.ts',
  'lib/mcp/project-servers.ts',
  'lib/page/conversation-page.ts',
  'lib/permission/judge-command.ts',
  'lib/permission/paths/judge-path.ts',
  'lib/permission/sandbox/replacement-file.ts',
  'lib/providers/anthropic/anthropic-adapter.ts',
  'lib/providers/common/provider-failure.ts',
  'lib/providers/common/vendor-schema.ts',
  'lib/providers/gemini/gemini-adapter.ts',
  'lib/providers/ollama/ollama-adapter.ts',
  'lib/providers/openai/openai-adapter.ts',
  'lib/recall/asked.ts',
  'lib/recall/show/for-model.ts',
  'lib/recall/show/passage.ts',
  'lib/repl/terminal/external-editor.ts',
  'lib/screen/markdown/languages.ts',
  'lib/screen/shown-entry.ts',
  'lib/session/compactions.ts',
  'lib/session/context/view-report.ts',
  'lib/session/context/whole-view.ts',
  'lib/session/grounds.ts',
  'lib/session/images/images.ts',
  'lib/session/images/small-image-aside.ts',
  'lib/session/refusals/adapt-request.ts',
  'lib/skills/library.ts',
  'lib/tools/shell/chardet.ts',
];

/** What finds a late module when one of its functions is called, as code. `file` is its path. */
type Finder = (file: string) => string;

/**
 * Puts functions that find the module first in the place of each late module. The build fails when the program does not
 * import one of them.
 */
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

/**
 * The functions that a module exports. Throws if it exports anything else but types, which could not wait for a call.
 */
export function exportedFunctions(code: string): readonly string[] {
  const exported = [...code.matchAll(/^export (?!type |interface )(.*)$/gm)].map(([, rest = '']) => rest);
  return exported.map((rest) => {
    const [, name] = FUNCTION.exec(rest) ?? [];
    if (name === undefined) throw new Error(`A late module exports functions and types only, not '${rest}'.`);
    return name;
  });
}
