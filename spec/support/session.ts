import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatEvent, StreamEvent } from '../../lib/chat/event.js';
import type { AnswerPart, ToolResultPart, Usage } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import { DEFAULTS } from '../../lib/config/built.js';
import { HistoryStore } from '../../lib/history/store.js';
import type { Provider } from '../../lib/providers/common/provider.js';
import { Recall } from '../../lib/recall/recall.js';
import type { SessionDeps } from '../../lib/session/common/deps.js';
import { Session } from '../../lib/session/session.js';
import { textModel } from '../../lib/session/turn/text-model.js';
import type { SkillLibrary } from '../../lib/skills/skill.js';
import type { ToolRunner } from '../../lib/tools/common/tool.js';
import type { RestTimes } from '../../lib/view/rest.js';
import { CONFIGURED } from './compaction.js';
import { memory } from './memory.js';

/** What a scripted provider does with one request: yields events, then ends or throws. */
export type Script = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** An answer of these words, and of these calls if there are any. */
export function answer(text: string, calls: readonly string[] = [], usage: Usage | null = null): Script {
  return async function* () {
    if (text !== '') {
      yield { type: 'text', text };
      yield { type: 'part', part: { type: 'text', text } };
    }
    for (const name of calls) yield { type: 'part', part: callOf(name) };
    yield { type: 'end', stop_reason: calls.length > 0 ? 'tool_calls' : 'end', usage };
  };
}

/** A failure after these words. */
export function failure(error: unknown, text = ''): Script {
  return async function* () {
    if (text !== '') yield { type: 'text', text };
    throw error;
  };
}

let calls = 0;

function callOf(name: string): AnswerPart {
  calls += 1;
  return { type: 'tool_call', call_id: `call-${calls}`, name, args: {} };
}

/** A library without a skill in it. */
export const NO_SKILLS: SkillLibrary = {
  absence: "No skills found in '/skills'.",
  skills: [],
  warnings: [],
  asks: false,
  select: async () => ({ record: { matched: [], active: [] }, loaded: [], dropped: [] }),
  texts: async () => [],
  cuts: [],
  explain: async () => '',
};

/**
 * A session over a real history in a folder of its own, with a scripted provider and tools that answer with their name.
 */
export interface Stage {
  readonly session: Session;
  readonly history: HistoryStore;
  readonly folder: string;
  readonly requests: readonly ChatRequest[];
  readonly toolRuns: readonly string[];
  /** How often the tools were told that a turn ended. */
  readonly turnEnds: () => number;
  close(): Promise<void>;
}

type Groups = 'models' | 'settings' | 'tools' | 'search' | 'standing';
type Kept = Omit<SessionDeps, Groups | 'skills'>;

/** How a session differs from the usual one. */
export type StageChanges = Partial<Kept> & { readonly skills?: SessionDeps['skills']['find'] } & {
  readonly [Group in Groups]?: Partial<SessionDeps[Group]>;
};

/**
 * Sets a stage; the scripts answer one request each, the last one all that follow. `context_window` is the model's, in
 * tokens.
 */
export async function stage(
  scripts: readonly Script[],
  changes: StageChanges = {},
  context_window = 100_000,
  known = memory(),
  ask: () => Promise<void> = async () => {},
  {
    now = () => new Date(),
    rest,
    model_window,
  }: { readonly now?: () => Date; readonly rest?: RestTimes; readonly model_window?: number } = {},
): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-session-'));
  const history = await HistoryStore.open({ folder, now });
  const requests: ChatRequest[] = [];
  const toolRuns: string[] = [];
  let turnEnds = 0;
  const provider: Provider = {
    name: 'scripted',
    stream(request, signal) {
      requests.push(request);
      const script = scripts[Math.min(requests.length, scripts.length) - 1];
      if (script === undefined) throw new Error('There is no script.');
      return script(request, signal);
    },
  };
  const target = {
    provider: 'scripted',
    model: 'm',
    get context_window() {
      return known.facts.context_window ?? context_window;
    },
    memory: known,
    ...(rest && { rest }),
    ...(model_window && { model_window }),
    connect: async () => provider,
    ask,
  };
  const runner: ToolRunner = {
    specs: [],
    takeFiles: () => [],
    async *run(asked, signal) {
      const results: ToolResultPart[] = [];
      for (const { call_id, name } of asked) {
        toolRuns.push(name);
        yield { type: 'tool-start', call_id, name, args: {} };
        const outcome = signal.aborted ? { error: 'interrupted' } : { result: { name } };
        yield { type: 'tool-end', call_id, name, ...outcome };
        results.push({ type: 'tool_result', call_id, name, ...outcome });
      }
      return results;
    },
    endTurn: async () => {
      turnEnds += 1;
    },
  };
  const session = new Session({
    history,
    clock: null,
    saveImage: async () => ({ reason: 'nowhere' }),
    cache: { get: async () => null, put: async () => undefined },
    cwd: () => '/work',
    ...changes,
    skills: { find: changes.skills ?? (async () => NO_SKILLS) },
    models: {
      target,
      find: async (model) => ({ ...target, model }),
      writers: (main) => [textModel(main)],
      ...changes.models,
    },
    settings: {
      preamble: null,
      thinking: null,
      web: 'off',
      compaction: { ...CONFIGURED, strategy: 'truncate', timeout_ms: 1000, idle_timeout_ms: 1000 },
      view: DEFAULTS.view,
      summarisesBeside: false,
      ...changes.settings,
    },
    tools: { specs: [], effects: {}, maxRounds: 3, runner: async () => runner, ...changes.tools },
    search: {
      finder: async () => new Recall({ folder: '', history, writes: false }),
      auto: false,
      tokens: 3000,
      ...changes.search,
    },
    standing: {
      read: async () => ({ text: null, warning: null }),
      settle: async () => [],
      ...changes.standing,
    },
  });
  return {
    session,
    history,
    folder,
    requests,
    toolRuns,
    turnEnds: () => turnEnds,
    async close() {
      await history.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** All events of a turn; `watch` sees each as it comes. */
export async function drain(events: AsyncIterable<ChatEvent>, watch: (event: ChatEvent) => void = () => undefined) {
  const all: ChatEvent[] = [];
  for await (const event of events) {
    all.push(event);
    watch(event);
  }
  return all;
}
