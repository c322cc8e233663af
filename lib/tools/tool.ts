import type { ChatEvent } from '../chat/event.js';
import type { JsonObject } from '../chat/json.js';
import type { ToolCallPart, ToolResultPart } from '../chat/message.js';
import type { ToolSpec } from '../chat/request.js';
import type { ToolEffect } from '../chat/tool-effect.js';
import type { Access } from '../permission/access.js';
import type { RuleSubject } from '../permission/rules/rules.js';
import type { SandboxSettings } from '../permission/sandbox.js';

/** What the tools of one session share. */
export interface ToolContext {
  /** The folder the tools work in; `bash` moves it when a command changes folder. Paths are resolved against it. */
  workingFolder: string;
  /** The folder the session began in: what "inside the working folder" is judged against. */
  readonly root: string;
  /** The environment of commands, without keys. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How long one call may run, in milliseconds. */
  readonly timeout: number;
  /** How many characters of output the model gets. */
  readonly outputLimit: number;
  /** Where whole outputs are kept that were too long for the model. */
  readonly spillFolder: string;
  /** The sandbox of commands; where it does not work, no command runs. Absent or null for no sandbox. */
  readonly sandbox?: SandboxSettings | null;
  /** Takes what has to be done when the turn ends. The runner fills it in; without it a call cleans up before it ends. */
  readonly atTurnEnd?: (end: () => Promise<void>) => void;
}

/** A tool: one object in one file, listed in `index.ts`. `Args` is what `parameters` describes; the dispatcher has checked it. */
export interface Tool<Args extends JsonObject = JsonObject> extends ToolSpec, RuleSubject {
  /** What a compaction keeps of a call when its messages leave the view; null for nothing. */
  readonly effect: ToolEffect | null;
  access(args: Args, context: ToolContext): Access;
  /**
   * Runs the call. `emit` takes output for the screen while it runs. Resolves to what the model reads.
   * Throws a `HiError` or any error for a failure: its message is what the model reads.
   */
  run(args: Args, context: ToolContext, emit: (text: string) => void, signal: AbortSignal): Promise<JsonObject>;
}

/** A question to the user before a call runs. */
export interface ApprovalQuestion {
  readonly call: ToolCallPart;
  /** What it would do: the command, the path, or the diff. */
  readonly preview: { readonly kind: 'command' | 'path' | 'diff'; readonly text: string };
  /** Why it is asked: the part of a command that no rule covers, a private place, a rule that says ask. */
  readonly reason: string;
  /** The rule that "always" stores, such as `bash(git status:*)`; null where only "once" is offered. */
  readonly rule: string | null;
}

export type Approval =
  | { readonly answer: 'once' }
  | { readonly answer: 'always' }
  /** `reason` is what the user said to the model, when they said something. */
  | { readonly answer: 'no'; readonly reason?: string };

/** Asks the user. Null where nobody can be asked: then "ask" means no. Rejects with an abort error when `signal` aborts. */
export type Approve = (question: ApprovalQuestion, signal: AbortSignal) => Promise<Approval>;

/** Runs the tool calls of a session. */
export interface ToolRunner {
  /** What the model is told; empty when tools are off. */
  readonly specs: readonly ToolSpec[];
  /**
   * Runs the calls of one answer in order and yields what happens. Returns one result for each call, in the same order.
   * Never throws for a failing call: bad arguments, refusals and time-outs are results. When `signal` aborts, what runs is ended
   * (its whole process group) and every call not finished gets the error "interrupted", with the end of what it had printed.
   */
  run(calls: readonly ToolCallPart[], signal: AbortSignal): AsyncGenerator<ChatEvent, readonly ToolResultPart[]>;
  /** Ends what the turn left running in the background. */
  endTurn(): Promise<void>;
}
