import type { FileHandle } from 'node:fs/promises';
import type { ChatEvent, ServerQuestion } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ToolCallPart, ToolResultPart } from '../../chat/message.js';
import type { ToolEffect, ToolSpec } from '../../chat/request.js';
import { quantity } from '../../chat/text.js';
import type { Access } from '../../permission/access.js';
import type { RuleSubject } from '../../permission/rules/rules.js';
import type { ConfinedRun } from '../../permission/sandbox/sandbox.js';
import type { SecretStream } from '../../permission/secrets.js';
import type { ShellName } from '../../permission/shell/shell-word.js';

/** The setting `tools.sandbox`. */
interface SandboxSettings {
  /** Whether commands may use the network. */
  readonly network: boolean;
  /** Folders and files hidden from commands, in addition to hi's own and the private places. */
  readonly hidden: readonly string[];
}

/** A name in a folder. */
export interface FolderEntry {
  readonly name: string;
  /** Whether it is a folder or a link to one. */
  isFolder(): Promise<boolean>;
}

/**
 * The file or folder of a call, as it was judged. This is the way of a tool to the disk: everything throws a `HiError`
 * if another file took its place meanwhile. System errors are thrown as they are, but that a file cannot be opened, as
 * a `HiError` that says why.
 */
export interface JudgedFile {
  /** Opens it for reading. The caller closes it. */
  open(): Promise<FileHandle>;
  /** The whole content. */
  bytes(): Promise<Buffer>;
  /** The entries of the folder. */
  list(): Promise<readonly FolderEntry[]>;
  /** The names beside it, none if its folder cannot be read. */
  namesBeside(): Promise<readonly string[]>;
  /** Replaces it atomically, see `replaceFile`. Resolves to whether it is new. */
  replace(content: string | Uint8Array): Promise<boolean>;
}

/** The decision on how a call may run. */
export interface Permit {
  /**
   * The file or folder of the call, as it was judged; null if it has none. A tool reaches the disk through this alone.
   */
  readonly file: JudgedFile | null;
  /** The sandbox that a command runs in; null for none. */
  readonly confined: ConfinedRun | null;
}

/** The file of a call of a tool that always has one: its `access` names a path. */
export function judgedFile({ file }: Permit): JudgedFile {
  if (file === null) throw new TypeError('The access of this tool names no path.');
  return file;
}

/** Where a session is. */
interface WorkingFolder {
  /** The folder the session started in, which permission rules call "the working folder". */
  readonly start: string;
  /** The folder that paths are relative to; a command may change it. */
  now: string;
}

/** What a runner of calls does for the tools. */
export interface RunnerServices {
  /**
   * Shortens a complete text for the model: to `outputLimit`, without control characters, with the full text in a file.
   */
  fitOutput(text: string): string;
  /** Gives the model a file in addition to the result, and returns its description for the result. */
  giveFile(mime: string, bytes: Uint8Array): string;
  /** Makes a mask of secrets for one stream of output. */
  maskStream(): SecretStream;
  /** Registers a cleanup for the end of the turn. Without a runner a call cleans up before it ends. */
  atTurnEnd(end: () => Promise<void>): void;
  /** Shows a warning to the user as well as the model. */
  warn(text: string): void;
  /** Reports a question that a server asked the user during a call. */
  asked(question: ServerQuestion): void;
}

/** The state that the tools of a session share. */
export interface ToolContext {
  /** One object for the whole session: the file tools, commands, mentions and completion see the same folder. */
  readonly cwd: WorkingFolder;
  /** The environment of commands, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The shell that runs commands; absent for bash. */
  readonly shell?: ShellName;
  /**
   * The names of variables that commands get in addition to the usual ones (`tools.env`); `all` for a command that the
   * user typed.
   */
  readonly variables?: readonly string[] | 'all';
  /** The time limit of a call, in milliseconds. */
  readonly timeout: number;
  /** The maximum number of characters of output that the model gets. */
  readonly outputLimit: number;
  /** The folder for full outputs that were too long for the model. */
  readonly spillFolder: string;
  /** Whether what is said now is stored, outputs too. Absent means always. */
  isKept?(): boolean;
  /**
   * If set, all commands run in the sandbox, and none if it does not work. Absent or null: only commands that need no
   * approval run in it.
   */
  readonly sandbox?: SandboxSettings | null;
  /** What the runner does for its calls; absent for a call outside of one. */
  readonly runner?: RunnerServices;
  /** Searches the conversation. Absent if that is impossible. */
  readonly conversation?: SearchableConversation;
  /** The lines that are sent with every request. Absent if nothing can be remembered. */
  readonly memory?: Memory;
}

/** A search of the whole conversation, as the model requested it. */
export interface ConversationSearch {
  readonly query?: string;
  readonly from?: string;
  readonly until?: string;
  readonly who?: 'user' | 'assistant' | 'tool';
  readonly around?: number;
  readonly count?: number;
}

/** The whole conversation. */
export interface SearchableConversation {
  /** The results for the model: those of the conversation as `recalled`. Throws a `HiError` for an invalid time. */
  search(search: ConversationSearch, signal: AbortSignal): Promise<JsonObject>;
}

/** The memory file, to which the model may propose changes. Throws a `HiError` for a line that cannot be stored. */
export interface Memory {
  /** What `keep` would change, as a diff. */
  preview(text: string, replaces: string | null): Promise<string>;
  /** Stores a line, or replaces another one with it. Resolves to a description of what was done, for the model. */
  keep(text: string, replaces: string | null): Promise<string>;
}

/** The latest part of an output. */
export interface ReadOutput {
  readonly text: string;
  /** How many characters and ends of lines are left out before it. */
  readonly leftOut: number;
  readonly leftOutLines: number;
}

/** Output that comes faster than it is read. Reading it empties it. */
export interface DeferredOutput {
  read(): ReadOutput;
}

/**
 * A tool: one object in one file, listed in `index.ts`. `Args` is described by `parameters` and validated by the
 * dispatcher.
 */
export interface Tool<Args extends JsonObject = JsonObject> extends ToolSpec, RuleSubject {
  /** What a compaction records about a call whose messages leave the view; null for nothing. */
  readonly effect: ToolEffect | null;
  /** The description if commands run in sh. Absent if it is the same. */
  readonly descriptionInSh?: string;
  access(args: Args, context: ToolContext): Access;
  /** The call that a call with these arguments stands for, which is judged, shown and run instead; null for itself. */
  standsFor?(args: JsonObject): Pick<ToolCallPart, 'name' | 'args'> | null;
  /** Says what is wrong with the arguments, for the model. Absent if validating against `parameters` is enough. */
  check?(args: Args): string | null;
  /**
   * The MCP server that runs it. The tool enforces its own time limit, and what it emits is progress, not output.
   * Absent for built-in tools.
   */
  readonly server?: string;
  /**
   * Runs the call and resolves to the result for the model. `emit` shows output on the screen while it runs.
   * `permit` is how it may run.
   * Throws an error on failure; the model gets its message.
   */
  run(
    args: Args,
    context: ToolContext,
    emit: (output: string | DeferredOutput) => void,
    signal: AbortSignal,
    permit: Permit,
  ): Promise<JsonObject>;
}

/** A question to the user before a call runs. */
export interface ApprovalQuestion {
  readonly call: ToolCallPart;
  /**
   * What the call would do: the command, the path, the diff, the lines of the memory that change, or the call of a
   * server's tool.
   */
  readonly preview: {
    readonly kind: 'command' | 'path' | 'diff' | 'memory' | 'call';
    readonly text: string;
    /** The shell that would run a command, if not bash. */
    readonly shell?: ShellName;
  };
  /** Why approval is needed: the part of a command that no rule covers, a private place, an `ask` rule. */
  readonly reason: string;
  /** The rule that "always" stores, such as `bash(git status:*)`; null if only "once" is offered. */
  readonly rule: string | null;
  /** Whether it would run outside of the sandbox that stopped it. */
  readonly isOutside: boolean;
}

export type Approval =
  | { readonly answer: 'once' }
  | { readonly answer: 'always' }
  /** `reason` is what the user wrote for the model, if anything. */
  | { readonly answer: 'no'; readonly reason?: string };

/**
 * Asks the user. Null if nobody can be asked, so that "ask" means no. Rejects with an abort error when `signal` aborts.
 */
export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<Approval>;

/** An image or audio file that a tool returned. */
export interface GivenFile {
  readonly kind: 'image' | 'document';
  readonly mime: string;
  readonly bytes: Uint8Array;
}

/** Runs the tool calls of a session. */
export interface ToolRunner {
  /** The tools offered to the model; empty if tools are off. */
  readonly specs: readonly ToolSpec[];
  /**
   * Runs the calls of one answer in order and yields events. Returns one result for each call, in the same order. Never
   * throws for a failing call: invalid arguments, refusals and timeouts are results. If `signal` aborts, the running
   * call is ended with its process group, and every unfinished call gets the error "interrupted", with the end of its
   * output.
   */
  run(calls: readonly ToolCallPart[], signal: AbortSignal): AsyncGenerator<ChatEvent, readonly ToolResultPart[]>;
  /** The files that calls returned since the last call of this method. */
  takeFiles(): readonly GivenFile[];
  /** Ends the processes that the turn left in the background. */
  endTurn(): Promise<void>;
}

/** A call on one line for the screen: `bash ls -la`, `write_file src/x.ts (12 lines)`. */
export function describeCall({
  name,
  args,
  invalid_args,
}: Pick<ToolCallPart, 'name' | 'args' | 'invalid_args'>): string {
  if (invalid_args !== undefined) return `${name} (unreadable arguments)`;
  return [name, subject(args), detail(args)].filter((part) => part !== '').join(' ');
}

function subject(args: ToolCallPart['args']): string {
  const { command, path, text, ...others } = args;
  if (typeof text === 'string' && command === undefined && path === undefined && Object.keys(others).length === 0)
    return oneLine(text);
  if (typeof command === 'string') return oneLine(command);
  if (typeof path === 'string') return oneLine(path);
  return Object.keys(args).length === 0 ? '' : oneLine(JSON.stringify(args));
}

function detail({ content, old, new: replacement, offset, limit }: ToolCallPart['args']): string {
  if (typeof content === 'string') return `(${lines(content)} ${lines(content) === 1 ? 'line' : 'lines'})`;
  if (typeof old === 'string' && typeof replacement === 'string') return `(-${lines(old)} +${lines(replacement)})`;
  if (typeof offset !== 'number' && typeof limit !== 'number') return '';
  const first = typeof offset === 'number' ? offset : 1;
  return typeof limit === 'number' ? `(lines ${first}-${first + limit - 1})` : `(from line ${first})`;
}

function lines(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}

function oneLine(text: string): string {
  const lines = text.split('\n').map((one) => one.trim());
  const line = lines.filter((one) => one !== '').join(' ⏎ ');
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/**
 * The result of a call in a few words for the screen: `7 entries`, `120 lines`, `exit status 1`; empty if there is
 * nothing to say.
 */
export function describeResult(result: JsonValue): string {
  if (!isJsonObject(result)) return '';
  const { entries, total, content, exit_code, stdout, stderr } = result;
  if (Array.isArray(entries)) return quantity(typeof total === 'number' ? total : entries.length, 'entry', 'entries');
  if (typeof content === 'string') return quantity(linesIn(content), 'line');
  if (typeof exit_code === 'number' && exit_code !== 0) return `exit status ${exit_code}`;
  return exit_code === 0 && stdout === '' && stderr === '' ? 'no output' : '';
}

function linesIn(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
