/** How to reach one model. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly api_base: string | null;
  /** In tokens. */
  readonly context_window: number;
  /** True when the user set the window: then nothing that a server tells changes it. */
  readonly window_is_set: boolean;
}

/** `small_model` of a `config.json`: what differs from the main model. */
export type SmallModelFile = Partial<Omit<ModelSettings, 'window_is_set'>> & { readonly model: string };
