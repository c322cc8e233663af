import { dirname } from 'node:path';
import { isJsonObject, type JsonObject, parseObject } from '../../../chat/json.js';
import {
  currentFacts,
  factsAsTold,
  type ModelFacts,
  type ModelMemory,
  mergeFacts,
  THINKING_LEVELS,
  type ThinkingLevel,
} from '../../../chat/model.js';
import { makeFolder } from '../../../folder.js';
import { readRegularFile } from '../../../regular-file.js';
import { writeAside } from '../../../write-aside.js';

/** Identifies one model on one server. */
export interface ModelPlace {
  readonly provider: string;
  /** Null for the vendor's own address. */
  readonly api_base: string | null;
  readonly model: string;
}

/** The maximum number of models. The ones updated longest ago are removed first. */
const LIMIT = 500;

/**
 * The known facts about models, in one cache file. Reads it only when a fact is needed, and writes it only when a fact is learnt.
 * A damaged file counts as empty, and a failed write is ignored: this process keeps the facts in memory.
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

/** The fields of a stored record that have valid types. */
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
