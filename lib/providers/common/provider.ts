import type { StreamEvent } from '../../chat/event.js';
import type { JsonObject } from '../../chat/json.js';
import type { Feature, ModelFacts, ThinkingLevel, Vendor } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { type ErrorCode, type ErrorDetails, HiError } from '../../errors.js';
import type { FetchSettings } from '../../http/fetch.js';
import type { ListedModel } from './known-models.js';

/** A vendor that answers requests. One instance is for one vendor, key and address. */
export interface Provider {
  /** The registry's name, as stored with each message. */
  readonly name: string;
  /**
   * Identifies the address and key, because opaque parts of answers are sent back only to their origin. Absent if there
   * are no opaque parts.
   */
  readonly origin?: string | undefined;
  /**
   * Sends one request and yields the answer as it arrives.
   *
   * Never retries. Throws a `HiError` with its code, `retryable` and `retryAfter` set; a `RequestRefusal` if the server
   * may accept the request without a part of it. A stream that was cut off ends with a `network` error after the events
   * received so far. When `signal` aborts, the connection is closed at once and the iteration throws an abort error
   * (`isAbort`).
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
}

/** The settings of an adapter. */
export interface ProviderSettings extends FetchSettings {
  /** The configured address; null for the vendor's own. */
  readonly apiBase: string | null;
  /** Where the key comes from, in words; absent if there is none or nobody knows. */
  readonly keySource?: string | undefined;
  /** What stands for the account where keys come and go; the key itself if absent. */
  readonly account?: string;
  /** The section of the configuration with the vendor's name. */
  readonly options?: JsonObject;
  /**
   * Gets the number of characters of a request in place of the server, which gets nothing: every request then fails.
   */
  weigh?(characters: number): void;
}

/** A question about one model. */
export interface ModelQuestion {
  readonly model: string;
  /** The facts that are already known. */
  readonly known: ModelFacts;
}

/** The progress of a model download, in bytes. The total is null until the server reports it. */
export interface PullProgress {
  readonly done: number;
  readonly all: number | null;
}

/** A vendor in the registry. Everything the program knows about vendors is here and in the adapters. */
export interface ProviderMember extends Vendor {
  /** Loads the vendor's SDK and creates the adapter. */
  create(settings: ProviderSettings): Promise<Provider>;
  /** The available models, best first if the vendor says so. Throws like `stream`. */
  listModels(settings: ProviderSettings, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** The facts that the server reports about one model, possibly none. Throws like `stream`. */
  askFacts(settings: ProviderSettings, model: ModelQuestion, signal: AbortSignal): Promise<ModelFacts>;
  /**
   * Tells the server to download a model, and yields the progress. A stopped download continues where it was. Throws
   * like `stream`. Absent if the server cannot download models.
   */
  pull?(settings: ProviderSettings, model: string, signal: AbortSignal): AsyncIterable<PullProgress>;
  /**
   * The keys that `options` of the configuration may have, each with its JSON Schema. Absent if they are not checked.
   */
  optionTable?(): Promise<Readonly<Record<string, JsonObject>>>;
}

/**
 * The part of a request that a server does not accept, according to its message. `thinking`: the requested level, any
 * level, or these. `files`: one of the attachments, not its type. `schema`: this schema for the answer. `thoughts`:
 * thinking of earlier answers is missing. `roles`: the order of messages, from a chat template. `output`: the answer
 * limit, in tokens. `unsaid`: the message does not say; unless it is certain, this may not be a refusal.
 */
export type Refused =
  | { readonly what: 'features'; readonly features: readonly Feature[] }
  | { readonly what: 'thinking'; readonly levels: 'this' | 'all' | readonly ThinkingLevel[] }
  | { readonly what: 'files' | 'schema' | 'roles' | 'thoughts' }
  | { readonly what: 'output'; readonly most: number }
  | { readonly what: 'unsaid'; readonly isCertain: boolean };

/** For an answer that may be a refusal but does not say so. */
export const UNSAID = { refused: { what: 'unsaid', isCertain: false }, param: null } as const;

/**
 * A refusal after which another request without its cause may succeed. If `retryable`, the same request is tried again
 * first.
 */
export class RequestRefusal extends HiError {
  readonly refused: Refused;
  /** The server's own words. */
  readonly said: string;
  /** The part of the request that the server names separately, or null. */
  readonly param: string | null;

  constructor(
    code: ErrorCode,
    message: string,
    { refused, said, param, ...details }: ErrorDetails & Pick<RequestRefusal, 'refused' | 'said' | 'param'>,
  ) {
    super(code, message, details);
    this.refused = refused;
    this.said = said;
    this.param = param;
  }
}

/**
 * The `options` of the configuration for one vendor, each with its JSON Schema. The build adds it to the schema; the
 * program does not load it.
 */
export type OptionTable<Name extends string> = { readonly [Option in Name]?: JsonObject };

export const NUMBER = { type: 'number' };
export const INTEGER = { type: 'integer' };
export const BOOLEAN = { type: 'boolean' };
export const TEXTS = { type: 'array', items: { type: 'string' } };
export const ZERO_TO_ONE = { type: 'number', minimum: 0, maximum: 1 };

export const oneOfWords = (...words: readonly string[]): JsonObject => ({ enum: words });

/** Fields and headers that go into each request as they are, for what no table knows. */
export const EXTRA = {
  extra_body: { type: 'object' },
  extra_headers: { type: 'object', additionalProperties: { type: 'string' } },
};

/** An object of the vendor's own form. */
export const OBJECT = { type: 'object' };
export const OBJECTS = { type: 'array', items: OBJECT };
