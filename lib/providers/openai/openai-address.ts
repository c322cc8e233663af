import type { ModelFacts } from '../../chat/model.js';

/** OpenAI's two APIs. */
export type Api = 'chat' | 'responses';

/** What the SDK needs of a configured address. */
export interface ClientAddress {
  readonly baseURL: string;
  readonly defaultQuery: Readonly<Record<string, string>>;
  /** The name of Azure's deployment, which its older addresses have in place of a model; null for others. */
  readonly deployment: string | null;
}

/** The path of Azure's older addresses, which take the version in the query and the key in a header of its own. */
const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)$/;

/**
 * Reads a configured address, with or without the path of an API at its end, as portals show it. Azure's Responses API is not at the address of a
 * deployment, but at that of the resource (learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
 */
export function clientAddress(base: string, api: Api): ClientAddress {
  if (!URL.canParse(base)) return { baseURL: base, defaultQuery: {}, deployment: null };
  const url = new URL(base);
  const defaultQuery = Object.fromEntries(url.searchParams);
  url.search = '';
  url.pathname = url.pathname.replace(/\/(?:chat\/completions|responses)\/?$/, '').replace(/\/$/, '');
  const deployment = DEPLOYMENT.exec(url.pathname)?.[1] ?? null;
  if (deployment === null || api === 'chat') return { baseURL: url.href, defaultQuery, deployment };
  url.pathname = '/openai/v1';
  return { baseURL: url.href, defaultQuery: {}, deployment };
}

/** Whether an address is OpenAI's own, in any of its regions. */
export const isOpenAI = (address: string): boolean => /^https:\/\/(?:[\w-]+\.)*api\.openai\.com\b/.test(address);

/** Whether an address is Azure's. */
export const isAzure = (address: string): boolean => /^https?:\/\/[\w.-]+\.azure\.com\b/.test(address);

/**
 * The API to ask: what the server demanded before, else `openai.api` of the configuration, else what the address is known for. Models since GPT-5.6
 * take tools and thinking together by the Responses API alone.
 */
export function apiFor(base: string, configured: unknown, { takes = {} }: ModelFacts = {}): Api {
  if (takes.responses === false) return 'chat';
  if (takes.chat === false) return 'responses';
  if (configured === 'chat' || configured === 'responses') return configured;
  const hasResponses = isOpenAI(base) || (isAzure(base) && /\/openai\/v1\b/.test(base));
  return hasResponses ? 'responses' : 'chat';
}
