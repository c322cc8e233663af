import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { ChatEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { ToolCallPart } from '../../chat/message.js';
import type { ToolSpec } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { describeRule, type Grant, generalSubject, type RuleObject, type Rules } from '../../permission/rules/rules.js';
import type { Permit, Tool, ToolContext } from '../common/tool.js';
import { OutputQueue, type QueuedOutput } from '../shell/run-shell.js';
import { compile } from './compile.js';

/** How long a call may take to end after its signal aborts, and to report its own timeout, in milliseconds. */
const GRACE_MS = 900;

/** The minimum time between two chunks of output for the screen, in milliseconds. */
const INTERVAL = 25;

/**
 * Runs a call and yields its output as it arrives. The call is aborted when the consumer stops reading.
 * Throws what the tool throws, or its own error if the tool ignores its time limit or its signal.
 */
export async function* runTool(
  tool: Tool,
  call: ToolCallPart,
  context: ToolContext,
  permit: Permit,
  mask: (text: string) => string,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, JsonObject> {
  const queue = new OutputQueue();
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const run = tool.run(call.args, context, (text) => queue.add(text), either, permit);
  let settled = false;
  const settle = () => {
    settled = true;
  };
  const end = Promise.race([run, timedOut(tool.server !== undefined ? null : context.timeout, signal, stop.signal)]);
  const ended = end.then(settle, settle);
  try {
    for (;;) {
      await queue.next(ended);
      const output = queue.take();
      if (output !== null) yield outputEvent(tool, call.call_id, { ...output, text: mask(output.text) });
      else if (settled) return await end;
      // Output that arrives meanwhile is joined: nobody reads faster.
      if (!settled) await Promise.race([ended, sleep(INTERVAL)]);
    }
  } finally {
    stop.abort();
  }
}

/** Rejects when a call ignores its time limit or its signal. */
async function timedOut(timeout: number | null, signal: AbortSignal, stop: AbortSignal): Promise<never> {
  const overdue = timeout === null ? [] : [sleep(timeout + GRACE_MS, null, { signal: stop, ref: false })];
  const graceOver = aborted(signal, stop).then(() => sleep(GRACE_MS, null, { signal: stop }));
  await Promise.race([...overdue, graceOver]);
  const late = `The call did not end within ${(timeout ?? 0) / 1000} s.`;
  throw new HiError('interrupted', signal.aborted ? 'interrupted' : late);
}

function aborted(signal: AbortSignal, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, signal: stop });
  });
}

/** Only the newest line of progress is shown. */
function outputEvent({ server }: Tool, call_id: string, { text, lines }: QueuedOutput): ChatEvent {
  if (server === undefined) return { type: 'tool-output', call_id, text, lines };
  return { type: 'tool-progress', call_id, text: text.trimEnd().split('\n').at(-1) ?? '' };
}

/** The permission that a command needed in the sandbox but did not have. */
export type MissingGrant = 'write' | 'network' | 'other';

/** What the command wanted. Its own words are left out: they could pass for those of hi. */
export const WANTED: Readonly<Record<MissingGrant, string>> = {
  write: 'it wanted to write to the disk',
  network: 'it wanted to reach the network',
  other: 'something was not permitted',
};

const SIGNS: Readonly<Record<MissingGrant, RegExp>> = {
  write: /read-only file ?system|EROFS|os error 30/i,
  network:
    /network is (?:unreachable|down)|could ?n[o']t resolve|name resolution|ENETUNREACH|EAI_AGAIN|\bENOTFOUND|getaddrinfo|no such host|name or service not known|unknown host|failed to connect|could not connect|connection refused|ECONNREFUSED/i,
  other: /permission denied|operation not permitted|EACCES|EPERM/i,
};

const KINDS = ['write', 'network', 'other'] as const;

/**
 * The permission that a failed command was missing in the sandbox; null if it failed for another reason, or did not
 * fail.
 */
export function missingGrant(
  { exit_code, stdout, stderr }: JsonObject,
  { write, network }: Grant,
): MissingGrant | null {
  if (exit_code === 0) return null;
  const texts = [stderr, stdout].map((text) => (typeof text === 'string' ? text.slice(-20_000) : ''));
  for (const kind of KINDS) {
    if ((kind === 'write' && write) || (kind === 'network' && network)) continue;
    if (texts.some((text) => SIGNS[kind].test(text))) return kind;
  }
  return null;
}

/** A rule for the folder `root` that would let the same command work in the sandbox; null if none would help. */
export function ruleAgainst(kind: MissingGrant, command: string, rules: Rules, root: string): RuleObject | null {
  const text = command.trim();
  const subject = generalSubject(rules, 'execute');
  const isExact = text.length <= 200 && !/[\u0000-\u001f\u007f-\u009f]|:\*$/.test(text);
  return subject === null || kind === 'other' || !isExact
    ? null
    : { rule: `${subject}(${text})`, folder: root, [kind]: true };
}

/** Tells the user and the model why a command failed, and what would help. */
export function missingGrantNote(kind: MissingGrant, rule: RuleObject | null, allowAll: boolean): string {
  if (allowAll)
    return `It ran in a sandbox that keeps it from hi's own places and from what deny rules name, and ${WANTED[kind]}.`;
  const help =
    rule === null
      ? ''
      : ` The rule ${JSON.stringify(rule)} in tools.permissions.allow would allow it (${describeRule(rule)}).`;
  return `It ran in the sandbox, which stopped it, because ${WANTED[kind]}.${help} -y allows that too.`;
}

/** The model is warned after this many failures in a row. */
const TIMES = 3;

type Outcome = { readonly result?: JsonValue; readonly error?: string };

/** Detects a call that fails repeatedly. */
export class FailureWatch {
  #last = '';
  #times = 0;

  /** A sentence for the model from the third failure of the same call in a row; null otherwise. */
  note(call: ToolCallPart, outcome: Outcome): string | null {
    if (!isFailure(outcome)) {
      this.forget();
      return null;
    }
    const key = JSON.stringify([call.name, call.args, call.invalid_args]);
    this.#times = key === this.#last ? this.#times + 1 : 1;
    this.#last = key;
    if (this.#times < TIMES) return null;
    return `The same call has now failed ${this.#times} times in a row. Do not repeat it unchanged: try something else, or tell the user what the problem is.`;
  }

  forget(): void {
    this.#last = '';
    this.#times = 0;
  }
}

function isFailure({ error, result }: Outcome): boolean {
  if (error !== undefined) return true;
  return isJsonObject(result) && typeof result.exit_code === 'number' && result.exit_code !== 0;
}

const compiled = new Map<string, ValidateFunction>();

/**
 * The errors in the arguments of a call, as sentences the model can act on; null for none. Validators are loaded by the
 * first call.
 */
export async function argumentErrors(tool: ToolSpec, args: JsonObject): Promise<string | null> {
  const validate = compiled.get(tool.name) ?? (await compile(tool));
  compiled.set(tool.name, validate);
  if (validate(args)) return null;
  const sentences = (validate.errors ?? []).map((error) => sentence(error, args));
  return `Invalid arguments for ${tool.name}: ${sentences.join('; ')}. Expected: ${expected(tool.parameters)}.`;
}

function sentence(error: ErrorObject, args: JsonObject): string {
  const where = error.instancePath.slice(1);
  if (error.keyword === 'additionalProperties') return `unknown argument '${error.params.additionalProperty}'`;
  if (error.keyword === 'required') return `'${error.params.missingProperty}' is missing`;
  return `'${where}' ${error.message ?? 'is wrong'}, got ${JSON.stringify(args[where])?.slice(0, 100) ?? 'nothing'}`;
}

function expected(parameters: JsonObject): string {
  const properties = Object.keys(Object(parameters.properties));
  const required: unknown[] = Array.isArray(parameters.required) ? parameters.required : [];
  return `{${properties.map((name) => (required.includes(name) ? name : `${name}?`)).join(', ')}}`;
}
