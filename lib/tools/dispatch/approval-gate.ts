import type { ChatEvent } from '../../chat/event.js';
import type { ToolCallPart } from '../../chat/message.js';
import { asHiError, unreachable } from '../../errors.js';
import type { Access } from '../../permission/access.js';
import { changedScript, type ScriptStamps, scriptStamps } from '../../permission/environment.js';
import { judge, judgeInTime } from '../../permission/judge.js';
import type { Verdict } from '../../permission/paths/judge-path.js';
import { type JudgedPlace, judgedPlace } from '../../permission/paths/resolve-path.js';
import { describeRule, namesPlaces, type RuleObject, readRules } from '../../permission/rules/rules.js';
import { NotConfinable } from '../../permission/sandbox/confinement.js';
import type { ConfinedRun } from '../../permission/sandbox/sandbox.js';
import { type ApprovalQuestion, type Approve, describeCall, type Permit, type ToolContext } from '../common/tool.js';
import { OpenableFile } from '../files/judged-file.js';
import { confinable, confineApproved, confineUnasked, type Gate, judgeContext } from './confine-call.js';
import { type MissingGrant, missingGrantNote, ruleAgainst, WANTED } from './run-tool.js';

/** How a call may run, or why it may not, for the model. */
export type GateDecision = { readonly permit: Permit } | { readonly refusal: string };

/** How often a call's file may change while the user is asked, before the call is given up. */
const MOST_QUESTIONS = 5;
const KEEPS_CHANGING = 'Not run: the file keeps changing.';

/** Decides on a call, asking the user if the rules say so, and again if its file changes in the meantime. */
export async function* passGate(
  gate: Gate,
  call: ToolCallPart,
  access: Access,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, GateDecision> {
  for (let question = 0; question < MOST_QUESTIONS; question += 1) {
    const place = await placeOf(access, gate.context);
    const passage = yield* decide(gate, call, access, place, signal);
    if ('refusal' in passage || isSame(access, place, await placeOf(access, gate.context))) return passage;
  }
  return { refusal: KEEPS_CHANGING };
}

async function placeOf(access: Access, { cwd }: ToolContext): Promise<JudgedPlace | null> {
  return 'path' in access ? judgedPlace(access.path, cwd.now) : null;
}

/** A file to read may grow in the meantime; a file to change must still be the one that the diff was made from. */
function isSame({ kind }: Access, before: JudgedPlace | null, after: JudgedPlace | null): boolean {
  const isSameFile = before?.path === after?.path && before?.file === after?.file;
  return isSameFile && (kind === 'read' || before?.content === after?.content);
}

async function* decide(
  gate: Gate,
  call: ToolCallPart,
  access: Access,
  place: JudgedPlace | null,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, GateDecision> {
  const verdict = await confinable(gate, call, access, await judgePlace(gate, call, access, place, signal), signal);
  const file = place && new OpenableFile(place, String(call.args.path ?? place.path));
  if (access.kind === 'memory' && gate.approve === null) return yield* unattended(call, access.byHand);
  switch (verdict.decision) {
    case 'allow':
      return { permit: { file, confined: verdict.confined } };
    case 'deny':
      return { refusal: `Not allowed: ${verdict.reason}. Do not try to do the same thing another way.` };
    case 'ask': {
      const isAnother = access.kind === 'server' && access.isAnother;
      const unasked = gate.allowAll && !verdict.mayBeDenied && !isAnother ? await withoutAsking(gate, access) : null;
      if (unasked !== null && 'confined' in unasked) return { permit: { file, ...unasked } };
      const { reason } = unasked ?? verdict;
      if (gate.approve) {
        const rule = verdict.rule === null ? null : { rule: verdict.rule, folder: gate.context.cwd.start };
        const known = gate.rules;
        const refusal = yield* ask(gate, gate.approve, { call, access, reason, rule }, signal);
        if (refusal !== null) return { refusal };
        if (access.kind === 'server') access.accept();
        // After "always" it runs as it always will, so that what the sandbox stops is asked about now and not the next
        // time.
        const ruled = gate.rules === known ? null : await judgePlace(gate, call, access, place, signal);
        const asAlways = ruled && (await confinable(gate, call, access, ruled, signal));
        const confined = asAlways?.decision === 'allow' ? asAlways.confined : await confineApproved(gate, access);
        return { permit: { file, confined } };
      }
      if (isAnother) return yield* unseen(call, reason);
      const ways = await waysToAllow(gate, access, verdict);
      yield notice(
        `Not run: ${describeCall(call)} needs approval (${reason}), and you cannot be asked here. You can allow it ${ways}.`,
      );
      return {
        refusal: `Not allowed: ${reason}, and the user cannot be asked here. The user can allow it ${ways}.`,
      };
    }
    default:
      return unreachable(verdict);
  }
}

/** What the user can do about a call that needs approval. Not every call can be allowed by `-y` or a rule. */
async function waysToAllow(
  gate: Gate,
  access: Access,
  { rule, mayBeDenied }: Extract<Verdict, { decision: 'ask' }>,
): Promise<string> {
  const isUnguarded = access.kind === 'execute' && gate.rules.deny.some(namesPlaces) && (await gate.sandbox()) === null;
  const isCovered = !gate.allowAll && !mayBeDenied && !isUnguarded;
  const withRule = rule === null ? [] : [`with the rule '${rule}' in tools.permissions.allow`];
  return [...withRule, isCovered ? 'with -y' : 'in a chat, where hi can ask; -y does not cover it'].join(' or ');
}

/** How a call runs that `-y` approves, or why `-y` does not cover it. */
async function withoutAsking(
  gate: Gate,
  access: Access,
): Promise<Pick<Permit, 'confined'> | { readonly reason: string }> {
  try {
    const confined = await confineUnasked(gate, access);
    if (access.kind === 'server' && access.changed !== null) access.acceptServer();
    return { confined };
  } catch (failure) {
    if (gate.context.sandbox || !(failure instanceof NotConfinable)) throw failure;
    return { reason: failure.reason };
  }
}

/** What is sent with every later request is kept only if the user sees it, whatever the rules and `-y` say. */
async function* unattended(call: ToolCallPart, byHand: string): AsyncGenerator<ChatEvent, GateDecision> {
  yield notice(`Not run: ${describeCall(call)} needs a terminal to ask the user. To do it yourself, run: ${byHand}`);
  return { refusal: `Not done: the user cannot be asked here. The user can do it with: ${byHand}` };
}

/** A tool that has changed runs only after the user has seen it, whatever `-y` says. */
async function* unseen(call: ToolCallPart, reason: string): AsyncGenerator<ChatEvent, GateDecision> {
  yield notice(
    `Not run: ${describeCall(call)} needs a terminal to show you the tool as it is now (${reason}). -y does not cover that: allow it once in a chat.`,
  );
  return { refusal: `Not allowed: ${reason}, and the user cannot be shown it here. -y does not cover it.` };
}

/** Judges a path both as written and as resolved just now, which is what will be opened. */
async function judgePlace(
  gate: Gate,
  { name }: ToolCallPart,
  access: Access,
  place: JudgedPlace | null,
  signal: AbortSignal,
): Promise<Verdict> {
  const context = await judgeContext(gate, access);
  const verdict = await judgeInTime(name, access, gate.rules, context, signal);
  const isResolved = place === null || !('path' in access) || place.path === access.path;
  if (isResolved || verdict.decision !== 'allow') return verdict;
  return judgeInTime(name, { ...access, path: place.path }, gate.rules, context, signal);
}

/**
 * Asks whether a command that the sandbox stopped may run outside it. Resolves to the refusal for the model, or to
 * null.
 */
export async function* askOutside(
  gate: Gate,
  call: ToolCallPart,
  access: Extract<Access, { kind: 'execute' }>,
  missing: MissingGrant,
  confined: Pick<ConfinedRun, 'isNeverWritten'>,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, string | null> {
  const isHopeless = missing === 'write' && confined.isNeverWritten;
  const rule = isHopeless ? null : ruleAgainst(missing, access.command, gate.rules, gate.context.cwd.start);
  if (gate.approve === null) {
    yield notice(`${describeCall(call)}: ${missingGrantNote(missing, rule, gate.allowAll)}`);
    return missingGrantNote(missing, rule, gate.allowAll);
  }
  const reason = `the sandbox stopped it, because ${WANTED[missing]}; run it outside the sandbox?`;
  return yield* ask(gate, gate.approve, { call, access, reason, rule, isOutside: true }, signal);
}

/** What the user is asked about. */
interface Subject {
  readonly call: ToolCallPart;
  readonly access: Access;
  readonly reason: string;
  readonly rule: RuleObject | null;
  readonly isOutside?: boolean;
}

/**
 * Asks, and again if a script that the command names has changed in the meantime. Resolves to the refusal for the
 * model, or to null.
 */
async function* ask(
  gate: Gate,
  approve: Approve,
  subject: Subject,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, string | null> {
  for (let asked = 0; asked < MOST_QUESTIONS; asked += 1) {
    const before = await scriptsOf(gate, subject.access);
    const approval = await approve(await question(gate, subject), signal);
    if (approval.answer === 'no') return approval.reason ? `The user said no: ${approval.reason}` : 'The user said no.';
    const changed = changedScript(before, await scriptsOf(gate, subject.access));
    if (changed === null) {
      if (approval.answer === 'always') yield* storeRule(gate, subject.rule);
      return null;
    }
    yield notice(`${changed} changed while you were being asked. Check it again.`);
  }
  return KEEPS_CHANGING;
}

const scriptsOf = async ({ context }: Gate, access: Access): Promise<ScriptStamps> =>
  access.kind === 'execute' ? scriptStamps(access.command, { ...context, workingFolder: context.cwd.now }) : new Map();

async function* storeRule(gate: Gate, rule: RuleObject | null): AsyncGenerator<ChatEvent, void> {
  if (rule === null) return;
  const { allow } = readRules({ allow: [rule], ask: [], deny: [] }, gate.rules.subjects, gate.context.cwd.start);
  gate.rules = { ...gate.rules, allow: [...gate.rules.allow, ...allow] };
  try {
    await gate.storeRule(rule);
  } catch (failure) {
    yield notice(
      `The rule ${describeRule(rule)} applies until hi ends, but could not be stored: ${asHiError(failure).message}`,
    );
  }
}

async function question(
  gate: Gate,
  { call, access, reason, rule, isOutside = false }: Subject,
): Promise<ApprovalQuestion> {
  return {
    call,
    preview: await previewOf(gate, call, access),
    reason,
    rule: rule === null ? null : describeRule(rule),
    isOutside,
  };
}

async function previewOf(gate: Gate, call: ToolCallPart, access: Access): Promise<ApprovalQuestion['preview']> {
  switch (access.kind) {
    case 'execute':
      return { kind: 'command', text: access.command, ...(gate.context.shell === 'sh' && { shell: 'sh' }) };
    case 'read':
      return { kind: 'path', text: access.path };
    case 'write':
      return { kind: 'diff', text: await diffOf(gate, access) };
    case 'conversation':
      return { kind: 'command', text: describeCall(call) };
    case 'memory':
      return { kind: 'memory', text: await access.preview() };
    case 'server':
      return { kind: 'call', text: access.preview() };
    default:
      return unreachable(access);
  }
}

/**
 * A change that cannot be made needs no approval, unless the reason would reveal the content of a file the model may
 * not read.
 */
async function diffOf(gate: Gate, access: Extract<Access, { kind: 'write' }>): Promise<string> {
  try {
    return await access.preview();
  } catch (failure) {
    const read: Access = { kind: 'read', path: access.path };
    const verdict = await judge(null, read, gate.rules, await judgeContext(gate, read));
    if (verdict.decision === 'allow') throw failure;
    return 'The change cannot be shown, and will fail.';
  }
}

const notice = (text: string): ChatEvent => ({ type: 'notice', level: 'warning', text });
