import type { StreamEvent } from '../../lib/chat/event.js';
import type { AnswerPart } from '../../lib/chat/message.js';
import type { ChatRequest } from '../../lib/chat/request.js';
import type { Provider, ProviderSettings } from '../../lib/providers/common/provider.js';
import { providers } from '../../lib/providers/index.js';
import { pick } from '../../lib/registry.js';

/** Settings for a server on this machine. */
export function settingsFor(apiBase: string, more: Partial<ProviderSettings> = {}): ProviderSettings {
  return { apiKey: 'test-key-0123456789', apiBase, idleTimeout: 10_000, env: {}, ...more };
}

/** The adapter of that name, speaking to a server on this machine. */
export function adapter(name: string, apiBase: string, more: Partial<ProviderSettings> = {}): Promise<Provider> {
  return pick(providers, name, 'provider').create(settingsFor(apiBase, more));
}

/** A request with one user message, or what is given. */
export function chatRequest(more: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'test-model',
    system: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    tools: [],
    thinking: null,
    context_window: 128_000,
    estimated_tokens: 10,
    max_output_tokens: null,
    attachments: new Map(),
    ...more,
  };
}

/** Everything one stream gave, and how it ended. */
export interface Outcome {
  readonly events: readonly StreamEvent[];
  /** The words shown while the stream ran. */
  readonly text: string;
  readonly thinking: string;
  readonly parts: readonly AnswerPart[];
  readonly end: Extract<StreamEvent, { type: 'end' }> | null;
  /** What was thrown, null when nothing was. */
  readonly error: unknown;
}

/** Reads a stream to its end, whatever that is. */
export async function outcomeOf(stream: AsyncIterable<StreamEvent>): Promise<Outcome> {
  const events: StreamEvent[] = [];
  let error: unknown = null;
  try {
    for await (const event of stream) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const words = (type: 'text' | 'thinking') => events.map((event) => (event.type === type ? event.text : '')).join('');
  return {
    events,
    text: words('text'),
    thinking: words('thinking'),
    parts: events.flatMap((event) => (event.type === 'part' ? [event.part] : [])),
    end: events.find((event) => event.type === 'end') ?? null,
    error,
  };
}

/** One request answered to the end. */
export async function ask(
  provider: Provider,
  request: ChatRequest,
  signal = new AbortController().signal,
): Promise<Outcome> {
  return outcomeOf(provider.stream(request, signal));
}
