import type { ThinkingLevel } from '../chat/request.js';

/** How to reach one model. */
export interface ModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_key: string | null;
  readonly api_base: string | null;
  /** In tokens. */
  readonly context_window: number;
}

/** The effective configuration: every default filled in, every source applied. Plain data. */
export interface Config extends ModelSettings {
  readonly preamble: string | null;
  readonly max_input_tokens: number | null;
  /** The fast model; null when the main model serves. */
  readonly small_model: ModelSettings | null;
  readonly compaction: {
    readonly strategy: string;
    readonly trigger_ratio: number;
    readonly keep_recent: number;
    readonly keep_ratio: number;
    readonly target_ratio: number;
    readonly fallback_keep: number;
    readonly timeout_ms: number;
    readonly idle_timeout_ms: number;
    readonly archive: 'keep' | 'discard';
    readonly block_role: 'system' | 'user';
  };
  readonly skills: {
    readonly mode: 'auto' | 'all' | 'matched';
    readonly matcher: 'lexical' | 'llm';
    readonly top_k: number;
    readonly evict_after: number;
    readonly budget_ratio: number;
    readonly large_tokens: number;
  };
  readonly tools: {
    readonly enabled: boolean;
    readonly max_rounds: number;
    readonly timeout_ms: number;
    readonly output_limit: number;
    /** Commands run in a sandbox or not at all; `network` lets them reach the network. */
    readonly sandbox: boolean | 'network';
    readonly permissions: {
      readonly allow: readonly string[];
      readonly ask: readonly string[];
      readonly deny: readonly string[];
    };
  };
  readonly input: { readonly long_paste: number };
  readonly openai: { readonly api: 'auto' | 'responses' | 'chat' };
  readonly thinking: ThinkingLevel | null;
}

/** A `config.json` as the schema allows it: everything optional. */
export interface ConfigFile {
  readonly $schema?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly api_key?: string | null;
  readonly api_base?: string | null;
  readonly preamble?: string | null;
  readonly context_window?: number;
  readonly max_input_tokens?: number | null;
  readonly small_model?: (Partial<ModelSettings> & { readonly model: string }) | null;
  readonly compaction?: Partial<Config['compaction']>;
  readonly skills?: Partial<Config['skills']>;
  readonly tools?: Partial<Omit<Config['tools'], 'permissions'>> & {
    readonly permissions?: Partial<Config['tools']['permissions']>;
  };
  readonly input?: Partial<Config['input']>;
  readonly openai?: Partial<Config['openai']>;
  readonly thinking?: ThinkingLevel | null;
}

/** What a setting is when nobody says otherwise (SPEC §2): the schema takes its defaults from here. */
export const DEFAULTS = {
  context_window: 128_000,
  preamble: null,
  max_input_tokens: null,
  thinking: null,
  compaction: {
    strategy: 'summary',
    trigger_ratio: 0.8,
    keep_recent: 6,
    keep_ratio: 0.5,
    target_ratio: 0.5,
    fallback_keep: 10,
    timeout_ms: 120_000,
    idle_timeout_ms: 30_000,
    archive: 'keep',
    block_role: 'system',
  },
  skills: { mode: 'auto', matcher: 'lexical', top_k: 3, evict_after: 3, budget_ratio: 0.15, large_tokens: 1000 },
  tools: {
    enabled: true,
    max_rounds: 50,
    timeout_ms: 120_000,
    output_limit: 30_000,
    sandbox: false,
    permissions: { allow: [], ask: [], deny: [] },
  },
  input: { long_paste: 200 },
  openai: { api: 'auto' },
} as const;
