import type { StreamEvent } from '../../chat/event.js';
import { distinctive, ownSecretMask } from '../../permission/mask-secrets.js';
import { SecretStream } from '../../permission/secret-stream.js';
import type { Provider } from '../../providers/common/provider.js';

/** The provider with secrets masked in its answers: a server that echoes the key must not get it onto the screen or into the history. */
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
