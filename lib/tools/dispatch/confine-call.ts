import type { ToolCallPart } from '../../chat/message.js';
import type { Access } from '../../permission/access.js';
import { judgeInTime } from '../../permission/judge.js';
import type { Verdict } from '../../permission/paths/judge-path.js';
import { absolutePath } from '../../permission/paths/resolve-path.js';
import type { CommandGrant } from '../../permission/rules/rules.js';
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
  const grant = gate.context.sandbox && access.kind === 'execute' ? everything(gate) : verdict.grant;
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

/** With `tools.sandbox`, approved commands run in the sandbox too. */
export async function confineAll(gate: Gate, access: Access): Promise<ConfinedRun | null> {
  if (access.kind !== 'execute' || !gate.context.sandbox) return null;
  const sandbox = await gate.sandbox();
  return (await sandbox?.confine(everything(gate), gate.context.cwd.now)) ?? null;
}

const everything = ({ context: { sandbox } }: Gate): CommandGrant => ({
  write: true,
  network: sandbox?.network === true,
  files: [],
});
