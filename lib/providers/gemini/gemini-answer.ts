import type { FinishReason, GenerateContentResponseUsageMetadata, Part } from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import { type JsonObject, jsonText, parseObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import { HiError } from '../../errors.js';
import { type StreamedAnswer, toolCall } from '../common/answer/streamed-answer.js';
import { drawnImage } from '../common/media/drawn-image.js';
import { RequestRefusal, UNSAID } from '../common/provider.js';

/**
 * Reads one part. A signature belongs to its part only, so a signed part is never joined with its neighbours. The last part of an answer may
 * consist of a signature only. Parts other than text and calls are stored unchanged.
 */
export function* readPart(
  part: Part,
  answer: StreamedAnswer,
  nextId: (given?: string) => string,
): Generator<StreamEvent> {
  const { text, thought, thoughtSignature, functionCall } = part;
  const opaque: JsonObject = thoughtSignature === undefined ? {} : { thoughtSignature };
  if (functionCall) {
    const own = functionCall.id === undefined ? opaque : { ...opaque, id: true };
    const args = jsonText(functionCall.args ?? {});
    yield* answer.add(toolCall(nextId(functionCall.id), functionCall.name ?? '', args, own));
    return;
  }
  if (part.inlineData?.data && part.inlineData.mimeType?.startsWith('image/')) {
    yield* answer.close();
    if (!thought) yield drawing(part, opaque);
    return;
  }
  if (text === undefined) {
    const raw = parseObject(jsonText(part));
    if (raw !== null && Object.keys(raw).length > 0) yield* answer.add({ type: 'vendor', opaque: { part: raw } });
    return;
  }
  const type = thought ? 'thinking' : 'text';
  if (thoughtSignature === undefined) return yield* answer.piece(type, text);
  yield* answer.close();
  yield* answer.piece(type, text);
  yield* answer.seal(type, opaque);
  yield* answer.close();
}

/** A generated image. It is sent back with its signature, so that the model can edit it. */
function drawing({ inlineData }: Part, signature: JsonObject): StreamEvent {
  const mimeType = inlineData?.mimeType ?? 'image/png';
  return drawnImage(mimeType, inlineData?.data ?? '', (data) => ({
    part: { inlineData: { mimeType, data }, ...signature },
  }));
}

/** The finish reasons for a broken or unknown call. It must not be run, and the rest of the answer is useless. */
const BROKEN_CALLS: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
]);

/** The error for a finish reason that makes the answer useless; null for others. After a broken call a retry usually succeeds; if none does, the tools may be the cause. */
export function brokenAnswer(finish: FinishReason): HiError | null {
  if (`${finish}` === 'MALFORMED_RESPONSE')
    return new HiError('malformed', `Gemini's answer cannot be read (${finish}).`, {
      hint: 'Try again (/retry in hi chat), or use another model.',
      retryable: true,
      retries: 1,
    });
  if (!BROKEN_CALLS.has(finish)) return null;
  const said = `Gemini made a tool call that cannot be run (${finish}).`;
  return new RequestRefusal('malformed', said, {
    ...UNSAID,
    hint: 'Try again (/retry in hi chat), or turn tools off (--no-tools).',
    retryable: true,
    said,
  });
}

/** Why the answer ended, in our words. STOP is also used for tool calls; every unknown reason means that the answer was blocked. */
export function readStopReason(
  finish: FinishReason | null,
  calls: number,
): Extract<StreamEvent, { type: 'end' }>['stop_reason'] {
  if (finish === null || `${finish}` === 'STOP' || `${finish}` === 'FINISH_REASON_UNSPECIFIED') {
    return calls > 0 ? 'tool_calls' : 'end';
  }
  return `${finish}` === 'MAX_TOKENS' ? 'length' : 'refusal';
}

/** The prompt count includes cached tokens; the answer count excludes thoughts. */
export function readUsage(usage: GenerateContentResponseUsageMetadata | undefined): Usage | null {
  if (usage?.promptTokenCount === undefined) return null;
  // What its tools returned, such as a search, is billed as input too.
  const input_tokens = usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0);
  const output_tokens = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
  return {
    input_tokens,
    output_tokens,
    cached_tokens: usage.cachedContentTokenCount ?? 0,
    context_tokens: input_tokens + output_tokens,
  };
}
