import { setTimeout as sleep } from 'node:timers/promises';
import type { ChatEvent } from '../../chat/event.js';
import type { JsonObject } from '../../chat/json.js';
import type { ToolCallPart } from '../../chat/message.js';
import { HiError } from '../../errors.js';
import type { Permit, Tool, ToolContext } from '../common/tool.js';
import { OutputQueue, type QueuedOutput } from '../shell/output-queue.js';

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
