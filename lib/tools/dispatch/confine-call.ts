import type { ToolCallPart } from '../../chat/message.js';
import type { Access } from '../../permission/access.js';
import { judgeInTime } from '../../permission/judge.js';
import type { Verdict } from '../../permission/paths/judge-path.js';
import { absolutePath } from '../../permission/paths/resolve-path.js';
import { type CommandGrant, namesPlaces } from '../../permission/rules/rules.js';
import { NotConfinable } from '../../permission/sandbox/confinement.js';
import type { ConfinedRun } from '../../permission/sandbox/sandbox.js';
import { type Gate, judgeContext } from './gate.js';

/** The decision about a call. An allowed call runs in the sandbox made for it, or in none. */
export type ConfinedDecision =
  | Exclude<Verdict, { decision: 'allow' }>
  | { readonly decision: 'allow'; readonly confined: ConfinedRun | null };

/**
 * Makes the sandbox for a call that is allowed in one. If that fails, the call is judged without a sandbox: only the built-in list needs no approval.
 */
export async function confinable(
  gate: Gate,
  { name }: ToolCallPart,
  access: Access,
  verdict: Verdict,
  signal: AbortSignal,
): Promise<ConfinedDecision> {
  if (verdict.decision !== 'allow') return verdict;
  const grant = access.kind === 'execute' ? (everything(gate) ?? verdict.grant) : undefined;
  const sandbox = grant === undefined ? null : await gate.sandbox();
  if (sandbox === null || grant === undefined) return { decision: 'allow', confined: null };
  try {
    const workingFolder = gate.context.cwd.now;
    const files = grant.files.map((path) => absolutePath(path, workingFolder));
    return { decision: 'allow', confined: await sandbox.confine({ ...grant, files }, workingFolder, signal) };
  } catch (failure) {
    if (gate.context.sandbox || !(failure instanceof NotConfinable)) throw failure;
    const context = { ...(await judgeContext(gate, access)), hasSandbox: false };
    const unconfined = await judgeInTime(name, access, gate.rules, context, signal);
    if (unconfined.decision === 'allow') return { decision: 'allow', confined: null };
    return unconfined.decision === 'deny' ? unconfined : { ...unconfined, reason: failure.reason, rule: null };
  }
}

/** The sandbox of a call that the user approved: none, unless all commands run in one. */
export async function confineApproved(gate: Gate, access: Access): Promise<ConfinedRun | null> {
  if (access.kind !== 'execute' || !gate.context.sandbox) return null;
  return confineUnasked(gate, access);
}

/**
 * The sandbox of a call that `-y` approved: one where only hi's own places and what `deny` rules name are hidden or read-only; null if the system has none.
 * Throws `NotConfinable` where it has none and a rule names places: then `-y` does not cover the call.
 */
export async function confineUnasked(gate: Gate, access: Access): Promise<ConfinedRun | null> {
  const grant = access.kind === 'execute' ? everything(gate) : null;
  if (grant === null) return null;
  const sandbox = await gate.sandbox();
  if (sandbox !== null) return sandbox.confine(grant, gate.context.cwd.now);
  const denying = gate.rules.deny.find(namesPlaces);
  if (denying === undefined && !gate.context.sandbox) return null;
  const { SANDBOX_HINT, sandboxProblem } = await import('../../permission/sandbox/sandbox-kind.js');
  throw new NotConfinable(
    `'${denying?.source}' forbids files, and ${await sandboxProblem()}, so nothing keeps a command from them`,
    SANDBOX_HINT.replace(/\.$/, ''),
  );
}

/** What every command may do: with `tools.sandbox`, and with `-y` where there are places to keep; null where each is judged by itself. */
function everything({ context: { sandbox }, allowAll, ownPlaces, rules }: Gate): CommandGrant | null {
  if (sandbox) return { write: true, network: sandbox.network, read: [], files: [] };
  // A command that the user typed has no places of hi's to keep.
  if (!allowAll || (ownPlaces.length === 0 && !rules.deny.some(namesPlaces))) return null;
  return { write: true, network: true, read: [], files: [], isOpen: true };
}
