import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatEvent } from '../../lib/chat/event.js';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import type { ToolCallPart, ToolResultPart } from '../../lib/chat/message.js';
import type { RuleObject } from '../../lib/permission/rules/rules.js';
import type { Approval, ApprovalQuestion, ToolContext } from '../../lib/tools/common/tool.js';
import { createToolRunner, type ToolRunnerOptions, tools } from '../../lib/tools/index.js';

/** A folder of its own for one spec. */
export interface Bench {
  readonly folder: string;
  readonly context: ToolContext;
  remove(): void;
}

/** A fresh working folder with a context for tools in it; `remove` takes it away. */
export function bench(context: Partial<ToolContext> = {}): Bench {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'hi-tools-')));
  const folder = join(top, 'work');
  mkdirSync(folder);
  return {
    folder,
    context: {
      cwd: { start: folder, now: folder },
      env: process.env,
      timeout: 20_000,
      outputLimit: 30_000,
      spillFolder: join(top, 'spill'),
      ...context,
    },
    remove: () => rmSync(top, { recursive: true, force: true }),
  };
}

/** What a run of calls came to. */
export interface Ran {
  readonly events: readonly ChatEvent[];
  readonly results: readonly ToolResultPart[];
  readonly questions: readonly ApprovalQuestion[];
  readonly remembered: readonly RuleObject[];
}

type Settings = Partial<Omit<ToolRunnerOptions, 'context'>> & { readonly answer?: Approval | null };

/** A runner over the real tools that answers every question with `answer` (null: nobody to ask). */
export function runnerOn({ context }: Bench, { answer = null, ...settings }: Settings = {}) {
  const questions: ApprovalQuestion[] = [];
  const remembered: RuleObject[] = [];
  const runner = createToolRunner({
    tools,
    context,
    permissions: { allow: [], ask: [], deny: [] },
    approve:
      answer === null
        ? null
        : async (question) => {
            questions.push(question);
            return answer;
          },
    allowAll: false,
    storeRule: async (rule) => {
      remembered.push(rule);
    },
    secrets: [],
    ...settings,
  });
  let count = 0;
  const call = (name: string, args: JsonObject): ToolCallPart => {
    count += 1;
    return { type: 'tool_call', call_id: `call-${count}`, name, args };
  };
  const run = async (calls: readonly ToolCallPart[], signal = new AbortController().signal): Promise<Ran> => {
    const events: ChatEvent[] = [];
    const running = runner.run(calls, signal);
    for (;;) {
      const step = await running.next();
      if (step.done) return { events, results: step.value, questions, remembered };
      events.push(step.value);
    }
  };
  const one = async (name: string, args: JsonObject): Promise<ToolResultPart> => {
    const [result] = (await run([call(name, args)])).results;
    if (!result) throw new Error('The runner gave no result.');
    return result;
  };
  return { runner, call, run, one, questions, remembered };
}

/** The object a call resulted in. Throws when it failed. */
export function resultOf({ result, error }: ToolResultPart): JsonObject {
  if (!isJsonObject(result)) throw new Error(`The call failed: ${error}`);
  return result;
}
