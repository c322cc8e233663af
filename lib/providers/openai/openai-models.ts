import type { JsonObject } from '../../chat/json.js';
import type { ModelFacts, ThinkingLevel } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { type SchemaDialect, type SentRequest, vendorSchema, withSchemaInWords } from '../common/vendor-schema.js';

/** OpenAI's two APIs. */
export type Api = 'chat' | 'responses';

/** What the SDK needs of a configured address. */
interface ClientAddress {
  readonly baseURL: string;
  readonly defaultQuery: Readonly<Record<string, string>>;
  /** The name of Azure's deployment, which its older addresses have in place of a model; null for others. */
  readonly deployment: string | null;
}

/** The path of Azure's older addresses, which take the version in the query and the key in a header of its own. */
const DEPLOYMENT = /^\/openai\/deployments\/([^/]+)$/;

/**
 * Reads a configured address, with or without the path of an API at its end, as portals show it. Azure's Responses API
 * is not at the address of a deployment, but at that of the resource
 * (learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
 */
export function clientAddress(base: string, api: Api): ClientAddress {
  if (!URL.canParse(base)) return { baseURL: base, defaultQuery: {}, deployment: null };
  const url = new URL(withAzurePath(base));
  const defaultQuery = Object.fromEntries(url.searchParams);
  url.search = '';
  url.pathname = url.pathname.replace(/\/(?:chat\/completions|responses)\/?$/, '').replace(/\/$/, '');
  const deployment = DEPLOYMENT.exec(url.pathname)?.[1] ?? null;
  if (deployment === null || api === 'chat') return { baseURL: url.href, defaultQuery, deployment };
  url.pathname = '/openai/v1';
  return { baseURL: url.href, defaultQuery: {}, deployment };
}

/** The address of a resource of Azure as its portal shows it, without a path, with that of its API. */
const withAzurePath = (base: string): string =>
  isAzure(base) ? base.replace(/^(https?:\/\/[\w.-]+)(?:\/openai)?\/?(?=$|\?)/, '$1/openai/v1') : base;

/** Whether an address is OpenAI's own, in any of its regions. */
export const isOpenAI = (address: string): boolean => /^https:\/\/(?:[\w-]+\.)*api\.openai\.com\b/.test(address);

/** Whether an address is Azure's. */
export const isAzure = (address: string): boolean => /^https?:\/\/[\w.-]+\.azure\.com\b/.test(address);

/**
 * The API to ask: what the server demanded before, else `openai.api` of the configuration, else what the address is
 * known for. Models since GPT-5.6 take tools and thinking together by the Responses API alone.
 */
export function apiFor(base: string, configured: unknown, { takes = {} }: ModelFacts = {}): Api {
  if (takes.responses === false) return 'chat';
  if (takes.chat === false) return 'responses';
  if (configured === 'chat' || configured === 'responses') return configured;
  const hasResponses = isOpenAI(base) || (isAzure(base) && /\/openai\/v1\b/.test(withAzurePath(base)));
  return hasResponses ? 'responses' : 'chat';
}

/** False for models that reject all reasoning settings: GPT-3 and 4, and the ChatGPT ones. */
export function canReason(model: string): boolean {
  return !/gpt-[34]|chatgpt|gpt-5[\d.]*-chat/.test(model);
}

/** OpenAI's name for a thinking level. */
type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * The effort of a model for a level, according to OpenAI's model pages. `none` came with GPT-5.1; before that the
 * lowest was `minimal`, and `low` on the o-series, Codex and gpt-oss. `xhigh` came with GPT-5.2 and Codex Max, `max`
 * with GPT-5.6. The Pro models have only high efforts. Other vendors' models get the level's own name.
 */
export function effortOf(model: string, level: ThinkingLevel): Effort {
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (/^gpt-5-pro/.test(name)) return 'high';
  const version = versionOf(name);
  const isPro = /^gpt-.*-pro\b/.test(name);
  if (isPro && (level === 'off' || level === 'low')) return 'medium';
  if (level === 'off') return leastEffort(name, version);
  if (level !== 'xhigh' && level !== 'max') return level;
  if (version < 5.2 && !/codex-max/.test(name)) return 'high';
  return version < 5.6 ? 'xhigh' : level;
}

/** NaN for other vendors' models. */
function versionOf(name: string): number {
  if (/^o\d|^gpt-oss/.test(name)) return 0;
  return Number(/^gpt-(\d+(?:\.\d+)?)/.exec(name)?.[1] ?? Number.NaN);
}

function leastEffort(name: string, version: number): Effort {
  // GPT-6.1 and 6 Astra always think.
  if (/^gpt-6(?:\.1|-astra)/.test(name)) return 'low';
  if (version === 0 || /codex/.test(name)) return 'low';
  return version < 5.1 ? 'minimal' : 'none';
}

/** A schema for both of OpenAI's APIs, each of which has its own field for it. */
export interface OpenAIFormat {
  readonly name: string;
  readonly schema: { [name: string]: unknown };
  readonly strict: boolean;
}

/** The dialect of strict structured outputs, according to OpenAI's documentation. */
const STRICT: SchemaDialect = {
  keywords: new Set([
    'pattern',
    'multipleOf',
    'maximum',
    'exclusiveMaximum',
    'minimum',
    'exclusiveMinimum',
    'minItems',
    'maxItems',
  ]),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
  literal: (value) => value === null || typeof value !== 'object',
  closed: true,
  allRequired: true,
  recursive: true,
  tuples: false,
};

/**
 * The request with its schema for `response_format` and `text.format`: strict if the schema can be expressed that way,
 * else unchanged and as text too. A `compatible` server may ignore the field or not support tools with it, so it always
 * gets the text.
 */
export function shapeRequest(
  request: ChatRequest,
  { compatible }: { readonly compatible: boolean },
): SentRequest<OpenAIFormat> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  if (compatible && asked.needsTools && tools.length > 0) return inWords;
  const strict = vendorSchema(asked.schema, STRICT);
  const format = { name: 'answer', schema: mutable(strict ?? asked.schema), strict: strict !== null };
  return { ...(compatible || strict === null ? inWords : request), format };
}

const mutable = (schema: JsonObject): OpenAIFormat['schema'] => ({ ...schema });
