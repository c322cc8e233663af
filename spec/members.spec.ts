import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';
import { strategies } from '../lib/compaction/index.js';
import { providers } from '../lib/providers/index.js';
import type { Named } from '../lib/registry.js';
import { slashCommands } from '../lib/slash/index.js';
import { tools } from '../lib/tools/index.js';

const LIB = resolve(import.meta.dirname, '..', 'lib');

/** The files that name a member of another folder, and why they may. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'config/keys.ts': "a key of config.json has a vendor's name, and one strategy is the default",
  'config/built.ts': 'the makers of models, by their ids in the table of prices; most are not providers',
  'chat/entry-list.ts': 'what was recalled is not found again, and not kept once it is forgotten',
  'cli/input/local-command.ts': '`!command` is that tool, run by the user',
  'permission/shell/nested-command.ts': 'the program bash, not the tool',
  'tools/shell/run-shell.ts': 'the program bash, not the tool',
  'cli/commands/check-system.ts': 'the program bash, not the tool',
  'cli/commands/completion-scripts.ts': 'the program bash, not the tool',
  'cli/commands/shell-init-command.ts': 'the program bash, not the tool',
  'cli/command-table.ts': 'the program bash, not the tool',
  'permission/shell/read-command.ts': 'the program bash, not the tool',
  'providers/common/streamed-answer.ts': "a field of a vendor's answer",
  'screen/screen.ts': 'what a request is for: an answer or a summary',
  'servers/known-servers.ts': 'models by the name of their maker, and a service of the same company',
  'session/turn/turn.ts': 'what a request is for: an answer or a summary',
  'books/book.ts': 'the room, not the tool',
  'books/open-book.ts': 'the room, not the tool',
  'books/search-books.ts': 'the room, not the tool',
  'books/sources/chatgpt.ts': "a field of the source's own format",
  'books/sources/codex.ts': "a field of the source's own format",
  'books/sources/gemini.ts': 'another program of the vendor',
  'books/sources/gemini-cli.ts': 'another program of the vendor',
  'books/sources/index.ts': 'another program of the vendor',
  'books/sources/markdown.ts': 'a heading of what other programs write',
  'books/sources/claude-code.ts': "a field of the source's own format",
  'mcp/foreign-servers.ts': 'another program of the vendor',
  'cli/commands/import-command.ts': 'the room, not the tool',
  'cli/commands/recall-command.ts': 'the room, not the tool',
  'cli/commands/forget-command.ts': 'the room, not the tool',
  'cli/commands/history-command.ts': 'the room, not the tool',
  'cli/commands/usage-command.ts': 'the room, not the tool',
  'cli/wiring/wire.ts': 'the room, not the tool',
  'cli/wiring/open-memory.ts': 'the room, not the tool',
  'cli/wiring/tool-wiring.ts': 'the room, not the tool',
  'cli/forget/forgetting.ts': 'the room, not the tool',
  'cli/forget/places.ts': 'the room, not the tool',
  'config/paths.ts': 'the folder of the index, not the tool',
  'slash/index.ts': 'the command, not the tool',
  'session/reminders.ts': 'the room, not the tool',
  'session/session-status.ts': 'the room, not the tool',
  'slash/recall.ts': 'the room, not the tool',
  'session/grounds.ts': 'the room, not the tool',
  'slash/why.ts': 'the room, not the tool',
  'recall/show/passage.ts': 'the command, not the tool',
  'slash/find.ts': 'the room, not the tool',
  'slash/remember.ts': 'the command, not the tool',
  'cli/chat/slash-context.ts': 'the command, not the tool',
  'cli/by-model.ts': 'the command, not the tool',
  'cli/commands/memory-command.ts': 'the command, not the tool',
  'skills/match.ts': 'a word of everyday language',
  'recall/asked.ts': 'a word of everyday language',
  'providers/ollama/ollama-adapter.ts': 'a word of everyday language',
  'permission/paths/runs-later.ts': 'the settings of another program, not a vendor',
  'screen/markdown/languages.ts': 'the language bash, not the tool',
};

/** The code of a file without its comments and types. */
const codeOf = (path: string): string =>
  transformSync(readFileSync(path, 'utf8').replaceAll(/^ *\/\/.*$/gm, ''), {
    loader: 'ts',
    legalComments: 'none',
    // Else the comments in classes stay.
    minifyWhitespace: true,
    charset: 'utf8',
  }).code;

/** The texts in it. */
const textsOf = (code: string): readonly string[] =>
  (code.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? []).map((text) => text.slice(1, -1));

const FILES = readdirSync(LIB, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ file: relative(LIB, path), code: codeOf(path) }));

type Naming = (file: string, name: string) => boolean;

/** The files with one of these names as a word of their code, where it is not their own. */
function naming(names: readonly string[], isOwn: Naming): readonly string[] {
  return FILES.flatMap(({ file, code }) =>
    names
      .filter((name) => !isOwn(file, name) && new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(code))
      .map((name) => `${file}: ${name}`),
  );
}

const unexcused = (found: readonly string[]): readonly string[] =>
  found.filter((line) => EXCEPTIONS[line.split(':')[0] ?? ''] === undefined);

const VENDORS = providers.flatMap(({ name, title }) => [name, title]);
const TOOLS = tools.map(({ name }) => name);
const STRATEGIES = strategies.map(({ name }) => `"${name}"`);

/** A vendor may use the protocol of another one. */
const isOfVendor: Naming = (file, name) =>
  new RegExp(`^providers/(?:index|${name.toLowerCase()})(?:\\.ts$|/)`).test(file) || VENDOR_FILES.has(file);
const VENDOR_FILES = new Set(providers.map(({ name }) => `providers/${name}.ts`));
/** A tool may refer the model to another one. */
const isOfTool: Naming = (file) => /^tools\/[^/]*$/.test(file) && (file === 'tools/index.ts' || TOOL_FILES.has(file));
const TOOL_FILES = new Set(TOOLS.map((name) => `tools/${name.replaceAll('_', '-')}.ts`));
const isOfStrategy: Naming = (file) => file.startsWith('compaction/');

describe('nothing but the member, its folder and its index', () => {
  it('names a provider', () => {
    expect(unexcused(naming(VENDORS, isOfVendor))).toEqual([]);
  });

  it('names a tool', () => {
    expect(unexcused(naming(TOOLS, isOfTool))).toEqual([]);
  });

  it('names a strategy', () => {
    // As a whole text only: these are words of everyday language.
    expect(unexcused(naming(STRATEGIES, isOfStrategy))).toEqual([]);
  });

  it('is excused without need', () => {
    const found = [...naming(VENDORS, isOfVendor), ...naming(TOOLS, isOfTool), ...naming(STRATEGIES, isOfStrategy)];
    const files = found.map((line) => line.split(':')[0]);
    expect(Object.keys(EXCEPTIONS).filter((file) => !files.includes(file))).toEqual([]);
  });
});

it('a tool reaches the disk by the file that was judged alone, but for commands', () => {
  const others = tools
    .filter(({ accessKind }) => accessKind !== 'execute')
    .map(({ name }) => name.replaceAll('_', '-'));
  const codes = FILES.filter(({ file }) => others.some((name) => file === `tools/${name}.ts`));
  expect(codes).toHaveLength(others.length);
  const OPENS = /"node:|open-judged|"\.\.\/disk|judgedPlace/;
  expect(codes.filter(({ code }) => OPENS.test(code.replaceAll('"node:path"', ''))).map(({ file }) => file)).toEqual(
    [],
  );
});

describe('a member', () => {
  it.each([
    ['provider', providers],
    ['tool', tools],
    ['strategy', strategies],
    ['slash command', slashCommands],
  ] as const)('has no name or alias of another %s', (_kind, members: readonly Named[]) => {
    const names = members.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});

const SYSTEM_FOLDERS = ['usr', 'bin', 'sbin', 'lib', 'etc', 'opt', 'sys', 'nix', 'gnu', 'snap'];

describe('a hint', () => {
  it('names only existing slash commands', () => {
    // Folders of the system, options of the command processor of Windows, and the example of a message that begins with
    // a slash.
    const others = new Set(['tmp', 'run', 'dev', 'proc', ...SYSTEM_FOLDERS, 'd', 's', 'c', 'text']);
    const known = slashCommands.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    const wrong = FILES.flatMap(({ file, code }) =>
      textsOf(code)
        .flatMap((text) => [...text.matchAll(/(?<=^|[\s(])\/([a-z]+)(?= |[.,;)]|$)/g)].map(([, name = '']) => name))
        .filter((name) => !known.includes(name) && !others.has(name))
        .map((name) => `${file}: /${name}`),
    );
    expect(wrong).toEqual([]);
  });
});
