import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const PROGRAM = resolve(import.meta.dirname, 'tool-server.mjs');

/** A tool as a server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: unknown;
  readonly annotations?: object;
}

/** What the server of a spec does. */
export interface Scenario {
  readonly tools?: readonly ListedTool[] | object;
  readonly prompts?: readonly object[];
  readonly resources?: readonly object[];
  readonly templates?: readonly object[];
  readonly instructions?: string;
  readonly capabilities?: object;
  /** It speaks the revision 2026-07-28, perhaps no other, and this is how long its list holds. */
  readonly modern?: { readonly ttlMs?: number; readonly only?: boolean };
  /** What it becomes so many milliseconds after somebody wanted to be told of changes. */
  readonly later?: { readonly after: number; readonly changes: object };
  /**
   * By the name of the tool: a result as the protocol has it, or what happens in place of one. Without any, the
   * arguments come back as text.
   */
  readonly results?: Readonly<Record<string, object>>;
  /** By the name of a prompt, or the address of a resource. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The messages of a prompt, by its name, and what else a resource says of itself, by its address. */
  readonly messages?: Readonly<Record<string, readonly object[]>>;
  readonly contents?: Readonly<Record<string, object>>;
  /** What it prints when it starts, to stderr and to stdout. */
  readonly stderr?: string;
  readonly noise?: string;
  /** It exits at once, with this status. */
  readonly exits?: number;
  /** It never says anything, or nothing to that method. */
  readonly silent?: boolean | string;
  /** It ignores signals and the end of its input. */
  readonly stubborn?: boolean;
}

/** An MCP server for specs: the block that configures it, and what it was asked. */
export interface ToolServer {
  readonly entry: { readonly command: string; readonly args: readonly string[] };
  /** Makes it another one from its next start on. */
  become(scenario: Scenario): void;
  /** What reached it, as it came. */
  requests(): readonly { readonly method: string; readonly params?: Record<string, unknown> }[];
  /** The processes that were started, and their environments. */
  starts(): readonly { readonly pid: number; readonly env: Readonly<Record<string, string>> }[];
}

/** Makes a server in this folder; nothing runs before a program starts it. */
export function toolServer(folder: string, name: string, scenario: Scenario): ToolServer {
  const file = join(folder, `${name}.json`);
  const become = (now: Scenario): void => writeFileSync(file, JSON.stringify(now));
  const lines = (): readonly string[] =>
    existsSync(`${file}.log`)
      ? readFileSync(`${file}.log`, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
      : [];
  become(scenario);
  return {
    entry: { command: process.execPath, args: [PROGRAM, file] },
    become,
    requests: () =>
      lines()
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    starts: () =>
      lines()
        .filter((line) => line.startsWith('start '))
        .map((line) => /^start (\d+) (.*)$/.exec(line))
        .map((match) => ({ pid: Number(match?.[1]), env: JSON.parse(match?.[2] ?? '{}') })),
  };
}

/** A tool that takes one text. */
export const textTool = (name: string, description = `Does ${name}.`): ListedTool => ({
  name,
  description,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
});
