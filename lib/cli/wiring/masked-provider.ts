import type { StreamEvent } from '../../chat/event.js';
import type { Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { distinctive, ownSecretMask, SecretStream } from '../../permission/secrets.js';
import type { Provider, ProviderSettings } from '../../providers/common/provider.js';

type StreamEnd = Extract<StreamEvent, { type: 'end' }>;

/**
 * The provider with secrets masked in its answers: a server that echoes the key must not get it onto the screen or into
 * the history.
 */
export function withMaskedSecrets(provider: Provider, secrets: readonly string[]): Provider {
  const own = distinctive(secrets);
  if (own.length === 0) return provider;
  const mask = ownSecretMask(own);
  return {
    name: provider.name,
    // Computed late, because it loads Node's cryptography.
    get origin() {
      return provider.origin;
    },
    stream: (request, signal) => masked(provider.stream(request, signal), mask, own),
  };
}

async function* masked(
  events: AsyncIterable<StreamEvent>,
  mask: (text: string) => string,
  secrets: readonly string[],
): AsyncGenerator<StreamEvent> {
  const streams = { text: new SecretStream(mask, secrets, false), thinking: new SecretStream(mask, secrets, false) };
  const rests = function* (): Generator<StreamEvent> {
    for (const type of ['thinking', 'text'] as const) {
      const text = streams[type].end();
      if (text !== '') yield { type, text };
    }
  };
  try {
    for await (const event of events) {
      if (event.type === 'text' || event.type === 'thinking') {
        const text = streams[event.type].push(event.text);
        if (text !== '') yield { type: event.type, text };
        continue;
      }
      yield* rests();
      yield maskedEvent(event, mask);
    }
  } catch (thrown) {
    // What came before the connection was lost is kept.
    yield* rests();
    throw thrown;
  }
  yield* rests();
}

function maskedEvent(event: StreamEvent, mask: (text: string) => string): StreamEvent {
  const json = JSON.stringify(event);
  const shown = mask(json);
  if (shown === json) return event;
  const read: StreamEvent = JSON.parse(shown);
  return read;
}

/**
 * The provider, with the usage of each answer passed to `record`. The bill names the model that answered, if that is
 * another than the one that was asked: an alias has no price of its own.
 */
export function withUsage(provider: Provider, record: (usage: Usage) => void): Provider {
  return {
    name: provider.name,
    get origin() {
      return provider.origin;
    },
    async *stream(request, signal) {
      for await (const event of provider.stream(request, signal)) {
        const billed = event.type === 'end' ? withModel(event, request.model) : event;
        if (billed.type === 'end' && billed.usage !== null) record(billed.usage);
        yield billed;
      }
    },
  };
}

function withModel(end: StreamEnd, asked: string): StreamEnd {
  const { usage, model } = end;
  if (usage === null || model === undefined || model === asked) return end;
  return { ...end, usage: { ...usage, billing: { ...usage.billing, model } } };
}

/** An adapter, and what it was created with. */
interface Connected {
  readonly access: ProviderSettings;
  readonly provider: Provider;
}

/**
 * A provider whose key comes from a command: tokens of Entra, Vertex AI and Bedrock live about an hour, which a chat
 * outlives. With another key there is another adapter. A refused key is asked for again, once for each request.
 */
export class RenewedProvider implements Provider {
  readonly name: string;
  #connected: Connected;
  readonly #current: (refused: string | null, signal: AbortSignal) => Promise<ProviderSettings>;
  readonly #make: (access: ProviderSettings) => Promise<Provider>;

  /**
   * `current` resolves to the settings with the present key, which is another one than the `refused` if the command
   * prints another.
   */
  constructor(
    connected: Connected,
    current: (refused: string | null, signal: AbortSignal) => Promise<ProviderSettings>,
    make: (access: ProviderSettings) => Promise<Provider>,
  ) {
    this.name = connected.provider.name;
    this.#connected = connected;
    this.#current = current;
    this.#make = make;
  }

  get origin(): string | undefined {
    return this.#connected.provider.origin;
  }

  async *stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<StreamEvent> {
    await this.#renew(null, signal);
    const { access, provider } = this.#connected;
    let hasBegun = false;
    try {
      for await (const event of provider.stream(request, signal)) {
        hasBegun = true;
        yield event;
      }
    } catch (thrown) {
      if (hasBegun || !(thrown instanceof HiError) || thrown.code !== 'key') throw thrown;
      await this.#renew(access.apiKey, signal);
      if (this.#connected.access.apiKey === access.apiKey) throw thrown;
      yield* this.#connected.provider.stream(request, signal);
    }
  }

  async #renew(refused: string | null, signal: AbortSignal): Promise<void> {
    const access = await this.#current(refused, signal);
    if (access.apiKey !== this.#connected.access.apiKey)
      this.#connected = { access, provider: await this.#make(access) };
  }
}
