import type { ChatEvent, ServerQuestion } from '../../chat/event.js';
import { type JsonObject, MAX_LEVELS, TOO_DEEP } from '../../chat/json.js';
import type { ToolCallPart, ToolResultPart } from '../../chat/message.js';
import type { ToolSpec } from '../../chat/request.js';
import { asHiError } from '../../errors.js';
import type { Access } from '../../permission/access.js';
import { withTargets } from '../../permission/paths/resolve-path.js';
import { type Permissions, type RuleObject, type RuleSubject, readRules } from '../../permission/rules/rules.js';
import { MASK, maskObject, secretMask } from '../../permission/secrets.js';
import { suggestion } from '../../registry.js';
import type { Approve, GivenFile, Permit, Tool, ToolContext, ToolRunner } from '../common/tool.js';
import { askOutside, passGate } from './approval-gate.js';
import { type Gate, GivenFiles, sandboxOnce, sharedContext } from './confine-call.js';
import { argumentErrors, FailureWatch, missingGrant, runTool } from './run-tool.js';

/** What a tool runner needs. */
export interface ToolRunnerOptions {
  readonly tools: readonly Tool[];
  /** Finds a tool that is not in `tools`, such as one of an MCP server. */
  findTool?(name: string): Tool | undefined;
  readonly context: ToolContext;
  /** The maximum number of characters of output from all calls of one answer together. Absent for no limit. */
  sharedLimit?(): number;
  readonly permissions: Permissions;
  /**
   * The tools that rules may name, if more than `tools`: rules for a tool that is not offered stay valid, and also
   * apply to commands.
   */
  readonly ruleSubjects?: readonly RuleSubject[];
  /** Null if there is no user to ask: then "ask" means no. */
  readonly approve: Approve | null;
  /** `-y`: "ask" means yes. Calls that `deny` covers are still refused. */
  readonly allowAll: boolean;
  /** Stores a rule that the user allowed with "always". */
  storeRule(rule: RuleObject): Promise<void>;
  /** The configured keys: never in a command's environment, and hidden in every result. */
  readonly secrets: readonly string[];
  /** hi's own folders and files (configuration, history): access to them always needs approval. */
  readonly ownPlaces?: readonly string[];
  /** Folders outside the working folder whose files may be read without approval, such as those of skills. */
  readonly freeFolders?: readonly string[];
}

type Outcome =
  | { readonly result: JsonObject; readonly error?: never }
  | { readonly error: string; readonly result?: never };

/** How many characters from the end of an interrupted call's output the model gets. */
const MAX_PARTIAL_OUTPUT = 4000;

/** The outcome of an interrupted call. */
function interrupted(printed = ''): Outcome {
  return { error: printed === '' ? 'interrupted' : `interrupted\nOutput before that:\n${printed}` };
}

/** Creates the tool runner of a session. Throws a `HiError` for an invalid permission rule. */
export function createToolRunner(options: ToolRunnerOptions): ToolRunner {
  return new ToolExecutor(options);
}

/** Validates, authorises, runs and reports calls, one after the other. */
class ToolExecutor implements ToolRunner {
  readonly specs: readonly ToolSpec[];
  readonly #tools: readonly Tool[];
  readonly #find: (name: string) => Tool | undefined;
  readonly #gate: Gate;
  readonly #context: ToolContext;
  readonly #mask: (text: string) => string;
  readonly #failures = new FailureWatch();
  readonly #limitOf: (calls: number) => number;
  /** The output limit of each of the current calls. */
  #outputLimit: number;
  readonly #files = new GivenFiles();
  #cleanups: (() => Promise<void>)[] = [];
  #warnings: string[] = [];
  readonly #asked: ServerQuestion[] = [];

  constructor(options: ToolRunnerOptions) {
    this.#tools = options.tools;
    this.#find = (name) => options.tools.find((tool) => tool.name === name) ?? options.findTool?.(name);
    this.specs = options.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    this.#mask = secretMask(options.secrets);
    const { context, sharedLimit = () => Number.POSITIVE_INFINITY } = options;
    this.#limitOf = (calls) => Math.min(context.outputLimit, Math.floor(sharedLimit() / calls));
    this.#outputLimit = this.#limitOf(1);
    this.#context = sharedContext(
      options,
      () => this.#outputLimit,
      {
        atTurnEnd: (cleanup) => void this.#cleanups.push(cleanup),
        warn: (text) => void this.#warnings.push(text),
        asked: (question) => void this.#asked.push(question),
      },
      this.#files,
    );
    this.#gate = {
      rules: readRules(options.permissions, options.ruleSubjects ?? options.tools, options.context.cwd.start),
      context: this.#context,
      approve: options.approve,
      allowAll: options.allowAll,
      ownPlaces: withTargets(options.ownPlaces ?? []),
      freeFolders: [options.context.spillFolder, ...(options.freeFolders ?? [])],
      sandbox: sandboxOnce(options, () => this.#gate.rules),
      storeRule: (rule) => options.storeRule(rule),
    };
  }

  async *run(
    calls: readonly ToolCallPart[],
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, readonly ToolResultPart[]> {
    const results: ToolResultPart[] = [];
    // The calls of one answer share a limit: their output cannot be compacted before the model has read it.
    this.#outputLimit = this.#limitOf(calls.length);
    for (const asked of calls) {
      const call = this.#meant(asked);
      const { call_id, name, args } = call;
      const server = this.#find(name)?.server;
      yield { type: 'tool-start', call_id, name, args, ...(server !== undefined && { server }) };
      const outcome = yield* this.#settle(call, signal);
      for (const question of this.#asked.splice(0))
        yield { type: 'elicitation', call_id, ...question, message: this.#mask(question.message) };
      yield { type: 'tool-end', call_id, name, ...outcome };
      for (const text of this.#warnings.splice(0)) yield { type: 'notice', level: 'warning', text: this.#mask(text) };
      // Vendors pair a result with the call that the model made.
      results.push({ type: 'tool_result', call_id, name: asked.name, ...outcome });
    }
    return results;
  }

  /** The call that this one stands for. */
  #meant(call: ToolCallPart): ToolCallPart {
    const { name, args, invalid_args } = call;
    return { ...call, ...(invalid_args === undefined && this.#find(name)?.standsFor?.(args)) };
  }

  /** Runs one call to its outcome. Never throws. */
  async *#settle(call: ToolCallPart, signal: AbortSignal): AsyncGenerator<ChatEvent, Outcome> {
    const outcome = this.#masked(yield* this.#attempt(call, signal));
    const note = this.#failures.note(call, outcome);
    return note === null ? outcome : withNote(outcome, note);
  }

  async *#attempt(call: ToolCallPart, signal: AbortSignal): AsyncGenerator<ChatEvent, Outcome> {
    if (signal.aborted) return interrupted();
    let printed = '';
    try {
      const tool = this.#find(call.name);
      if (!tool) return { error: this.#unknown(call.name) };
      const wrong = await wrongArguments(tool, call);
      if (wrong !== null) return { error: wrong };
      const access = tool.access(call.args, this.#context);
      if (wouldWriteMask(access, call.args)) return { error: MASKED_CALL };
      const passage = yield* passGate(this.#gate, call, access, signal);
      if (signal.aborted) return interrupted();
      if ('refusal' in passage) return { error: passage.refusal };
      const onOutput = (text: string): string => {
        const masked = this.#mask(text);
        printed = (printed + masked).slice(-MAX_PARTIAL_OUTPUT);
        return masked;
      };
      const result = yield* this.#runPermitted({ tool, call, access, permit: passage.permit }, onOutput, signal);
      return signal.aborted ? interrupted(printed) : { result };
    } catch (thrown) {
      return signal.aborted ? interrupted(printed) : { error: sentence(thrown) };
    }
  }

  /** Runs a call, and again outside the sandbox if the sandbox stopped it and the user agrees. */
  async *#runPermitted(
    { tool, call, access, permit }: PermittedCall,
    onOutput: (text: string) => string,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent, JsonObject> {
    const result = yield* runTool(tool, call, this.#context, permit, onOutput, signal);
    const { confined } = permit;
    if (confined === null || access.kind !== 'execute' || this.#context.sandbox || signal.aborted) return result;
    const missing = missingGrant(result, confined.grant);
    if (missing === null) return result;
    const refusal = yield* askOutside(this.#gate, call, access, missing, confined, signal);
    if (refusal !== null || signal.aborted) return { ...result, note: refusal ?? 'interrupted' };
    return yield* runTool(tool, call, this.#context, { ...permit, confined: null }, onOutput, signal);
  }

  #unknown(name: string): string {
    const known = this.#tools.map((tool) => tool.name);
    return `Unknown tool '${name}'. ${suggestion(name, known)}`;
  }

  #masked(outcome: Outcome): Outcome {
    return outcome.error === undefined
      ? { result: maskObject(outcome.result, this.#mask) }
      : { error: this.#mask(outcome.error) };
  }

  takeFiles(): readonly GivenFile[] {
    return this.#files.takeAll();
  }

  async endTurn(): Promise<void> {
    this.#failures.forget();
    const cleanups = this.#cleanups;
    this.#cleanups = [];
    await Promise.all(cleanups.map((cleanup) => cleanup()));
  }
}

/** A call that may run. */
interface PermittedCall {
  readonly tool: Tool;
  readonly call: ToolCallPart;
  readonly access: Access;
  readonly permit: Permit;
}

async function wrongArguments(tool: Tool, { args, invalid_args }: ToolCallPart): Promise<string | null> {
  if (invalid_args === undefined) return tool.check ? tool.check(args) : await argumentErrors(tool, args);
  if (invalid_args === TOO_DEEP) return `The arguments of ${tool.name} are nested deeper than ${MAX_LEVELS} levels.`;
  return `The arguments of ${tool.name} were not a JSON object: ${invalid_args.slice(0, 200)}`;
}

const MASKED_CALL = `The call contains '${MASK}', which stands for a secret that you cannot see. Change only other parts of the file, or ask the user.`;

function wouldWriteMask(access: Access, args: JsonObject): boolean {
  return (
    (access.kind === 'write' || access.kind === 'execute' || access.kind === 'server') &&
    JSON.stringify(args).includes(MASK)
  );
}

function sentence(thrown: unknown): string {
  const { message, hint, code } = asHiError(thrown);
  return hint === null || code === 'bug' ? message : `${message} ${hint}`;
}

function withNote(outcome: Outcome, note: string): Outcome {
  if (outcome.error !== undefined) return { error: `${outcome.error}\n${note}` };
  const before = typeof outcome.result.note === 'string' ? `${outcome.result.note} ` : '';
  return { result: { ...outcome.result, note: before + note } };
}
