import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileFormat } from '../../chat/media.js';
import type { ToolCallPart } from '../../chat/message.js';
import { makeFolder } from '../../disk.js';
import type { Access } from '../../permission/access.js';
import { commandEnvironment } from '../../permission/environment.js';
import { judgeInTime } from '../../permission/judge.js';
import type { JudgeContext, Verdict } from '../../permission/paths/judge-path.js';
import { absolutePath } from '../../permission/paths/resolve-path.js';
import { type CommandGrant, namesPlaces, type RuleObject, type Rules } from '../../permission/rules/rules.js';
import { NotConfinable } from '../../permission/sandbox/confinement.js';
import { replacementFile } from '../../permission/sandbox/replacement-file.js';
import type { ConfinedRun, Sandbox } from '../../permission/sandbox/sandbox.js';
import { SecretStream, secretMask } from '../../permission/secrets.js';
import type { Approve, GivenFile, RunnerServices, ToolContext } from '../common/tool.js';
import { fitText, spillFolderOf } from '../shell/limit-output.js';
import { outputName } from '../shell/spill.js';

/** The decision about a call. An allowed call runs in the sandbox made for it, or in none. */
type ConfinedDecision =
  | Exclude<Verdict, { decision: 'allow' }>
  | { readonly decision: 'allow'; readonly confined: ConfinedRun | null };

/**
 * Makes the sandbox for a call that is allowed in one. If that fails, the call is judged without a sandbox: only the
 * built-in list needs no approval.
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
 * The sandbox of a call that `-y` approved: one where only hi's own places and what `deny` rules name are hidden or
 * read-only; null if the system has none. Throws `NotConfinable` where it has none and a rule names places: then `-y`
 * does not cover the call.
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

/**
 * What every command may do: with `tools.sandbox`, and with `-y` where there are places to keep; null where each is
 * judged by itself.
 */
function everything({ context: { sandbox }, allowAll, ownPlaces, rules }: Gate): CommandGrant | null {
  if (sandbox) return { write: true, network: sandbox.network, read: [], files: [] };
  // A command that the user typed has no places of hi's to keep.
  if (!allowAll || (ownPlaces.length === 0 && !rules.deny.some(namesPlaces))) return null;
  return { write: true, network: true, read: [], files: [], isOpen: true };
}

/** What the sandbox of a session is made from. */
interface SandboxOwner {
  readonly context: ToolContext;
  readonly ownPlaces?: readonly string[];
  readonly freeFolders?: readonly string[];
}

/** The sandbox of the session, created when the first command needs it. */
export function sandboxOnce(options: SandboxOwner, rules: () => Rules): () => Promise<Sandbox | null> {
  let made: Promise<Sandbox | null> | null = null;
  const make = async () => {
    const { Sandbox } = await import('../../permission/sandbox/sandbox.js');
    const { sandboxKind } = await import('../../permission/sandbox/sandbox-kind.js');
    const { context, ownPlaces = [], freeFolders = [] } = options;
    if (!context.sandbox && (await sandboxKind()) === null) return null;
    return new Sandbox({
      root: context.cwd.start,
      ownPlaces: [...ownPlaces, ...(context.sandbox?.hidden ?? [])],
      freeFolders: [context.spillFolder, ...freeFolders],
      fileOf: (text) => replacementFile(context.spillFolder, text),
      env: context.env,
      rules,
    });
  };
  return () => {
    made ??= make();
    return made;
  };
}

/** The context of the session without keys in its environment. */
export function sharedContext(
  { context, secrets }: { readonly context: ToolContext; readonly secrets: readonly string[] },
  outputLimit: () => number,
  events: Pick<RunnerServices, 'atTurnEnd' | 'warn' | 'asked'>,
  files: GivenFiles,
): ToolContext {
  const runner: RunnerServices = {
    ...events,
    maskStream: () => new SecretStream(secretMask(secrets), secrets, true),
    giveFile: (mime, bytes) => files.take(mime, bytes, spillFolderOf(context)),
    fitOutput: (text) => fitText(text, outputLimit(), context, secretMask(secrets)),
  };
  return {
    ...context,
    env: commandEnvironment(context.env, secrets, context.variables),
    runner,
    get outputLimit() {
      return outputLimit();
    },
  };
}

/** Larger files are not sent to a model. */
const LARGEST = 20 * 1024 * 1024;

/** How many files from the calls of one answer are sent to the model. */
const MOST_FILES = 20;

/** The files that tools returned, each also written to disk for the user and later calls. */
export class GivenFiles {
  #files: GivenFile[] = [];

  /** Adds a file, and returns its description for the result. Without a folder it is not written. */
  take(mime: string, bytes: Uint8Array, folder: string | null): string {
    const format = fileFormat(bytes);
    const known = format?.isDamaged === false ? format.mime : null;
    const isSeen = known !== null && /^(?:image\/(?!heic)|audio\/)/.test(known);
    const isGiven = isSeen && bytes.length <= LARGEST && this.#files.length < MOST_FILES;
    if (isGiven) this.#files.push({ kind: known.startsWith('image/') ? 'image' : 'document', mime: known, bytes });
    const path = folder === null ? null : written(bytes, extensionOf(known ?? mime), folder);
    const where = path === null ? '' : `, in ${path}`;
    return `[${known ?? mime}, ${bytes.length} bytes${where}${isGiven ? '; shown below' : ''}]`;
  }

  /** The files since the last call of this method. */
  takeAll(): readonly GivenFile[] {
    return this.#files.splice(0);
  }
}

/** `image/svg+xml` is `svg`. */
function extensionOf(mime: string): string {
  const name = /\/(?:x-)?([a-z0-9]{1,5})/.exec(mime.toLowerCase())?.[1] ?? 'bin';
  return name === 'jpeg' ? 'jpg' : name;
}

/** Writes the file. Null if that fails: a full disk must not fail the call. */
function written(bytes: Uint8Array, extension: string, folder: string): string | null {
  try {
    makeFolder(folder, 0o700);
    const path = join(folder, `${outputName()}.${extension}`);
    writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
    return path;
  } catch {
    return null;
  }
}

/** What decides whether a call may run. */
export interface Gate {
  /** The rules, extended by what the user allows with "always". */
  rules: Rules;
  readonly context: ToolContext;
  readonly approve: Approve | null;
  readonly allowAll: boolean;
  readonly ownPlaces: readonly string[];
  readonly freeFolders: readonly string[];
  /** The sandbox of commands; null if the system has none. */
  sandbox(): Promise<Sandbox | null>;
  storeRule(rule: RuleObject): Promise<void>;
}

/** The context in which an access is judged. */
export async function judgeContext(gate: Gate, { kind }: Access): Promise<JudgeContext> {
  const { context, ownPlaces, freeFolders } = gate;
  // With -y every call is approved, so no rule that allows puts one in the sandbox; one that denies places does.
  const isNeeded =
    kind === 'execute' && (!gate.allowAll || Boolean(context.sandbox) || gate.rules.deny.some(namesPlaces));
  const { start: root, now: workingFolder } = context.cwd;
  return {
    ...context,
    root,
    workingFolder,
    ownPlaces,
    freeFolders,
    hasSandbox: isNeeded && (await gate.sandbox()) !== null,
  };
}
