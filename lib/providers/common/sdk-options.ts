import type { Vendor } from '../../chat/model/vendor.js';
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
  return makeFetch(hints?.start === undefined ? settings : { ...settings, startHint: hints.start });
}
