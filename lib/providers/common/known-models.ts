import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { currentFacts, factsAsTold, type ModelFacts, type ModelMemory, mergeFacts } from '../../chat/model.js';
import { tokenCount } from '../../chat/text.js';
import { makeFolder, readRegularFile, writeAside } from '../../disk.js';

/** Identifies one model on one server. */
interface ModelPlace {
  readonly provider: string;
  /** Null for the vendor's own address. */
  readonly api_base: string | null;
  readonly model: string;
}

/** The maximum number of models. The ones updated longest ago are removed first. */
const LIMIT = 500;

/**
 * The known facts about models, in one cache file. Reads it only when a fact is needed, and writes it only when a fact
 * is learnt. A damaged file counts as empty, and a failed write is ignored: this process keeps the facts in memory.
 */
export class KnownModels {
  readonly #path: string;
  readonly #now: () => number;
  #known: Map<string, ModelFacts> | null = null;

  /** `now` returns the time in milliseconds since 1970. */
  constructor(path: string, now = Date.now) {
    this.#path = path;
    this.#now = now;
  }

  /** The facts of one model. */
  of(place: ModelPlace): ModelMemory {
    const name = nameOf(place);
    const facts = () => currentFacts(this.#read().get(name) ?? {}, this.#now());
    const learn = (more: ModelFacts) => this.#learn(name, more);
    return {
      get facts() {
        return facts();
      },
      learn,
    };
  }

  #read(): Map<string, ModelFacts> {
    this.#known ??= readFacts(this.#path);
    return this.#known;
  }

  /** Forgets what a model refused, so that it is tried again. */
  forgetRefusals(place: ModelPlace): void {
    this.#change(nameOf(place), factsAsTold);
  }

  #learn(name: string, more: ModelFacts): void {
    this.#change(name, (facts) => mergeFacts(facts, more));
  }

  /** Reads the file again before writing it, because another process may have added facts. */
  #change(name: string, change: (facts: ModelFacts) => ModelFacts): void {
    const earlier = currentFacts(this.#read().get(name) ?? {}, this.#now());
    const changed = change(earlier);
    if (JSON.stringify(changed) === JSON.stringify(earlier)) return;
    const known = new Map([...this.#read(), ...readFacts(this.#path)]);
    known.delete(name);
    known.set(name, changed);
    this.#known = new Map([...known].slice(-LIMIT));
    try {
      makeFolder(dirname(this.#path), 0o700);
      const text = JSON.stringify({ models: Object.fromEntries(this.#known) }, null, 1);
      writeAside(this.#path, `${text}\n`, { mode: 0o600, private: true, synced: false });
    } catch {
      // The next process learns it again.
    }
  }
}

function nameOf({ provider, api_base, model }: ModelPlace): string {
  return JSON.stringify([provider, api_base, model]);
}

function readFacts(path: string): Map<string, ModelFacts> {
  try {
    const models = parseObject(readRegularFile(path).toString('utf8'))?.models;
    if (!isJsonObject(models)) return new Map();
    return new Map(
      Object.entries(models).flatMap(([name, facts]) => (isJsonObject(facts) ? [[name, checked(facts)]] : [])),
    );
  } catch {
    return new Map();
  }
}

const COUNTS = ['context_window', 'max_output_tokens', 'token_ratio', 'asked_at'] as const;

/** The fields of a stored record that have valid types. */
function checked(stored: JsonObject): ModelFacts {
  const { takes, refused_at, server } = stored;
  return {
    ...Object.fromEntries(COUNTS.map((name) => [name, stored[name]] as const).filter(isCount)),
    ...(isJsonObject(server) && { server: checkedServer(server) }),
    ...(isJsonObject(takes) && { takes: Object.fromEntries(Object.entries(takes).filter(isFlag)) }),
    ...(isJsonObject(refused_at) && { refused_at: Object.fromEntries(Object.entries(refused_at).filter(isCount)) }),
  };
}

function checkedServer(stored: JsonObject): NonNullable<ModelFacts['server']> {
  const { fixed_window, loaded_window, fast_model } = stored;
  return {
    ...Object.fromEntries(Object.entries({ fixed_window, loaded_window }).filter(isCount)),
    ...(typeof fast_model === 'string' && { fast_model }),
  };
}

const isFlag = (entry: readonly [string, unknown]): entry is [string, boolean] => typeof entry[1] === 'boolean';
const isCount = (entry: readonly [string, unknown]): entry is [string, number] =>
  typeof entry[1] === 'number' && Number.isFinite(entry[1]) && entry[1] > 0;

/** A model in a server's list. */
export interface ListedModel {
  readonly name: string;
  readonly facts: ModelFacts;
  /** False for a model with another purpose, such as embeddings. */
  readonly chats: boolean;
}

/** Reads an entry of a model list in any server's form. */
export const listedModel = (name: string, entry: unknown): ListedModel => ({
  name,
  facts: factsOf(entry),
  chats: isForChat(name, asObject(entry)),
});

/**
 * Decides by the type that the server reports (Mistral; LM Studio and Together; OpenRouter; Ollama), else by the name.
 */
function isForChat(name: string, { capabilities, type, architecture, details }: JsonObject): boolean {
  const { completion_chat } = asObject(capabilities);
  if (typeof completion_chat === 'boolean') return completion_chat;
  const outputs = listOf(asObject(architecture).output_modalities);
  const families = listOf(asObject(details).families) ?? [];
  if (typeof type === 'string' && OTHER_KIND.test(type)) return false;
  if (outputs?.includes('text') === false || families.some((family) => /bert/.test(String(family)))) return false;
  return !OTHER_NAME.test(name);
}

const OTHER_KIND = /embed|rerank|image|audio|video|moderation|transcri|speech/i;

/** Parts of the names of models for embedding, ranking, transcription, speech, images or moderation. */
const OTHER_NAME =
  /embed|rerank|whisper|transcri|moderation|dall-e|gpt-image|imagen|stable-diffusion|guard|(?:^|[/_-])(?:bge|gte|e5|minilm|colbert|mxbai|clip|flux|sdxl|sora|veo|tts|stt|asr|ocr|realtime)(?:[-_.:\d]|$)/i;

/**
 * Where servers report the window of a model, the most precise first: Ollama's and LM Studio's loaded one, llama.cpp,
 * vLLM and SGLang, Groq, OpenRouter, Together and Fireworks, Mistral, Anthropic and LiteLLM, Google.
 */
const WINDOWS = [
  'loaded_context_length',
  'n_ctx',
  'max_model_len',
  'context_window',
  'context_length',
  'max_context_length',
  'max_input_tokens',
  'inputTokenLimit',
  'max_prompt_tokens',
];

const OUTPUTS = ['max_completion_tokens', 'max_output_tokens', 'max_tokens', 'outputTokenLimit'];

/** A smaller number is not a real window, but a default such as 0 or 1. */
const LEAST_WINDOW = 256;

/** The facts in an entry of a model list, in any server's form. */
export function factsOf(entry: unknown): ModelFacts {
  const model = asObject(entry);
  const places = [
    model,
    ...['top_provider', 'meta', 'metadata', 'limits', 'model_info'].map((name) => asObject(model[name])),
  ];
  const context_window = firstCount(places, WINDOWS, LEAST_WINDOW);
  const max_output_tokens = firstCount(places, OUTPUTS, 1);
  const takes = taken(model);
  return {
    ...(context_window !== null && { context_window }),
    ...(max_output_tokens !== null && { max_output_tokens }),
    ...(Object.keys(takes).length > 0 && { takes }),
  };
}

function firstCount(places: readonly JsonObject[], names: readonly string[], least: number): number | null {
  for (const name of names) {
    for (const place of places) {
      const count = tokenCount(place[name]);
      if (count !== null && count >= least) return count;
    }
  }
  return null;
}

/**
 * The features of a model: OpenRouter's parameters and input types, and the flags of Mistral, Anthropic, Fireworks and
 * LM Studio.
 */
function taken(model: JsonObject): NonNullable<ModelFacts['takes']> {
  const flags = asObject(model.capabilities);
  const inputs = listOf(asObject(model.architecture).input_modalities);
  const parameters = listOf(model.supported_parameters);
  const tools = parameters?.includes('tools') ?? flag(flags.function_calling) ?? flag(model.supports_tools);
  const images =
    inputs?.includes('image') ?? flag(flags.vision ?? flags.image_input) ?? flag(model.supports_image_input);
  const documents = flag(flags.pdf_input);
  const info = asObject(model.model_info);
  return {
    ...(tools !== null && { tools }),
    ...(images !== null && { images }),
    ...(documents !== null && { documents }),
    // LiteLLM reports false for every unknown model.
    ...(info.supports_function_calling === true && { tools: true }),
    ...(info.supports_vision === true && { images: true }),
    ...(info.supports_pdf_input === true && { documents: true }),
  };
}

function flag(value: unknown): boolean | null {
  if (typeof value === 'boolean') return value;
  return isJsonObject(value) && typeof value.supported === 'boolean' ? value.supported : null;
}

/** Null for anything but a non-empty list. */
function listOf(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) && value.length > 0 ? value : null;
}

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
