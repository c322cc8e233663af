import type { ChatEvent } from '../chat/event.js';
import type { ToolCallPart } from '../chat/message.js';
import { asHiError, unreachable } from '../errors.js';
import type { Access } from '../permission/access.js';
import { judge } from '../permission/judge.js';
import type { JudgeContext, Verdict } from '../permission/paths/judge-path.js';
import { type Rules, readRules } from '../permission/rules/rules.js';
import { describeCall } from './describe-call.js';
import type { Approval, ApprovalQuestion, Approve, ToolContext } from './tool.js';

/** What decides whether a call may run. */
export interface Gate {
  /** The rules, extended by what the user allows with "always". */
  rules: Rules;
  readonly context: ToolContext;
  readonly approve: Approve | null;
  readonly allowAll: boolean;
  readonly ownPlaces: readonly string[];
  readonly freeFolders: readonly string[];
  remember(rule: string): Promise<void>;
}

/** Decides whether a call may run, asking the user if the rules say so. Returns null, or the reason for the model why it may not. */
export async function* passGate(
  gate: Gate,
  call: ToolCallPart,
  access: Access,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, string | null> {
  const verdict = await judge(call.name, access, gate.rules, judgeContext(gate));
  switch (verdict.decision) {
    case 'allow':
      return null;
    case 'deny':
      return `Not allowed: ${verdict.reason}. Do not try to do the same in another way.`;
    case 'ask':
      if (gate.allowAll && !verdict.mayBeDenied) return null;
      if (gate.approve) return yield* ask(gate, gate.approve, await question(gate, call, access, verdict), signal);
      yield notice(
        `Not run: ${describeCall(call)} needs approval (${verdict.reason}), and the user cannot be asked here. -y approves every call.`,
      );
      return `Not allowed: ${verdict.reason}, and the user cannot be asked here. The user can allow it with -y or with a rule in tools.permissions.`;
    default:
      return unreachable(verdict);
  }
}

async function* ask(
  gate: Gate,
  approve: Approve,
  question: ApprovalQuestion,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, string | null> {
  const approval: Approval = await approve(question, signal);
  switch (approval.answer) {
    case 'once':
      return null;
    case 'always':
      yield* remember(gate, question.rule);
      return null;
    case 'no':
      return approval.reason ? `The user said no: ${approval.reason}` : 'The user said no.';
    default:
      return unreachable(approval);
  }
}

async function* remember(gate: Gate, rule: string | null): AsyncGenerator<ChatEvent, void> {
  if (rule === null) return;
  const { allow } = readRules({ allow: [rule], ask: [], deny: [] }, gate.rules.subjects);
  gate.rules = { ...gate.rules, allow: [...gate.rules.allow, ...allow] };
  try {
    await gate.remember(rule);
  } catch (failure) {
    yield notice(`The rule ${rule} applies until hi ends, but could not be stored: ${asHiError(failure).message}`);
  }
}

async function question(
  gate: Gate,
  call: ToolCallPart,
  access: Access,
  { reason, rule }: Extract<Verdict, { decision: 'ask' }>,
): Promise<ApprovalQuestion> {
  return { call, preview: await previewOf(gate, access), reason, rule };
}

async function previewOf(gate: Gate, access: Access): Promise<ApprovalQuestion['preview']> {
  switch (access.kind) {
    case 'execute':
      return { kind: 'command', text: access.command };
    case 'read':
      return { kind: 'path', text: access.path };
    case 'write':
      return { kind: 'diff', text: await diffOf(gate, access) };
    default:
      return unreachable(access);
  }
}

/** A change that cannot be made needs no approval, unless the reason would reveal the content of a file the model may not read. */
async function diffOf(gate: Gate, access: Extract<Access, { kind: 'write' }>): Promise<string> {
  try {
    return await access.preview();
  } catch (failure) {
    const read: Access = { kind: 'read', path: access.path };
    const verdict = await judge(null, read, gate.rules, judgeContext(gate));
    if (verdict.decision === 'allow') throw failure;
    return 'The change cannot be shown, and will fail.';
  }
}

function judgeContext({ context, ownPlaces, freeFolders }: Gate): JudgeContext {
  return { ...context, ownPlaces, freeFolders };
}

function notice(text: string): ChatEvent {
  return { type: 'notice', level: 'warning', text };
}
