import type { Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { type Fetch, makeFetch, SDK_TIMEOUT } from '../../http/fetch.js';
import { quietConsole } from '../../http/sdk-console.js';
import type { ProviderSettings } from './provider.js';

/** The common options of the SDKs: no retries, time limits or logs, and our `fetch`. */
export function sdkOptions(vendor: Vendor, settings: ProviderSettings) {
  return { maxRetries: 0, timeout: SDK_TIMEOUT, logLevel: 'off', fetch: sdkFetch(vendor, settings) } as const;
}

/** The `fetch` for an SDK, whose console output goes to the trace. */
export function sdkFetch({ hints }: Vendor, settings: ProviderSettings): Fetch {
  quietConsole(settings.trace);
  if (settings.weigh !== undefined) return weighing(settings);
  return makeFetch(hints?.start === undefined ? settings : { ...settings, startHint: hints.start });
}

/** A `fetch` that sends nothing, and fails. */
function weighing({ weigh }: ProviderSettings): Fetch {
  return async (_input, { body } = {}) => {
    if (typeof body === 'string') weigh?.(body.length);
    throw new Error('Nothing was to be sent.');
  };
}

/**
 * The headers that an SDK adds from a variable of its vendor's account, each removed: they go to that vendor's own
 * address only. `text`: the value of the variable, a header a line.
 */
export function withoutAccountHeaders(text: string | undefined): Readonly<Record<string, null>> {
  const lines = (text ?? '').split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), null]));
}

/** The user's own headers of a request, for an SDK; nothing if there are none. */
export const headersOf = ({ extra }: ChatRequest): { headers?: Record<string, string> } =>
  extra === undefined ? {} : { headers: { ...extra.headers } };

/**
 * The address without the version path, which the vendor's SDK appends itself. Many users add it, as for a compatible
 * server.
 */
export function withoutVersion(address: string): string {
  return address.replace(/\/(?:v1|v1beta|v1alpha|api)\/*$/, '');
}

/** The key. Throws a `HiError` that says where to get one if it is missing. */
export function requireKey(
  member: Pick<Vendor, 'title' | 'keyVariables' | 'keyPage'>,
  settings: ProviderSettings,
): string {
  if (settings.apiKey !== null) return settings.apiKey;
  throw new HiError('config', `There is no API key for ${member.title}.`, {
    hint: `Set ${member.keyVariables[0] ?? 'HI_API_KEY'}, put api_key into config.json, or run 'hi config init'. Keys: ${member.keyPage ?? member.title}`,
  });
}
