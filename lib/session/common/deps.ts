import type { JsonObject } from '../../chat/json.js';
import type { CacheRates, ImageLimits, ModelMemory, ThinkingLevel, WebMode } from '../../chat/model.js';
import type { AnswerSchema, ChatRequest, TextCache, TextModel, ToolEffects, ToolSpec } from '../../chat/request.js';
import type { CompactionSettings } from '../../compaction/strategy.js';
import type { HistoryStore } from '../../history/store.js';
import type { Standing } from '../../memory/standing-memory.js';
import type { Provider } from '../../providers/common/provider.js';
import type { Finder } from '../../recall/recall.js';
import type { ServerStates } from '../../servers/server-states.js';
import type { SkillLibrary } from '../../skills/skill.js';
import type { ToolRunner } from '../../tools/common/tool.js';
import type { RestSizes, RestTimes } from '../../view/rest.js';
import type { SaveImage } from '../images/images.js';
import type { OtherMachines } from './other-machines.js';

/** A model that can answer. */
export interface Target {
  readonly provider: string;
  readonly model: string;
  /** The name of its server in the configuration; absent for that of the flat form. */
  readonly server?: string;
  /** The URL of its server without credentials and query, if it is not the vendor's own. */
  readonly api_base?: string;
  /**
   * In tokens: what the user set, else that of the model but at most 128,000. Every share is one of this. May change as
   * hi learns about the model.
   */
  readonly context_window: number;
  /** Whether that is more than an assumption: set, published or reported. */
  readonly window_is_known?: boolean;
  /** The window that the model really has, in tokens, if it is larger. */
  readonly model_window?: number;
  /** When the conversation rests; absent if it never does. */
  readonly rest?: RestTimes;
  /** What its cache costs; absent if that is unknown. */
  readonly cache_rates?: CacheRates;
  /** Whether its server may have tools in its cache, and accepts them where the model may call none. */
  readonly keeps_tools?: boolean;
  /**
   * The most tokens of all skills, and of all definitions of server tools, before only what is needed is sent. No limit
   * but shares of the window if absent.
   */
  readonly head_room?: number;
  /** Whether its server is on this machine or the local network. */
  readonly isNear?: boolean;
  /** Whether the server is one that users run themselves and that may answer only one request at a time. */
  readonly isSingle?: boolean;
  /** The vendor's limits for images; absent if it has none. */
  readonly images?: ImageLimits;
  /** What is known about the model at this server. */
  readonly memory: ModelMemory;
  /** The fast model beside it at this server; null or absent if none is known. */
  readonly fast?: Target | null;
  /**
   * The size of a request in characters, as this model's server would get it. Loads the vendor's SDK, and sends
   * nothing.
   */
  readonly weigh?: (request: ChatRequest, signal: AbortSignal) => Promise<number>;
  /** Reads the key and loads the vendor's SDK the first time; `signal` stops the command that prints the key. */
  connect(signal?: AbortSignal): Promise<Provider>;
  /**
   * Asks the server about the model, if that is not known yet or `again` is set. Never fails. Absent if there is
   * nothing to ask.
   */
  ask?(signal: AbortSignal, again?: boolean): Promise<void>;
  /**
   * The same before anything is asked. Absent where that would run a command or keep the start waiting for a distant
   * server.
   */
  readonly askEarly?: (signal: AbortSignal) => Promise<void>;
  /** Further options of each request, by the vendor's own names. */
  readonly options?: JsonObject;
}

/** When, and on which machine, the user writes a message. */
export interface Clock {
  now(): Date;
  readonly host: string;
  readonly home: string;
}

/** The servers that answer when the first cannot. */
export interface Fallback {
  /** Whether the user chose the first server, so that it is asked even if it failed lately. */
  readonly isChosen: boolean;
  /** In the order in which they are asked, as they are typed after `-m`. */
  readonly names: readonly string[];
  /** Throws a `HiError` if it cannot be used. */
  find(name: string, signal: AbortSignal): Promise<Target>;
  readonly states: Pick<ServerStates, 'of' | 'failed' | 'answered'>;
}

/** The models of a session. */
export interface SessionModels {
  /** The one that answers. */
  readonly target: Target;
  /** Another model by name, or `provider/name`. Throws a `HiError` if it cannot be used. */
  find(name: string, signal: AbortSignal): Promise<Target>;
  /** The servers that answer when that of a turn cannot; null for none. */
  readonly fallback?: Fallback | null;
  /**
   * How long a turn waits for a server that says when it answers again, in milliseconds; no longer than usual if
   * absent.
   */
  readonly longestWait?: number;
  /** The models to try for summaries, in order, while `target` answers. */
  writers(target: Target): readonly TextModel[];
}

/** What the user configured. */
export interface SessionSettings {
  readonly preamble: string | null;
  readonly thinking: ThinkingLevel | null;
  readonly web: WebMode;
  readonly compaction: Omit<CompactionSettings, 'context_window'>;
  /** How much stays in view after a pause. */
  readonly view: RestSizes;
  /** Whether the summaries of what left the view are written beside the answer, because nobody idles at a prompt. */
  readonly summarisesBeside: boolean;
  /** Set if no terminal is involved: recorded with what is sent. */
  readonly via?: 'script';
}

/** The tools of a session. */
export interface SessionTools {
  /** The current ones: those of MCP servers may come and go. */
  readonly specs: readonly ToolSpec[];
  /** The tools of the conversation's other questions, if those of this session are off; none if that is unknown. */
  readonly others?: readonly ToolSpec[];
  /** The effects of tool calls, including those of tools not offered. */
  readonly effects: ToolEffects;
  /** How many requests one turn may make. */
  readonly maxRounds: number;
  /** Loaded when the model first calls one. */
  runner(): Promise<ToolRunner>;
}

/** The search over what was said. */
export interface SessionSearch {
  /** Over the whole conversation and all imported books, for the user. */
  finder(): Promise<Finder>;
  /** The same for the model: of books only what may be sent to its server. The same as `finder` if absent. */
  sending?(): Promise<Finder>;
  /** Whether messages are searched for unasked, and how many tokens of what is found may go with one. */
  readonly auto: boolean;
  readonly tokens: number;
  /** Whether there are imported books. */
  hasBooks?(): boolean;
}

/** The skills of a session. */
export interface SessionSkills {
  /** Those for a model that answers. */
  find(target: Target): Promise<SkillLibrary>;
  /** What the user approved of the project's: another list once that changed, and `find` is to be called again. */
  approved?(): readonly unknown[];
}

/** What a session depends on. Functions load what they need on their first call. */
export interface SessionDeps {
  readonly history: HistoryStore;
  readonly models: SessionModels;
  readonly settings: SessionSettings;
  readonly tools: SessionTools;
  readonly search: SessionSearch;
  readonly skills: SessionSkills;
  /** The texts of every request; `settle` prepares a turn, may ask the user, and resolves to notices for them. */
  readonly standing: { read(): Promise<Standing>; settle(signal: AbortSignal): Promise<readonly string[]> };
  readonly cache: TextCache;
  readonly saveImage: SaveImage;
  cwd(): string;
  /** The time and the machine; null if the model must not know them. */
  readonly clock: Clock | null;
  /** The other machines; absent if the conversation is on this one only. */
  readonly machines?: OtherMachines;
}

/** How one turn differs from the others. */
export interface TurnOptions {
  /** The name of another model that answers. */
  readonly model?: string | null;
  /** What the answer must be. */
  readonly schema?: AnswerSchema;
  /** Whether everything is brought into view that fits, instead of letting older messages leave it. */
  readonly whole?: boolean;
  /** The turn whose message is sent again. If that is removed before it is written, the turn fails. */
  readonly repeats?: number;
  /** Whether the model may call tools; true if absent. */
  readonly tools?: boolean;
  /** How often a request is sent if each time it fails; as often as usual if absent. */
  readonly attempts?: number;
  /**
   * Called if the turn ends without any answer, as if it had never been sent, with what it failed with; null for
   * nothing. A text says where the question is kept instead: it is shown, and the failure is not thrown.
   */
  readonly undelivered?: (failure: unknown) => string | null | Promise<string | null>;
}

/** What the user sends: text, and files that go to the model unchanged. */
export interface UserInput {
  readonly text: string;
  /** Texts before the user's own, such as files and piped input. Undo and edit only bring back the user's own text. */
  readonly texts: readonly string[];
  readonly attachments: readonly Attachment[];
}

export interface Attachment {
  readonly kind: 'image' | 'document';
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly name: string;
}
