import {
  type AgentContext,
  methods,
  type PermissionOption,
  type PromptRequest,
  type PromptResponse,
} from '@agentclientprotocol/sdk';
import { isAbort } from '../../errors.js';
import type { Approval, Approve } from '../../tools/common/tool.js';
import type { World } from '../base/world.js';
import type { SessionOptions } from '../wiring/session-options.js';
import { openSession, type WiredSession } from '../wiring/wire.js';
import { previewContent } from './preview-content.js';
import { promptInput } from './prompt-input.js';
import { stopReasonOf, TurnUpdates, toolKindOf } from './turn-updates.js';

/** One editor session: its folder and its turns. All sessions share the one conversation. */
export class EditorSession {
  readonly id: string;
  readonly #cwd: string;
  readonly #wired: WiredSession;
  #running: AbortController | null = null;
  #updates: TurnUpdates;
  #client: AgentContext | null = null;

  private constructor(id: string, cwd: string, wired: WiredSession) {
    this.id = id;
    this.#cwd = cwd;
    this.#wired = wired;
    this.#updates = new TurnUpdates(cwd);
  }

  static async open(id: string, world: World, options: SessionOptions): Promise<EditorSession> {
    const asked: { by: EditorSession | null } = { by: null };
    const approve: Approve = async (question, signal) =>
      asked.by === null ? { answer: 'no' } : await asked.by.#approve(question, signal);
    const wired = await openSession(world, { ...options, approve });
    const session = new EditorSession(id, world.cwd, wired);
    asked.by = session;
    return session;
  }

  /** Runs one turn. Resolves when it ends; throws `HiError`s. */
  async prompt({ prompt }: PromptRequest, client: AgentContext, signal: AbortSignal): Promise<PromptResponse> {
    const stop = new AbortController();
    const both = AbortSignal.any([stop.signal, signal]);
    this.#running = stop;
    this.#client = client;
    this.#updates = new TurnUpdates(this.#cwd);
    try {
      for await (const event of this.#wired.session.send(promptInput(prompt), both)) {
        if (event.type === 'turn-end') return { stopReason: stopReasonOf(event) };
        for (const update of await this.#updates.of(event))
          await client.notify(methods.client.session.update, { sessionId: this.id, update });
      }
      return { stopReason: 'end_turn' };
    } catch (thrown) {
      if (isAbort(thrown) || both.aborted) return { stopReason: 'cancelled' };
      throw thrown;
    } finally {
      this.#running = null;
    }
  }

  /** Ends the running turn. */
  cancel(): void {
    this.#running?.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#wired.close();
  }

  async #approve(question: Parameters<Approve>[0], signal: AbortSignal): Promise<Approval> {
    const { call, preview, reason, rule } = question;
    const client = this.#client;
    if (client === null) return { answer: 'no' };
    const sessionId = this.id;
    const content = await previewContent(preview, this.#cwd);
    const update = this.#updates.announced(call, 'pending', content);
    await client.notify(methods.client.session.update, { sessionId, update });
    const { outcome } = await client.request(
      methods.client.session.requestPermission,
      {
        sessionId,
        toolCall: {
          toolCallId: call.call_id,
          kind: toolKindOf(call.name),
          status: 'pending',
          title: `${call.name}: ${reason}`,
          content: [...content],
          rawInput: call.args,
        },
        options: optionsFor(rule),
      },
      { cancellationSignal: signal },
    );
    if (outcome.outcome === 'cancelled') {
      this.cancel();
      return { answer: 'no' };
    }
    if (outcome.optionId === 'always' && rule !== null) return { answer: 'always' };
    return { answer: outcome.optionId === 'once' ? 'once' : 'no' };
  }
}

function optionsFor(rule: string | null): PermissionOption[] {
  return [
    { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
    ...(rule === null ? [] : [{ optionId: 'always', kind: 'allow_always' as const, name: `Always allow ${rule}` }]),
    { optionId: 'no', kind: 'reject_once', name: 'Refuse' },
  ];
}
