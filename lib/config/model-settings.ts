/** How to reach one model. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly api_base: string | null;
  /** In tokens. */
  readonly context_window: number;
  /** True when the user set the window. Then nothing that a server reports changes it. */
  readonly window_is_set: boolean;
}

/** `small_model` in a `config.json`: the settings that differ from the main model's. */
export type SmallModelFile = Partial<Omit<ModelSettings, 'window_is_set'>> & { readonly model: string };
