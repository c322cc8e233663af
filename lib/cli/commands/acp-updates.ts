import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PlanEntry, SessionUpdate, StopReason, ToolCallContent, ToolKind } from '@agentclientprotocol/sdk';
import type { ChatEvent, ChatEventOf } from '../../chat/event.js';
import type { JsonObject } from '../../chat/json.js';
import { compactionLine } from '../../chat/transcript.js';
import { numberMark, sourceMarkdown } from '../../chat/web-source.js';
import { type ApprovalQuestion, describeCall } from '../../tools/common/tool.js';
import { EFFECTS } from '../../tools/tool-specs.js';

type Call = { readonly call_id: string; readonly name: string; readonly args: JsonObject };

/** The updates that an editor receives about one turn. */
export class TurnUpdates {
  readonly #cwd: string;
  readonly #announced = new Set<string>();
  readonly #plan = new Map<string, PlanEntry>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** The updates for an event. */
  async of(event: ChatEvent): Promise<readonly SessionUpdate[]> {
    switch (event.type) {
      case 'text':
        return [said('agent_message_chunk', event.text)];
      case 'citation':
        return [said('agent_message_chunk', ` ${event.numbers.map(numberMark).join('')}`)];
      case 'thinking':
        return [said('agent_thought_chunk', event.text)];
      case 'image':
        return [await imageUpdate(event)];
      case 'notice':
        return [said('agent_thought_chunk', `${event.text}\n`)];
      case 'retry':
        return [said('agent_thought_chunk', `Retry ${event.attempt}: ${event.reason}\n`)];
      case 'compact':
        return [said('agent_thought_chunk', `${compactionLine(event)}\n`)];
      case 'tool-start':
        return [this.announced(event, 'in_progress', await this.#changeOf(event)), this.#planned(event, 'in_progress')];
      case 'tool-end':
        return [ended(event), this.#planned(event, 'completed')];
      case 'turn-end':
        return event.sources.length === 0
          ? []
          : [said('agent_message_chunk', `\n\nSources:\n\n${sourceMarkdown(event.sources)}`)];
      default:
        return [];
    }
  }

  /** The change to a file by a call that nobody was asked about, as it begins; empty for any other call. */
  async #changeOf({ call_id, name, args }: Call): Promise<readonly ToolCallContent[]> {
    const { path: named, content, old, new: changed } = args;
    if (this.#announced.has(call_id) || toolKindOf(name) !== 'edit' || typeof named !== 'string') return [];
    const path = resolve(this.#cwd, named);
    if (typeof old === 'string' && typeof changed === 'string')
      return [{ type: 'diff', path, oldText: old, newText: changed }];
    if (typeof content !== 'string') return [];
    const before = await readFile(path, 'utf8').catch(() => null);
    return [{ type: 'diff', path, ...(before !== null && { oldText: before }), newText: content }];
  }

  /** A call that waits for approval or runs. */
  announced(call: Call, status: 'pending' | 'in_progress', content: readonly ToolCallContent[] = []): SessionUpdate {
    const { call_id: toolCallId, name, args } = call;
    const isNew = !this.#announced.has(toolCallId);
    this.#announced.add(toolCallId);
    if (!isNew) return { sessionUpdate: 'tool_call_update', toolCallId, status };
    const { path } = args;
    return {
      sessionUpdate: 'tool_call',
      toolCallId,
      title: describeCall({ name, args }),
      name,
      kind: toolKindOf(name),
      status,
      rawInput: args,
      ...(content.length > 0 && { content: [...content] }),
      ...(typeof path === 'string' && { locations: [{ path: resolve(this.#cwd, path) }] }),
    };
  }

  /** The calls of the turn as a plan. Finished ones keep their text. */
  #planned(
    call: { readonly call_id: string; readonly name: string; readonly args?: JsonObject },
    status: PlanEntry['status'],
  ) {
    const known = this.#plan.get(call.call_id)?.content;
    const content = known ?? describeCall({ name: call.name, args: call.args ?? {} });
    this.#plan.set(call.call_id, { content, priority: 'medium', status });
    return { sessionUpdate: 'plan' as const, entries: [...this.#plan.values()] };
  }
}

export function toolKindOf(name: string): ToolKind {
  const effect = EFFECTS[name]?.kind;
  if (effect === undefined) return 'other';
  return effect === 'command' ? 'execute' : effect === 'write' ? 'edit' : 'read';
}

function said(sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk', text: string): SessionUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}

async function imageUpdate({ path, mime }: ChatEventOf<'image'>): Promise<SessionUpdate> {
  const data = (await readFile(path)).toString('base64');
  return {
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'image', data, mimeType: mime, uri: `file://${path}` },
  };
}

/** The outcome of a call. A diff that was already shown stays. */
function ended(event: ChatEventOf<'tool-end'>): SessionUpdate {
  const { call_id: toolCallId, name, error } = event;
  const text = error ?? JSON.stringify(event.result, null, 2);
  const status = error === undefined ? 'completed' : 'failed';
  const isShown = toolKindOf(name) === 'edit' && error === undefined;
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status,
    rawOutput: error === undefined ? event.result : { error },
    ...(!isShown && { content: [{ type: 'content', content: { type: 'text', text } }] }),
  };
}

/** Why a turn ended, as a stop reason of the protocol. */
export function stopReasonOf({ stop_reason }: Pick<ChatEventOf<'turn-end'>, 'stop_reason'>): StopReason {
  switch (stop_reason) {
    case 'interrupted':
      return 'cancelled';
    case 'length':
      return 'max_tokens';
    case 'tool_limit':
      return 'max_turn_requests';
    default:
      return stop_reason === 'refusal' ? 'refusal' : 'end_turn';
  }
}

/** What a call would do, as an editor shows it: a file change as a diff, anything else as text. */
export async function previewContent(
  { kind, text }: ApprovalQuestion['preview'],
  cwd: string,
): Promise<readonly ToolCallContent[]> {
  const words: ToolCallContent = { type: 'content', content: { type: 'text', text } };
  if (kind !== 'diff') return [words];
  const { parsePatch } = await import('diff');
  const [patch] = parsePatch(text);
  if (patch === undefined || patch.hunks.length === 0 || !patch.newFileName) return [words];
  const isNew = patch.oldFileName === '/dev/null';
  const path = resolve(cwd, patch.newFileName);
  return patch.hunks.map(({ lines }) => ({
    type: 'diff',
    path,
    ...(!isNew && { oldText: side(lines, '-') }),
    newText: side(lines, '+'),
  }));
}

/** One side of a diff: its own lines and the common ones. */
function side(lines: readonly string[], sign: '+' | '-'): string {
  return lines
    .filter((line) => line.startsWith(sign) || line.startsWith(' '))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}
