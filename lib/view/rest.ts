/** How much may be in view after a pause, and how much stays, in tokens. */
export interface RestSizes {
  readonly limit: number;
  readonly cool_limit: number;
  readonly keep: number;
  readonly block: number;
}

/** The pauses after which messages leave the view, in milliseconds. */
export interface RestTimes {
  /** The pause after which the server has forgotten the prompt. */
  readonly cache_life: number;
  /** The pause after which less stays in view, `view.rest`. */
  readonly after: number;
}
