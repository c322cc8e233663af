import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../../chat/json.js';
import {
  currentFacts,
  factsAsTold,
  type ModelFacts,
  type ModelMemory,
  mergeFacts,
} from '../../../chat/model/model-facts.js';
import { THINKING_LEVELS, type ThinkingLevel } from '../../../chat/model/thinking-level.js';
import { makeFolder } from '../../../folder.js';
import { readRegularFile } from '../../../regular-file.js';
import { writeAside } from '../../../write-aside.js';

/** Names one model at one server. */
export interface ModelPlace {
  readonly provider: string;
  /** Null for the vendor's own address. */
  readonly api_base: string | null;
  readonly model: string;
}

/** How many models are remembered; the ones learnt about longest ago go first. */
const LIMIT = 500;

/**
 * What is known of models, in one file of the cache. Nothing is read before the first fact is asked for, and nothing is written before one is learnt.
 * A file that is damaged counts as empty, and one that cannot be written is no error: what was learnt holds for this process.
 */
export class KnownModels {
  readonly #path: string;
  readonly #now: () => number;
  #known: Map<string, ModelFacts> | null = null;

  /** `now` tells the time in milliseconds since 1970. */
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

  /** Forgets what a model refused: it is tried again. */
  forgetRefusals(place: ModelPlace): void {
    this.#change(nameOf(place), factsAsTold);
  }

  #learn(name: string, more: ModelFacts): void {
    this.#change(name, (facts) => mergeFacts(facts, more));
  }

  /** Another process may have learnt something since: its facts are read again before the file is written. */
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
      // It is learnt again by the next process.
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

const COUNTS = [
  'context_window',
  'max_output_tokens',
  'token_ratio',
  'fixed_window',
  'loaded_window',
  'asked_at',
  'opaque_since',
  'words_until',
  'doubted_at',
] as const;

const LISTS = ['refused_files', 'refused_options', 'refused_tools'] as const;

/** What of a stored record has the type it must have. */
function checked(stored: JsonObject): ModelFacts {
  const { takes, refused_thinking, refused_at } = stored;
  const counts = COUNTS.flatMap((name) => {
    const value = stored[name];
    return typeof value === 'number' && Number.isFinite(value) && value > 0 ? [[name, value]] : [];
  });
  const lists = LISTS.flatMap((name) => {
    const value = stored[name];
    return Array.isArray(value) ? [[name, value.filter((one) => typeof one === 'string')]] : [];
  });
  return {
    ...Object.fromEntries([...counts, ...lists]),
    ...(isJsonObject(takes) && { takes: Object.fromEntries(Object.entries(takes).filter(isFlag)) }),
    ...(Array.isArray(refused_thinking) && { refused_thinking: refused_thinking.filter(isLevel) }),
    ...(isJsonObject(refused_at) && { refused_at: Object.fromEntries(Object.entries(refused_at).filter(isTime)) }),
  };
}

const isFlag = (entry: readonly [string, unknown]): entry is [string, boolean] => typeof entry[1] === 'boolean';
const isTime = (entry: readonly [string, unknown]): entry is [string, number] => typeof entry[1] === 'number';
const LEVELS: readonly unknown[] = THINKING_LEVELS;
const isLevel = (value: unknown): value is ThinkingLevel => LEVELS.includes(value);
