import { isJsonObject } from '../../chat/json.js';

/** The part of a transport that is needed. The type of messages is the SDK's own. */
interface Receiving<Message, Extra> {
  onmessage?: ((message: Message, extra?: Extra) => void) | undefined;
}

/**
 * Takes a result that does not say what kind it is for a complete one, as the newer form of the protocol has it; the SDK refuses it. Until `isNewer` nothing
 * is changed: the older form has no kinds.
 */
export function withResultType<Message, Extra>(transport: Receiving<Message, Extra>, isNewer: () => boolean): void {
  let take: ((message: Message, extra?: Extra) => void) | undefined;
  Object.defineProperty(transport, 'onmessage', {
    get: () => take,
    set: (next: typeof take) => {
      take = next && ((message, extra) => next(isNewer() ? complete(message) : message, extra));
    },
  });
}

function complete<Message>(message: Message): Message {
  if (!isJsonObject(message) || !isJsonObject(message.result) || 'resultType' in message.result) return message;
  return { ...message, result: { ...message.result, resultType: 'complete' } };
}
