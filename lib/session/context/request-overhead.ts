import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { DocumentPart, ImagePart, NewMessage, Part } from '../../chat/message.js';
import type { ThinkingLevel, WebMode } from '../../chat/model.js';
import {
  type AnswerSchema,
  asTokens,
  type ChatRequest,
  estimateTokens,
  type TextCache,
  type TextModel,
  type Tokens,
  type ToolEffects,
  type ToolSpec,
} from '../../chat/request.js';
import type { CompactionSettings } from '../../compaction/strategy.js';
import { HiError } from '../../errors.js';
import type { HistoryStore } from '../../history/store.js';
import type { Standing } from '../../memory/standing-memory.js';
import type { SkillForm, SkillLibrary } from '../../skills/skill.js';
import type { SentOverhead } from '../../view/measure.js';
import type { Target } from '../common/deps.js';
import type { CompactionAhead } from './compaction-ahead.js';

/** What a request contains besides the messages and the summary. */
export interface RequestOverhead {
  /** The preamble, the memory, and the texts of the active skills. */
  readonly system: readonly string[];
  /** The estimated tokens of these texts, the tools and the answer's schema. */
  readonly tokens: Tokens;
}

/** What the overhead of a request consists of. */
export interface OverheadSource {
  readonly preamble: string | null;
  /** The memory. */
  readonly standing: Standing;
  readonly tools: readonly ToolSpec[];
  /** The effects of tool calls, including those of tools not offered. */
  readonly toolEffects: ToolEffects;
  readonly skills: SkillLibrary;
  /** The required form of the answer; any text if absent. */
  readonly schema?: AnswerSchema;
}

/**
 * The overhead of a request with these skills in this form. Shortening a skill may ask a model, which `signal` stops.
 */
export async function requestOverhead(
  { preamble, standing, tools, toolEffects, skills, schema }: OverheadSource,
  active: readonly string[],
  form: SkillForm,
  signal: AbortSignal,
): Promise<RequestOverhead> {
  const reader = tools.find(({ name }) => toolEffects[name]?.kind === 'read')?.name ?? null;
  const options = { form, reader };
  const texts = active.length === 0 ? [] : await skills.texts(active, options, signal);
  const system = [...(preamble ? [preamble] : []), ...(standing.text ? [standing.text] : []), ...texts];
  const characters = system.reduce((sum, text) => sum + text.length, schema ? JSON.stringify(schema).length : 0);
  return { system, tokens: asTokens(estimateTokens(characters) + toolTokens(tools)) };
}

/** The share of the window that the descriptions of the tools may take: the conversation needs the rest. */
const SHARE = 0.25;

/** The tools offered, and a notice if they were shortened or left out; null otherwise. */
export interface FittedTools {
  readonly tools: readonly ToolSpec[];
  readonly notice: string | null;
}

/** The tools unchanged if they fit their share of the window, or else with short descriptions, or else none. */
export function fitTools(tools: readonly ToolSpec[], window: number): FittedTools {
  const size = toolTokens(tools);
  if (size <= SHARE * window) return { tools, notice: null };
  const short = tools.map(shortened);
  const beginning = `The tools take ${size} of the ${window} tokens of the window:`;
  if (toolTokens(short) <= SHARE * window)
    return { tools: short, notice: `${beginning} the model gets shorter descriptions of them.` };
  return { tools: [], notice: `${beginning} the model answers without them.` };
}

/** The estimated tokens of the tool definitions. */
export function toolTokens(tools: readonly ToolSpec[]): Tokens {
  return estimateTokens(tools.length > 0 ? JSON.stringify(tools).length : 0);
}

/** A tool with only the first sentence of its description and the types of its parameters. */
function shortened({ name, description, parameters }: ToolSpec): ToolSpec {
  const bare = withoutDescriptions(parameters);
  return {
    name,
    description: /^.*?[.:;](?=\s|$)/s.exec(description)?.[0] ?? description,
    parameters: isJsonObject(bare) ? bare : parameters,
  };
}

/** A schema without descriptions. A property named `description` is a parameter and stays. */
function withoutDescriptions(schema: JsonValue | undefined): JsonValue {
  if (schema === undefined) return null;
  if (!isJsonObject(schema)) return schema;
  const properties = isJsonObject(schema.properties) ? schema.properties : null;
  const rest = Object.entries(schema).filter(([key]) => key !== 'description');
  const kept: JsonObject = Object.fromEntries(rest);
  if (properties === null) return kept;
  const bare = Object.entries(properties).map(([name, value]) => [name, withoutDescriptions(value)]);
  return { ...kept, properties: Object.fromEntries(bare) };
}

/**
 * The bytes of images and documents, and the messages to send with them. The model is told if one is lost or late, so
 * that a missing file does not stop the conversation.
 */
export async function requestAttachments(
  history: HistoryStore,
  messages: ChatRequest['messages'],
): Promise<Pick<ChatRequest, 'attachments' | 'messages'>> {
  const found = new Map<string, Uint8Array>();
  const [lost, late] = [new Map<string, ImagePart | DocumentPart>(), new Map<string, ImagePart | DocumentPart>()];
  // An image that the model drew is sent back only if its vendor wants it.
  const wanted = messages.flatMap(({ role, content, from }) =>
    content
      .filter((part) => role !== 'assistant' || part.type !== 'image' || part.opaque !== undefined)
      .map((part) => ({ part, from })),
  );
  for (const { part, from } of wanted) {
    if ((part.type !== 'image' && part.type !== 'document') || found.has(part.sha256)) continue;
    const bytes = await history.attachments.get(part.sha256);
    if (bytes !== null) found.set(part.sha256, bytes);
    else if (from === undefined) lost.set(part.sha256, part);
    else late.set(part.sha256, part);
  }
  if (lost.size > 0) await history.attachments.reportLost([...lost.values()]);
  if (late.size > 0) await history.attachments.reportLost([...late.values()], true);
  return { attachments: found, messages: late.size === 0 ? messages : messages.map((one) => withoutLate(one, late)) };
}

/**
 * A message with words in place of attachments that another machine has and that are not here yet. Later requests have
 * them in their place.
 */
function withoutLate<Asked extends Pick<NewMessage, 'role' | 'content'>>(
  message: Asked,
  late: ReadonlyMap<string, unknown>,
): Asked {
  if (message.role === 'assistant') return message;
  const content = message.content.map((part): Part => {
    const isLate = (part.type === 'image' || part.type === 'document') && late.has(part.sha256);
    const name = isLate ? `${part.type} ${part.name ?? part.mime}` : '';
    return isLate ? { type: 'text', text: `[The ${name} is not here yet: it comes from another machine.]` } : part;
  });
  return { ...message, content };
}

/** The estimate may be too high by a quarter. A request that exceeds the window by more is not sent. */
const CERTAINLY_TOO_LARGE = 1.25;

type Windows = Pick<Target, 'context_window' | 'model_window'>;

/** The window that the model has, in tokens. */
export function modelWindow({ context_window, model_window = context_window }: Windows): number {
  return model_window;
}

/** Whether a request with this estimate certainly does not fit. */
export function isTooLarge(tokens: number, target: Windows): boolean {
  return tokens > CERTAINLY_TOO_LARGE * modelWindow(target);
}

/** The error for a request that does not fit, by the estimate or by the server's answer. */
export function tooLarge(tokens: number, { model, ...target }: Windows & Pick<Target, 'model'>): HiError {
  const context_window = modelWindow(target);
  return new HiError(
    'window',
    tokens > context_window
      ? `The request has about ${tokens} tokens, but the window of ${model} holds ${context_window}.`
      : `The server rejected the request as too large for ${model}, though it has only about ${tokens} tokens.`,
    {
      hint: 'Shorten the message or its attachments, choose a model with a larger window, or correct context_window.',
    },
  );
}

/** What a request consists of in addition to the log. */
export interface ContextDeps extends Omit<OverheadSource, 'tools'> {
  /** The tools offered to the model. A call may add some. */
  tools(): readonly ToolSpec[];
  /** Set if the model may call none of them. */
  readonly tool_choice?: 'none';
  readonly history: HistoryStore;
  readonly target: Pick<
    Target,
    'model' | 'weigh' | 'context_window' | 'model_window' | 'memory' | 'options' | 'rest' | 'cache_rates' | 'isNear'
  >;
  readonly thinking: ThinkingLevel | null;
  readonly web: WebMode;
  readonly compaction: Omit<CompactionSettings, 'context_window'>;
  /** The models to try for summaries, in order. */
  writers(): readonly TextModel[];
  readonly cache: TextCache;
  /** The compaction written before it is due. */
  readonly ahead: CompactionAhead;
  /** The warnings already shown, so that each is shown once. */
  readonly shownWarnings: Set<string>;
  /** What the last request of this process contained besides the messages. */
  readonly overhead: { last: SentOverhead | null };
}
