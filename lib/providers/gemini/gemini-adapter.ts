// The SDK's browser build has the same classes without Google Cloud authentication, which takes longer to load than the rest.

import {
  type FinishReason,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
  ThinkingLevel,
} from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import type { Usage } from '../../chat/message.js';
import type { ModelFacts, Vendor } from '../../chat/model.js';
import { isOwnAddress } from '../../chat/model.js';
import { asMalformed } from '../common/answer/stream.js';
import { StreamedAnswer } from '../common/answer/streamed-answer.js';
import { StreamingProvider } from '../common/answer/streaming-provider.js';
import { withoutVersion } from '../common/api-base.js';
import type { ListedModel } from '../common/models/listed-model.js';
import type { ModelQuestion, Provider, ProviderSettings } from '../common/provider.js';
import { callIds } from '../common/request/call-ids.js';
import { wantsStream } from '../common/request/wants-stream.js';
import { WebNotice } from '../common/request/web-search.js';
import { requireKey } from '../common/require-key.js';
import { type SentRequest, sendShaped } from '../common/schema/sent-request.js';
import { sdkFetch } from '../common/sdk-options.js';
import { checkedEvents } from './checked-events.js';
import { brokenAnswer, readPart, readStopReason, readUsage } from './gemini-answer.js';
import * as facts from './gemini-facts.js';
import { toVendorRequest } from './gemini-request.js';
import type { GeminiFormat } from './gemini-schema.js';
import { shapeRequest } from './gemini-schema.js';
import { aloneText, readGrounding, searchesAlone } from './gemini-web.js';

/** The formats that Gemini supports in addition to the usual images and PDF. */
const MEDIA = /^audio\/|^image\/hei[cf]$/;

/** See `ProviderMember.create`. */
export async function create(vendor: Vendor, settings: ProviderSettings): Promise<Provider> {
  const client = makeClient(vendor, settings);
  const notice = new WebNotice();
  return new StreamingProvider(
    { ...settings, member: vendor },
    (request, signal) =>
      sendShaped(request, loadSchema, (sent) => streamContent(client, sent, { vendor, notice }, signal)),
    MEDIA,
  );
}

const loadSchema = async () => shapeRequest;

/** See `ProviderMember.listModels`. */
export async function listModels(
  vendor: Vendor,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: vendor, model: null, apiKey: settings.apiKey };
  return await facts.listModels(makeClient(vendor, settings), context, signal);
}

/** See `ProviderMember.askFacts`. */
export async function askFacts(
  vendor: Vendor,
  settings: ProviderSettings,
  { model }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: vendor, model, apiKey: settings.apiKey };
  return await facts.askFacts(makeClient(vendor, settings), context, model, signal);
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
  let model = '';
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
      // The chunk's getters write to the console when there are parts of several types; reading the parts directly does not.
      const candidate = chunk.candidates?.[0];
      // Not `yield*`: in an async generator, delegating to a plain one creates several promises per event.
      for (const part of candidate?.content?.parts ?? [])
        for (const event of readPart(part, answer, nextId)) yield event;
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
  yield { type: 'end', stop_reason, usage, ...(model !== '' && { model }), ...(why !== null && { detail: why }) };
}

/** The SDK throws when a stream ends inside an event. That is ignored here, because the missing end is reported later. */
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
  const apiKey = isOwnAddress(vendor, settings.apiBase) ? requireKey(vendor, settings) : (settings.apiKey ?? 'none');
  const fetch = sdkFetch(vendor, settings);
  return new GoogleGenAI({
    apiKey,
    vertexai: false,
    httpOptions: {
      baseUrl: withoutVersion(settings.apiBase ?? 'https://generativelanguage.googleapis.com/'),
      fetch: async (input, init) => checkedEvents(await fetch(input, init), settings.idleTimeout),
    },
  });
}
