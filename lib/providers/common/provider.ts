import type { StreamEvent } from '../../chat/event.js';
import type { JsonObject } from '../../chat/json.js';
import type { Feature, ModelFacts } from '../../chat/model/model-facts.js';
import type { ThinkingLevel } from '../../chat/model/thinking-level.js';
import type { Vendor } from '../../chat/model/vendor.js';
import type { ChatRequest } from '../../chat/request.js';
import { type ErrorCode, type ErrorDetails, HiError } from '../../errors.js';
import type { FetchSettings } from '../../http/fetch-settings.js';
import type { ListedModel } from './models/listed-model.js';

/** A model that can be asked. One adapter instance serves one vendor with one key and one address. */
export interface Provider {
  /** The registry's name, as stored with each message. */
  readonly name: string;
  /** Names the address and key: opaque parts of answers go back only where they came from. Absent where nothing opaque comes. */
  readonly origin?: string | undefined;
  /**
   * Sends one request and yields the answer as it arrives.
   *
   * Never retries on its own. Throws a `HiError` whose code tells the kind, with `retryable` and `retryAfter` filled in; a `RequestRefusal` where the request
   * may be taken without a part of it.
   * A stream that was cut ends with a `network` error after the events that came. When `signal` aborts, the connection is closed
   * at once and the iteration throws an abort error (`isAbort`).
   */
  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent>;
}

/** What an adapter needs to speak to its vendor. */
export interface ProviderSettings extends FetchSettings {
  /** Another address than the vendor's own; null for the vendor's. */
  readonly apiBase: string | null;
  /** The section of the configuration that has the vendor's name; absent where there is none. */
  readonly options?: JsonObject;
}

/** Which model is asked about. */
export interface ModelQuestion {
  readonly model: string;
  /** What was learnt of it before. */
  readonly known: ModelFacts;
}

/** How far a server is with the download of a model, in bytes. Null while it has not said how much there is. */
export interface PullProgress {
  readonly done: number;
  readonly all: number | null;
}

/** A vendor, as the registry lists it: everything the program knows about vendors is here and in the adapter. */
export interface ProviderMember extends Vendor {
  /** Loads the vendor's SDK and makes the adapter. */
  create(settings: ProviderSettings): Promise<Provider>;
  /** The models there are to choose from, best first where the vendor tells. Throws like `stream`. */
  listModels(settings: ProviderSettings, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** What the server tells of one model, nothing where it tells nothing. Throws like `stream`. */
  askFacts(settings: ProviderSettings, model: ModelQuestion, signal: AbortSignal): Promise<ModelFacts>;
  /**
   * Has the server download a model, and tells how far it is; ends when the model is there. A download that was stopped continues where it was. Throws like
   * `stream`. Absent where a server has the models that it has.
   */
  pull?(settings: ProviderSettings, model: string, signal: AbortSignal): AsyncIterable<PullProgress>;
}

/**
 * What of a request a server does not take, by its own words. `thinking`: the level that was asked for, any level, or these. `files`: one of the attachments,
 * not the kind. `schema`: this one for the answer. `roles`: what a chat template says of the order of messages. `output`: an answer that may be so long, in
 * tokens. `unsaid`: the words do not tell; where it is not certain, it may be no refusal.
 */
export type Refused =
  | { readonly what: 'features'; readonly features: readonly Feature[] }
  | { readonly what: 'thinking'; readonly levels: 'this' | 'all' | readonly ThinkingLevel[] }
  | { readonly what: 'files' | 'schema' | 'roles' }
  | { readonly what: 'output'; readonly most: number }
  | { readonly what: 'unsaid'; readonly isCertain: boolean };

/** What an answer tells that may be a refusal and has no words of one. */
export const UNSAID = { refused: { what: 'unsaid', isCertain: false }, param: null } as const;

/** A refusal that one more request without its cause may answer. One that may pass by itself, as `retryable` says, is tried again first. */
export class RequestRefusal extends HiError {
  readonly refused: Refused;
  /** The server's own words. */
  readonly said: string;
  /** The part of the request that the server names beside its words; null when there is none. */
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
