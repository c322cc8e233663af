import type { JsonObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import type { ModelMemory } from '../../chat/model/model-facts.js';
import type { ThinkingLevel } from '../../chat/model/thinking-level.js';
import type { ImageLimits } from '../../chat/model/vendor.js';
import type { WebMode } from '../../chat/model/web-mode.js';
import type { AnswerSchema, ToolSpec } from '../../chat/request.js';
import type { TextCache, TextModel } from '../../chat/text-model.js';
import type { ToolEffects } from '../../chat/tool-effect.js';
import type { CompactionSettings } from '../../compaction/strategy.js';
import type { HistoryStore } from '../../history/store.js';
import type { Standing } from '../../memory/standing-of.js';
import type { Provider } from '../../providers/common/provider.js';
import type { Recall } from '../../recall/recall.js';
import type { SkillLibrary } from '../../skills/common/skill-library.js';
import type { ToolRunner } from '../../tools/common/tool.js';
import type { SavePicture } from './keep-image.js';

/** A model that can answer. */
export interface Target {
  readonly provider: string;
  readonly model: string;
  /** The URL of its server without credentials and query, where it is not the vendor's own. */
  readonly api_base?: string;
  /** In tokens; changes with what is learnt of the model. */
  readonly context_window: number;
  /** Whether its server is on this machine or at home. */
  readonly isNear?: boolean;
  /** The limits of the vendor for images; absent when it has none. */
  readonly images?: ImageLimits;
  /** What is known about the model at this server. */
  readonly memory: ModelMemory;
  /** Reads the key and loads the vendor's SDK the first time; `signal` ends a command that is run for the key. */
  connect(signal?: AbortSignal): Promise<Provider>;
  /** Asks the server what it tells of the model, where that is not known yet, or `again`. Never fails. Absent where there is nothing to ask. */
  ask?(signal: AbortSignal, again?: boolean): Promise<void>;
  /** What else goes with each request, by the vendor's own names. */
  readonly options?: JsonObject;
  /** Called with what each answer used. */
  readonly spent: (usage: Usage) => void;
}

/** Where and when the user says something, apart from the folder. */
export interface Clock {
  now(): Date;
  readonly host: string;
  readonly home: string;
}

/** What a session depends on. Functions load what they need when they are first called. */
export interface SessionDeps {
  readonly history: HistoryStore;
  readonly target: Target;
  /** Another model by name, or `provider/name`. Throws a `HiError` when it cannot be had. */
  find(name: string, signal: AbortSignal): Promise<Target>;
  /** The models to try for summaries, in order, while `target` answers. */
  writers(target: Target): readonly TextModel[];
  readonly preamble: string | null;
  /** What the user wants always kept in mind, as it is now. */
  standing(): Promise<Standing>;
  /** Prepares a turn, and may ask the user. Resolves to notices for them. */
  settle(signal: AbortSignal): Promise<readonly string[]>;
  readonly thinking: ThinkingLevel | null;
  readonly web: WebMode;
  readonly compaction: Omit<CompactionSettings, 'context_window'>;
  /** Requests one turn may make. */
  readonly maxRounds: number;
  /** The current tools: those of servers may come and go. */
  readonly toolSpecs: readonly ToolSpec[];
  /** What the calls of tools did, also of those that are not offered. */
  readonly toolEffects: ToolEffects;
  tools(): Promise<ToolRunner>;
  skills(target: Target): Promise<SkillLibrary>;
  /** The search over the whole conversation. */
  finder(): Promise<Recall>;
  /** Whether hi recalls passages for each message without being asked. */
  readonly recallsUnasked: boolean;
  readonly cache: TextCache;
  readonly savePicture: SavePicture;
  cwd(): string;
  /** The time and the machine; null where the model must not know them. */
  readonly clock: Clock | null;
}

/** How one turn differs from the others. */
export interface TurnOptions {
  /** Another model that answers, by name. */
  readonly model?: string | null;
  /** What the answer must be. */
  readonly schema?: AnswerSchema;
  /** Whether the model may call tools; it may when absent. */
  readonly tools?: boolean;
}

/** What the user says: words, and files that go to the model as they are. */
export interface UserInput {
  readonly text: string;
  /** Texts that go before the words, as files and piped input do: what is taken back or edited is the words alone. */
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
}

export interface Attachment {
  readonly kind: 'image' | 'document';
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly name: string;
}
