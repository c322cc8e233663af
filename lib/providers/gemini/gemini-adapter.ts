// The SDK's browser build has the same classes without Google Cloud authentication, which takes longer to load than the
// rest.
import {
  type FinishReason,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type GenerateContentResponseUsageMetadata,
  GoogleGenAI,
  type Part,
  ThinkingLevel,
} from '@google/genai/web';
import { billed, type StreamEvent } from '../../chat/event.js';
import { type JsonObject, jsonText, parseObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import { isOwnAddress, type ModelFacts, type Vendor } from '../../chat/model.js';
import { HiError } from '../../errors.js';
import { eventData, serverSentEvents } from '../../http/body.js';
import { PlainResponse, PlainStream } from '../../http/web-standard.js';
import { WebNotice, wantsStream } from '../common/fit-request.js';
import { factsOf, type ListedModel, listedModel } from '../common/known-models.js';
import { callIds } from '../common/normalise-history.js';
import {
  type ModelQuestion,
  type Provider,
  type ProviderSettings,
  RequestRefusal,
  UNSAID,
} from '../common/provider.js';
import { drawnImage } from '../common/request-media.js';
import { requireKey, sdkFetch, withoutVersion } from '../common/sdk.js';
import { askVendor, asMalformed, StreamingProvider } from '../common/stream.js';
import { StreamedAnswer, toolCall } from '../common/streamed-answer.js';
import type { SentRequest } from '../common/vendor-schema.js';
import {
  aloneText,
  EITHER,
  type GeminiFormat,
  readGrounding,
  searchesAlone,
  shapeRequest,
  toVendorRequest,
} from './gemini-request.js';

/** The formats that Gemini supports in addition to the usual images and PDF. */
const MEDIA = /^audio\/|^image\/hei[cf]$/;

/** See `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  const client = makeClient(vendor, settings);
  const notice = new WebNotice();
  return new StreamingProvider(
    { ...settings, member: vendor },
    (request, signal) => streamContent(client, shapeRequest(request), { vendor, notice }, signal),
    MEDIA,
  );
}

/** See `ProviderMember.listModels`. Lists chat models only. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: vendor, model: null, apiKey: settings.apiKey, keySource: settings.keySource };
  const client = makeClient(vendor, settings);
  const list = async () => {
    const found: ListedModel[] = [];
    for await (const entry of await client.models.list({ config: { pageSize: 1000, abortSignal: signal } })) {
      if (entry.supportedActions?.includes('generateContent') ?? true)
        found.push(listedModel((entry.name ?? '').replace(/^models\//, ''), entry));
    }
    return found;
  };
  return await askVendor(list, context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  vendor: Vendor,
  settings: ProviderSettings,
  { model }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: vendor, model, apiKey: settings.apiKey, keySource: settings.keySource };
  const client = makeClient(vendor, settings);
  const ask = async () => factsOf(await client.models.get({ model, config: { abortSignal: signal } }));
  return await askVendor(ask, context, signal);
}

/** One answer. */
async function* streamContent(
  client: GoogleGenAI,
  request: SentRequest<GeminiFormat>,
  { vendor, notice }: { readonly vendor: Vendor; readonly notice: WebNotice },
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  if (searchesAlone(request)) yield* notice.say(request, aloneText(request));
  const answer = new StreamedAnswer();
  const nextId = callIds(request.messages);
  let finish: FinishReason | null = null;
  let detail: string | null = null;
  let usage: Usage | null = null;
  let [model, searches] = ['', 0];
  try {
    const asked = toVendorRequest(request, vendor.name, ThinkingLevel, signal);
    for await (const chunk of chunks(client, asked, wantsStream(request))) {
      model = chunk.modelVersion || model;
      usage = readUsage(chunk.usageMetadata) ?? usage;
      const blocked = chunk.promptFeedback?.blockReason;
      if (blocked !== undefined) {
        const said = chunk.promptFeedback?.blockReasonMessage ?? `The prompt was blocked: ${blocked}.`;
        yield { type: 'end', stop_reason: 'refusal', usage, detail: said, ...(model !== '' && { model }) };
        return;
      }
      // The chunk's getters write to the console when there are parts of several types; reading the parts directly does
      // not.
      const candidate = chunk.candidates?.[0];
      // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
      for (const part of candidate?.content?.parts ?? [])
        for (const event of readPart(part, answer, nextId)) yield event;
      searches = Math.max(searches, candidate?.groundingMetadata?.webSearchQueries?.length ?? 0);
      for (const event of readGrounding(candidate?.groundingMetadata)) yield event;
      finish = candidate?.finishReason || finish;
      detail = candidate?.finishMessage ?? detail;
    }
  } catch (thrown) {
    // An error after the finish reason does not affect the answer.
    if (finish === null || signal.aborted) throw asMalformed(thrown, vendor.title);
  }
  if (finish === null && answer.calls === 0) return;
  const broken = finish === null ? null : brokenAnswer(finish);
  if (broken !== null) throw broken;
  const stop_reason = readStopReason(finish, answer.calls);
  yield* answer.finish(stop_reason === 'length' ? 'object' : 'none');
  const why = detail ?? (stop_reason === 'refusal' ? `Gemini stopped the answer: ${finish}.` : null);
  // Before Gemini 3 a prompt with searches is billed, not each of them.
  const billing = billed({ web_searches: EITHER.test(model || request.model) ? Math.min(1, searches) : searches });
  if (usage !== null) usage = { ...usage, ...billing };
  yield { type: 'end', stop_reason, usage, ...(model !== '' && { model }), ...(why !== null && { detail: why }) };
}

/**
 * The SDK throws when a stream ends inside an event. That is ignored here, because the missing end is reported later.
 */
async function* chunks(
  client: GoogleGenAI,
  contents: GenerateContentParameters,
  isStream: boolean,
): AsyncGenerator<GenerateContentResponse> {
  try {
    if (!isStream) return void (yield await client.models.generateContent(contents));
    yield* await client.models.generateContentStream(contents);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.message.startsWith('Incomplete JSON segment')) return;
    throw thrown;
  }
}

/** The SDK client for the vendor or the configured address. */
function makeClient(vendor: Vendor, settings: ProviderSettings): GoogleGenAI {
  // A server at another address may not need a key, but the SDK does.
  const apiKey = isOwnAddress(vendor, settings.apiBase) ? requireKey(vendor, settings) : settings.apiKey;
  const fetch = sdkFetch(vendor, settings);
  return new GoogleGenAI({
    apiKey: apiKey ?? NO_KEY,
    vertexai: false,
    httpOptions: {
      baseUrl: withoutVersion(settings.apiBase ?? 'https://generativelanguage.googleapis.com/'),
      fetch: async (input, init) =>
        checkedEvents(await fetch(input, apiKey === null ? withoutKey(init) : init), settings.idleTimeout),
    },
  });
}

const NO_KEY = 'none';

function withoutKey(init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers);
  if (headers.get('x-goog-api-key') === NO_KEY) headers.delete('x-goog-api-key');
  return { ...init, headers };
}

/** An event that is an error object, recognised by the beginning of its text, since the others are parsed later. */
const ERROR = /^\s*\{\s*"error"/;

/** The keys of a piece of an answer; anything else may be an error message. */
const PIECE = /"(?:candidates|usageMetadata|promptFeedback)"/;

/**
 * The same response with each event on one line. Google's SDK searches an event from its first byte again with every
 * chunk, cannot read data of several lines, and drops errors inside the stream, answers that are not a stream, and a
 * last event without its blank line.
 */
function checkedEvents(response: Response, idleTimeout: number): Response {
  if (new URL(response.url).searchParams.get('alt') !== 'sse') return response;
  const chunks = check(response, idleTimeout);
  const body = new PlainStream({
    next: async () => (await chunks.next()).value ?? null,
    stop: () => void chunks.return(undefined),
  });
  return PlainResponse.rewritten(response, body);
}

async function* check(response: Response, idleTimeout: number): AsyncGenerator<Uint8Array, undefined> {
  for await (const events of serverSentEvents(response, idleTimeout)) {
    let good = '';
    for (const event of events) {
      if (ERROR.test(event) || !PIECE.test(event)) {
        // Events before an error are part of the answer.
        if (good !== '') yield Buffer.from(good);
        good = '';
        eventData(event);
      }
      good += `data: ${event.replaceAll('\n', ' ')}\n\n`;
    }
    yield Buffer.from(good);
  }
}

/**
 * Reads one part. A signature belongs to its part only, so a signed part is never joined with its neighbours. The last
 * part of an answer may consist of a signature only. Parts other than text and calls are stored unchanged.
 */
function* readPart(part: Part, answer: StreamedAnswer, nextId: (given?: string) => string): Generator<StreamEvent> {
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

/** The finish reasons for an answer that failed, by what happened. Newer than the SDK. */
const USELESS: Readonly<Record<string, string>> = {
  MALFORMED_RESPONSE: "Gemini's answer cannot be read",
  MISSING_THOUGHT_SIGNATURE: 'Gemini does not go on without the signature of an earlier thought',
};

/**
 * The error for a finish reason that makes the answer useless; null for others. After a broken call a retry usually
 * succeeds; if none does, the tools may be the cause.
 */
function brokenAnswer(finish: FinishReason): HiError | null {
  const useless = USELESS[finish];
  if (useless !== undefined)
    return new HiError('malformed', `${useless} (${finish}).`, {
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

/**
 * Why the answer ended, in our words. STOP is also used for tool calls; every unknown reason means that the answer was
 * blocked.
 */
function readStopReason(
  finish: FinishReason | null,
  calls: number,
): Extract<StreamEvent, { type: 'end' }>['stop_reason'] {
  if (finish === null || `${finish}` === 'STOP' || `${finish}` === 'FINISH_REASON_UNSPECIFIED') {
    return calls > 0 ? 'tool_calls' : 'end';
  }
  return `${finish}` === 'MAX_TOKENS' ? 'length' : 'refusal';
}

/** The prompt count includes cached tokens; the answer count excludes thoughts. */
function readUsage(usage: GenerateContentResponseUsageMetadata | undefined): Usage | null {
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
