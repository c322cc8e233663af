import OpenAI from 'openai';
import type { ModelFacts } from '../../chat/model/model-facts.js';
import type { Vendor } from '../../chat/model/vendor.js';
import type { ChatRequest } from '../../chat/request.js';
import { StreamingProvider } from '../common/answer/streaming-provider.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import type { ListedModel } from '../common/models/listed-model.js';
import type { ModelQuestion, Provider, ProviderSettings } from '../common/provider.js';
import { FREE_FORM, formFor } from '../common/request/template-turns.js';
import { WebNotice } from '../common/request/web-search.js';
import { requireKey } from '../common/require-key.js';
import { sendShaped } from '../common/schema/sent-request.js';
import { sdkOptions } from '../common/sdk-options.js';
import { streamChat } from './openai-chat.js';
import * as facts from './openai-facts.js';
import { streamResponses } from './openai-responses.js';
import { shapeRequest } from './openai-schema.js';

/** The adapter for a vendor with OpenAI's protocol at `address`. */
export function create(vendor: Vendor, address: string, settings: ProviderSettings): Provider {
  const client = makeClient(vendor, address, settings);
  const base = settings.apiBase ?? address;
  const isOpenAI = facts.isOpenAI(base);
  const member = speaker(vendor, settings);
  const options = {
    provider: vendor.name,
    title: member.title,
    idleTimeout: settings.idleTimeout,
    // Other servers may know only the older names.
    compatible: !isOpenAI && !/\.azure\.com\b/.test(base),
    host: URL.canParse(base) ? new URL(base).hostname : '',
    notice: new WebNotice(),
  };
  const streamAnswer = usesResponses(settings, isOpenAI) ? streamResponses : streamChat;
  return new StreamingProvider({ ...settings, member }, (request, signal) =>
    sendShaped(
      request,
      () => loadSchema(options),
      (sent) =>
        streamAnswer(client, sent, { ...options, form: isOpenAI ? FREE_FORM : formFor(base, request.model) }, signal),
    ),
  );
}

async function loadSchema(options: { readonly compatible: boolean }) {
  return (request: ChatRequest) => shapeRequest(request, options);
}

/** `openai.api` of the configuration. */
function usesResponses({ options }: ProviderSettings, isOpenAI: boolean): boolean {
  const api = options?.api ?? 'auto';
  return api === 'auto' ? isOpenAI : api === 'responses';
}

/** The models of such a vendor, newest first. */
export async function listModels(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: speaker(vendor, settings), model: null, apiKey: settings.apiKey };
  return await facts.listModels(makeClient(vendor, address, settings), context, signal);
}

/** The facts that such a vendor reports about one model. */
export async function askFacts(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  { model }: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const context = { member: speaker(vendor, settings), model, apiKey: settings.apiKey };
  return await facts.askFacts(makeClient(vendor, address, settings), context, model, signal);
}

/** The name of the server in errors: not the vendor if the user configured another address. */
function speaker(vendor: Vendor, { apiBase }: ProviderSettings): FailureContext['member'] {
  if (apiBase === null) return vendor;
  const host = URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
  return host.endsWith('openai.com') ? vendor : { ...vendor, title: `the server at '${host}'`, keyPage: null };
}

/** The SDK client for the vendor or the configured address. */
function makeClient(vendor: Vendor, address: string, settings: ProviderSettings): OpenAI {
  // A server at another address may not need a key.
  const apiKey = settings.apiBase === null ? requireKey(vendor, settings) : settings.apiKey;
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL: settings.apiBase ?? address,
    ...sdkOptions(vendor, settings),
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
}
