import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { isJsonObject, isTooDeep } from '../../chat/json.js';
import { lastCharacters } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { type CommandProcesses, endProcesses, newMark } from '../../processes.js';
import { type ConfinedProgram, Guardian, type ServerLog, spawned } from './spawn-server.js';

/** How to run a server, with every value resolved. */
export interface ProcessStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: ServerLog;
  /** Makes its sandbox; null for none. Throws if that is impossible: the server must not run then. */
  readonly confine: (() => Promise<ConfinedProgram>) | null;
}

/** How long a server may take to exit after its input ends, and then after SIGTERM, in milliseconds. */
const FAREWELL_MS = 100;
const GRACE_MS = 250;

/** A server as a process in its own group that exchanges lines of JSON. It ends with hi, however hi ends. */
export class ProcessTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: JSONRPCMessage) => void) | undefined;
  /** These two tell the SDK that a silent server is not a failed network. */
  readonly stderr = null;
  pid: number | null = null;
  readonly #start: ProcessStart;
  #child: ChildProcess | null = null;
  #confined: ConfinedProgram | null = null;
  #processes: CommandProcesses | null = null;
  #guardian: Guardian | null = null;
  #ending: Promise<void> | null = null;

  constructor(start: ProcessStart) {
    this.#start = start;
  }

  async start(): Promise<void> {
    const { log, confine } = this.#start;
    this.#confined = (await confine?.()) ?? null;
    if (this.#ending !== null) throw await this.#tooLate();
    const mark = newMark();
    log.begin();
    const child = spawned({ ...this.#start, mark }, this.#confined);
    this.#child = child;
    const lines = new MessageLines(
      (message) => this.onmessage?.(message),
      log,
      () => void this.close(),
    );
    child.stdout?.on('data', (chunk: Buffer) => lines.take(chunk));
    child.stderr?.on('data', (chunk: Buffer) => log.write(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {});
    await started(child, this.#start);
    this.pid = child.pid ?? null;
    this.#processes = { group: child.pid ?? 0, mark };
    this.#guardian = new Guardian(this.#processes);
    // Not `close`: child processes of the server may keep its pipes open.
    child.once('exit', (code, signal) => {
      if (this.#ending === null) log.end(code, signal);
      void this.close();
    });
  }

  /** The transport was closed while the sandbox was made. */
  async #tooLate(): Promise<HiError> {
    await this.#confined?.finish();
    return new HiError('interrupted', 'Interrupted.');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#child?.stdin;
    if (!input?.writable) throw new HiError('network', 'The server has ended.');
    await new Promise<void>((resolve) => {
      if (input.write(`${JSON.stringify(message)}\n`)) resolve();
      else for (const event of ['drain', 'close']) input.once(event, resolve);
    });
  }

  /** Ends the server and everything it started. Resolves when all of it has ended. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    child?.stdin?.end();
    if (child !== null && child.exitCode === null && child.signalCode === null)
      await Promise.race([new Promise((resolve) => child.once('exit', resolve)), sleep(FAREWELL_MS)]);
    if (this.#processes !== null) await endProcesses(this.#processes, GRACE_MS);
    this.#guardian?.dismiss();
    await this.#confined?.finish();
    for (const stream of [child?.stdout, child?.stderr]) stream?.destroy();
    child?.unref();
    this.onclose?.();
  }
}

function started(child: ChildProcess, { command, cwd }: ProcessStart): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('spawn', () => resolve());
    child.once('error', (cause) => {
      // The system reports a missing program and a missing folder in the same way.
      const reason = existsSync(cwd) ? cause.message : `there is no folder '${cwd}'`;
      reject(new HiError('config', `The program '${command}' cannot be started: ${reason}.`, { cause }));
    });
  });
}

/** A longer line is not a message. A result of ten megabytes must fit, with its escapes. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** How much of a line that is not a message is logged. */
const LOGGED = 1000;

/** Reads the messages in a server's output, one per line. Other lines are logged. */
export class MessageLines {
  readonly #take: (message: JSONRPCMessage) => void;
  readonly #log: ServerLog;
  #pieces: Buffer[] = [];
  #length = 0;
  /** Called when no more messages are expected. */
  readonly #giveUp: () => void;

  constructor(take: (message: JSONRPCMessage) => void, log: ServerLog, giveUp: () => void) {
    this.#take = take;
    this.#giveUp = giveUp;
    this.#log = log;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length <= LONGEST_LINE) return;
    this.#log.write(`[hi] it was ended: it sent a line of more than ${LONGEST_LINE} bytes\n`);
    this.#clear();
    this.#giveUp();
  }

  #endLine(): void {
    const line = Buffer.concat(this.#pieces).toString().trim();
    this.#clear();
    if (line === '') return;
    const messages = messagesIn(line);
    if (messages.length === 0) this.#log.write(`[stdout] ${lastCharacters(line, LOGGED)}\n`);
    for (const message of messages) this.#take(message);
  }

  #clear(): void {
    this.#pieces = [];
    this.#length = 0;
  }
}

/**
 * The message in a line; none if it is something else. An answer that is none of the protocol, as each of a batch, is
 * taken for an error: nothing else will come.
 */
function messagesIn(line: string): readonly JSONRPCMessage[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
    return isTooDeep(value) ? [] : [parseJSONRPCMessage(value)];
  } catch {
    return (Array.isArray(value) ? value : [value]).flatMap((one) => asRefusal(one) ?? []);
  }
}

function asRefusal(value: unknown): JSONRPCMessage | null {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0' || 'method' in value) return null;
  const { id } = value;
  if (typeof id !== 'string' && typeof id !== 'number') return null;
  const said = lastCharacters(JSON.stringify(value), LOGGED);
  return {
    jsonrpc: '2.0',
    id,
    error: { code: INTERNAL_ERROR, message: `Its answer is not one of the protocol: ${said}` },
  };
}

/** As JSON-RPC has it. */
const INTERNAL_ERROR = -32603;
