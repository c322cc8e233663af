import OpenAI from 'openai';
import type { StreamEvent } from '../../chat/event.js';
import type { ModelFacts, Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { capitalised } from '../../chat/text.js';
import { StreamingProvider } from '../common/answer/streaming-provider.js';
import type { FailureContext } from '../common/failure/failure-text.js';
import { missingPath } from '../common/failure/missing-path.js';
import type { ListedModel } from '../common/models/listed-model.js';
import { type ModelQuestion, type Provider, type ProviderSettings, RequestRefusal } from '../common/provider.js';
import { FREE_FORM, formFor } from '../common/request/template-turns.js';
import { WebNotice } from '../common/request/web-search.js';
import { requireKey } from '../common/require-key.js';
import { sendShaped } from '../common/schema/sent-request.js';
import { sdkOptions, withoutAccountHeaders } from '../common/sdk-options.js';
import { type Api, apiFor, clientAddress, isAzure, isOpenAI } from './openai-address.js';
import { streamChat } from './openai-chat.js';
import * as facts from './openai-facts.js';
import { streamResponses } from './openai-responses.js';
import { shapeRequest } from './openai-schema.js';

/** The adapter for a vendor with OpenAI's protocol at `address`. */
export function create(vendor: Vendor, address: string, settings: ProviderSettings): Provider {
  const base = settings.apiBase ?? address;
  const clients = new Map<Api, OpenAI>();
  const clientFor = (api: Api): OpenAI => {
    const client = clients.get(api) ?? makeClient(vendor, base, settings, api);
    clients.set(api, client);
    return client;
  };
  // Throws at once if there is no key.
  clientFor(apiFor(base, settings.options?.api));
  const member = speaker(vendor, settings);
  const options = {
    provider: vendor.name,
    title: member.title,
    idleTimeout: settings.idleTimeout,
    // Other servers may know only the older names.
    compatible: !isOpenAI(base) && !isAzure(base),
    host: URL.canParse(base) ? new URL(base).hostname : '',
    notice: new WebNotice(),
  };
  return new StreamingProvider({ ...settings, member }, (request, signal) =>
    sendShaped(
      request,
      () => loadSchema(options),
      (sent) => {
        const api = apiFor(base, settings.options?.api, request.facts);
        const { deployment } = clientAddress(base, api);
        const named = deployment === null ? sent : { ...sent, model: deployment };
        const form = isOpenAI(base) ? FREE_FORM : formFor(base, request.model);
        return api === 'chat'
          ? streamChat(clientFor(api), named, { ...options, form }, signal)
          : sayingIfMissing(streamResponses(clientFor(api), named, { ...options, form }, signal), member.title);
      },
    ),
  );
}

/** The answer through the Responses API; a refusal of that API where the server has nothing at its path. */
async function* sayingIfMissing(answer: AsyncIterable<StreamEvent>, title: string): AsyncGenerator<StreamEvent> {
  try {
    yield* answer;
  } catch (thrown) {
    const said = missingPath(thrown);
    if (said === null) throw thrown;
    throw new RequestRefusal('request', capitalised(`${title} has no Responses API: ${said}`), {
      hint: 'Check api_base, or set openai.api to "chat".',
      refused: { what: 'features', features: ['responses'] },
      said,
      param: null,
      cause: thrown,
    });
  }
}

async function loadSchema(options: { readonly compatible: boolean }) {
  return (request: ChatRequest) => shapeRequest(request, options);
}

/** The models of such a vendor, newest first. */
export async function listModels(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const context = { member: speaker(vendor, settings), model: null, apiKey: settings.apiKey };
  return await facts.listModels(makeClient(vendor, settings.apiBase ?? address, settings), context, signal);
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
  return await facts.askFacts(makeClient(vendor, settings.apiBase ?? address, settings), context, model, signal);
}

/** The name of the server in errors: not the vendor if the user configured another address. */
function speaker(vendor: Vendor, { apiBase }: ProviderSettings): FailureContext['member'] {
  if (apiBase === null) return vendor;
  const host = URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
  return host.endsWith('openai.com') ? vendor : { ...vendor, title: `the server at '${host}'`, keyPage: null };
}

/** The SDK client for one API at the vendor's or the configured address. */
function makeClient(vendor: Vendor, base: string, settings: ProviderSettings, api: Api = 'chat'): OpenAI {
  // A server at another address may not need a key.
  const apiKey = settings.apiBase === null ? requireKey(vendor, settings) : settings.apiKey;
  const { baseURL, defaultQuery, deployment } = clientAddress(base, api);
  // Azure's older addresses take a token of Entra as others do, but a key in a header of its own.
  const isAzureKey = deployment !== null && apiKey !== null && !/^eyJ[\w-]*\./.test(apiKey);
  const headers = {
    ...(!isOpenAI(base) && withoutAccountHeaders(settings.env.OPENAI_CUSTOM_HEADERS)),
    ...((apiKey === null || isAzureKey) && { Authorization: null }),
    ...(isAzureKey && { 'api-key': apiKey }),
  };
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL,
    defaultQuery,
    ...(!isOpenAI(base) && { organization: null, project: null }),
    ...sdkOptions(vendor, settings),
    defaultHeaders: headers,
  });
}
