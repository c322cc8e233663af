/** How to reach one model. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly api_base: string | null;
  /** In tokens. */
  readonly context_window: number;
}

/** `small_model` of a `config.json`: what differs from the main model. */
export type SmallModelFile = Partial<ModelSettings> & { readonly model: string };
