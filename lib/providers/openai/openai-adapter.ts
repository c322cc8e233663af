import OpenAI from 'openai';
import type { Vendor } from '../../chat/vendor.js';
import { stripImages } from '../common/image-support.js';
import type { Provider, ProviderSettings } from '../common/provider.js';
import type { FailureContext } from '../common/provider-failure.js';
import { requireKey } from '../common/require-key.js';
import { sdkOptions } from '../common/sdk-options.js';
import { askVendor } from '../common/stream.js';
import { StreamingProvider } from '../common/streaming-provider.js';
import { FREE_FORM, formFor } from '../common/template-turns.js';
import { WebNotice } from '../common/web-search.js';
import { streamChat } from './openai-chat.js';
import { streamResponses } from './openai-responses.js';

/** The adapter of any vendor that speaks OpenAI's protocol at `address`. */
export function create(vendor: Vendor, address: string, settings: ProviderSettings): Provider {
  const client = makeClient(vendor, address, settings);
  const base = settings.apiBase ?? address;
  const isOpenAI = /^https:\/\/(?:[\w-]+\.)*api\.openai\.com\b/.test(base);
  const member = speaker(vendor, settings);
  const options = {
    provider: vendor.name,
    title: member.title,
    idleTimeout: settings.idleTimeout,
    // Another server than OpenAI's own may know the older names only.
    compatible: !isOpenAI && !/\.azure\.com\b/.test(base),
    host: URL.canParse(base) ? new URL(base).hostname : '',
    notice: new WebNotice(),
  };
  const streamAnswer = usesResponses(settings, isOpenAI) ? streamResponses : streamChat;
  return new StreamingProvider({ member, apiKey: settings.apiKey }, (request, signal) =>
    streamAnswer(
      client,
      stripImages(request),
      { ...options, form: isOpenAI ? FREE_FORM : formFor(base, request.model) },
      signal,
    ),
  );
}

/** `openai.api` of the configuration. */
function usesResponses({ options }: ProviderSettings, isOpenAI: boolean): boolean {
  const api = options?.api ?? 'auto';
  return api === 'auto' ? isOpenAI : api === 'responses';
}

/** The models of such a vendor, the newest first. */
export async function listModels(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const client = makeClient(vendor, address, settings);
  const list = async () => {
    const { data } = await client.models.list({ signal });
    return data.sort((one, other) => (other.created ?? 0) - (one.created ?? 0)).map((model) => model.id);
  };
  return await askVendor(list, { member: speaker(vendor, settings), model: null, apiKey: settings.apiKey }, signal);
}

/** Whom an error is about: behind an address of the user's own it is not the vendor. */
function speaker(vendor: Vendor, { apiBase }: ProviderSettings): FailureContext['member'] {
  if (apiBase === null) return vendor;
  const host = URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
  return host.endsWith('openai.com') ? vendor : { ...vendor, title: `the server at '${host}'`, keyPage: null };
}

function makeClient(vendor: Vendor, address: string, settings: ProviderSettings): OpenAI {
  // A server at another address may want no key.
  const apiKey = settings.apiBase === null ? requireKey(vendor, settings) : settings.apiKey;
  return new OpenAI({
    apiKey: apiKey ?? 'none',
    baseURL: settings.apiBase ?? address,
    ...sdkOptions(vendor, settings),
    ...(apiKey === null && { defaultHeaders: { Authorization: null } }),
  });
}
