import type {
  Content,
  FunctionCallingConfigMode,
  FunctionDeclaration,
  GenerateContentConfig,
  GenerateContentParameters,
  GroundingMetadata,
  Part,
  ThinkingConfig,
  ThinkingLevel,
  Tool,
} from '@google/genai/web';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { ToolResultPart } from '../../chat/message.js';
import type { ThinkingLevel as ThinkingName } from '../../chat/model.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { asSources, joinSources, uniqueSources } from '../../chat/web-source.js';
import { unreachable } from '../../errors.js';
import { offersWeb } from '../common/fit-request.js';
import {
  beginningWithUser,
  normaliseHistory,
  replaceSurrogates,
  type UserPart,
  type VendorTurn,
} from '../common/normalise-history.js';
import { base64Of, missingText } from '../common/request-media.js';
import { headersOf } from '../common/sdk.js';
import { type SchemaDialect, type SentRequest, vendorSchema, withSchemaInWords } from '../common/vendor-schema.js';

/** The thinking budget for Gemini 2.5 in tokens. Later models have levels instead. */
const BUDGET = { off: 0, low: 2048, medium: 8192, high: 24_576, xhigh: 24_576, max: 24_576 } as const;

/** The different limits of Gemini 2.5 Pro. */
const PRO_BUDGET = { ...BUDGET, off: 128, max: 32_768 } as const;

/** The documented signature for another model's call. Without it Gemini 3 rejects a call in the running turn. */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator';

/** The request in the form of generateContent. */
export function toVendorRequest(
  request: SentRequest<GeminiFormat>,
  provider: string,
  levels: typeof ThinkingLevel,
  signal: AbortSignal,
): GenerateContentParameters {
  const { model, system, max_output_tokens } = request;
  const thinkingConfig = toVendorThinking(request, levels);
  return {
    model,
    contents: toVendorMessages(request, provider),
    config: {
      abortSignal: signal,
      ...(request.extra && { httpOptions: { extraBody: request.extra.body, ...headersOf(request) } }),
      ...(system.length > 0 && {
        systemInstruction: { parts: system.map((text) => ({ text: replaceSurrogates(text) })) },
      }),
      ...toVendorOptions(request.options),
      ...toVendorToolSettings(request),
      ...(max_output_tokens !== null && { maxOutputTokens: max_output_tokens }),
      ...(thinkingConfig !== null && { thinkingConfig }),
      ...request.format,
    },
  };
}

/** The tools of the request and Google's search. Second-generation models support only one of them at a time. */
function toVendorToolSettings(request: ChatRequest): Pick<GenerateContentConfig, 'tools' | 'toolConfig'> {
  const functions = searchesAlone(request) ? [] : toVendorTools(request.tools);
  const searches = canSearch(request);
  const tools: Tool[] = [
    ...(functions.length > 0 ? [{ functionDeclarations: functions }] : []),
    ...(searches ? [{ googleSearch: {} }] : []),
  ];
  return {
    ...(tools.length > 0 && { tools }),
    ...(request.tool_choice && {
      toolConfig: { functionCallingConfig: { mode: 'NONE' as FunctionCallingConfigMode } },
    }),
    ...(tools.length > 1 && { toolConfig: { includeServerSideToolInvocations: true } }),
  };
}

export function toVendorTools(tools: readonly ToolSpec[]): FunctionDeclaration[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters }));
}

/** Turns alternate between user and model; results are the user's. Neighbours of the same side are joined. */
export function toVendorMessages(request: ChatRequest, provider: string): Content[] {
  const turns = beginningWithUser(normaliseHistory(request, provider));
  const lastUser = turns.findLastIndex((turn) => turn.role === 'user');
  const ids = vendorIds(turns);
  const contents: { role: 'user' | 'model'; parts: Part[] }[] = [];
  for (const [at, turn] of turns.entries()) {
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const parts = toVendorParts(turn, request, ids, at > lastUser);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) for (const part of parts) last.parts.push(part);
    else contents.push({ role, parts });
  }
  return contents;
}

/** The calls with an id from this model. Only these are sent with an id; the others are matched by their order. */
function vendorIds(turns: readonly VendorTurn[]): ReadonlySet<string> {
  const own = turns.flatMap((turn) => (turn.role === 'assistant' && turn.own ? turn.content : []));
  return new Set(own.flatMap((part) => (part.type === 'tool_call' && part.opaque?.id === true ? [part.call_id] : [])));
}

function toVendorParts(turn: VendorTurn, request: ChatRequest, ids: ReadonlySet<string>, running: boolean): Part[] {
  switch (turn.role) {
    case 'user':
      return turn.content.map((part) => toVendorUserPart(part, request));
    case 'tool':
      return turn.content.map((part) => ({
        functionResponse: { ...withId(part.call_id, ids), name: part.name, response: toVendorResponse(part) },
      }));
    case 'assistant':
      return toVendorAnswer(turn, ids, running);
    default:
      return unreachable(turn);
  }
}

function toVendorUserPart(part: UserPart, { attachments }: ChatRequest): Part {
  if (part.type === 'text') return { text: part.text };
  const data = base64Of(part, attachments);
  return data === null ? { text: missingText(part) } : { inlineData: { mimeType: part.mime, data } };
}

/** A response must be an object; Google's documentation names `output` and `error` for other values. */
function toVendorResponse(part: ToolResultPart): Record<string, unknown> {
  if (part.error !== undefined) return { error: part.error };
  return isJsonObject(part.result) ? { ...part.result } : { output: part.result };
}

function toVendorAnswer(
  { own, content }: Extract<VendorTurn, { role: 'assistant' }>,
  ids: ReadonlySet<string>,
  running: boolean,
): Part[] {
  // Only the first of several parallel calls is signed.
  const firstCall = content.find((part) => part.type === 'tool_call');
  return content.flatMap((part): Part[] => {
    const signature =
      typeof part.opaque?.thoughtSignature === 'string' ? { thoughtSignature: part.opaque.thoughtSignature } : {};
    switch (part.type) {
      case 'text':
        return part.text === '' && !signature.thoughtSignature ? [] : [{ text: part.text, ...signature }];
      case 'thinking':
        // A summary of thoughts is for people; the model can only use signed parts.
        return signature.thoughtSignature ? [{ text: part.text, thought: true, ...signature }] : [];
      case 'tool_call': {
        const foreign = running && !own && part === firstCall ? { thoughtSignature: FOREIGN_SIGNATURE } : {};
        return [
          {
            functionCall: { ...withId(part.call_id, ids), name: part.name, args: { ...part.args } },
            ...foreign,
            ...signature,
          },
        ];
      }
      case 'vendor':
        return isJsonObject(part.opaque.part) ? [{ ...part.opaque.part }] : [];
      default:
        return unreachable(part);
    }
  });
}

function withId(call_id: string, ids: ReadonlySet<string>): { id?: string } {
  return ids.has(call_id) ? { id: call_id } : {};
}

/** Requests thoughts only if a level is set. Gemini 3 and later cannot turn thinking off, only keep it short. */
function toVendorThinking({ model, thinking }: ChatRequest, levels: typeof ThinkingLevel): ThinkingConfig | null {
  if (thinking === null || NEVER_THINKS.test(model)) return null;
  const includeThoughts = thinking !== 'off';
  if (/gemini-2/.test(model)) {
    return { thinkingBudget: (/pro/.test(model) ? PRO_BUDGET : BUDGET)[thinking], includeThoughts };
  }
  return { thinkingLevel: levelOf(model, thinking, levels), includeThoughts };
}

/** Models before 2.5, and Gemma before 4, reject thinking settings. */
const NEVER_THINKS = /gemini-(?:1|2\.0)|gemma-[1-3]/;

/** Only Flash up to 3.5 has the lowest level; Pro 3.0 has only low and high. */
function levelOf(model: string, thinking: ThinkingName, levels: typeof ThinkingLevel): ThinkingLevel {
  if (thinking === 'off') return /gemini-3(?:\.[0-5])?-flash/.test(model) ? levels.MINIMAL : levels.LOW;
  if (thinking === 'low') return levels.LOW;
  return thinking === 'medium' && !/gemini-3-pro/.test(model) ? levels.MEDIUM : levels.HIGH;
}

/** The options under the SDK's names: `topP` for `top_p`. */
function toVendorOptions(options: JsonObject = {}): JsonObject {
  const named = (name: string): string => name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [named(name), value]));
}

/** The fields of the configuration that hold a schema. */
export type GeminiFormat = Pick<GenerateContentConfig, 'responseMimeType' | 'responseJsonSchema'>;

/**
 * The dialect of `responseJsonSchema`, according to Google's documentation. Recursion works in some places only, so it
 * is not used.
 */
const JSON_SCHEMA: SchemaDialect = {
  keywords: new Set(['minItems', 'maxItems', 'minimum', 'maximum']),
  formats: new Set(['date-time', 'date', 'time']),
  literal: (value) => typeof value === 'string' || typeof value === 'number',
  closed: false,
  allRequired: false,
  recursive: false,
  tuples: true,
};

/**
 * The request with its schema as `responseJsonSchema`; as text if it cannot be expressed that way. Models before Gemini
 * 3 answer in JSON or use tools.
 */
export function shapeRequest(request: ChatRequest): SentRequest<GeminiFormat> {
  const { schema: asked, tools, model } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  if (EITHER.test(model) && (tools.length > 0 || canSearch(request))) return inWords;
  const schema = vendorSchema(asked.schema, JSON_SCHEMA);
  const responseMimeType = 'application/json';
  if (schema === null) return { ...inWords, format: { responseMimeType } };
  return { ...request, format: { responseMimeType, responseJsonSchema: schema } };
}

/** Reads the pages that the answer is based on. */
export function* readGrounding(grounding: GroundingMetadata | undefined): Generator<StreamEvent> {
  if (!grounding?.groundingChunks?.length && !grounding?.webSearchQueries?.length) return;
  const pages = grounding.groundingChunks ?? [];
  const read = asSources(pages.map(({ web }) => [web?.uri, web?.title]));
  const cited = (grounding.groundingSupports ?? []).flatMap(({ segment, groundingChunkIndices = [] }) =>
    asSources(groundingChunkIndices.map((index) => [pages[index]?.web?.uri, pages[index]?.web?.title, segment?.text])),
  );
  yield { type: 'sources', sources: joinSources(uniqueSources(read), cited) };
}

/** Gemini before its third generation supports either functions or a search. */
export const EITHER = /gemini-[12]\b/;

/**
 * Whether the request includes Google's search. If that excludes the tools, only when the user asked for it explicitly.
 */
export function canSearch(request: ChatRequest): boolean {
  if (!offersWeb(request)) return false;
  return request.web === 'on' || request.tools.length === 0 || !EITHER.test(request.model);
}

/** Whether the search replaces the tools. */
export function searchesAlone(request: ChatRequest): boolean {
  return canSearch(request) && request.tools.length > 0 && EITHER.test(request.model);
}

/** The notice for it. */
export function aloneText({ model }: ChatRequest): string {
  return `${model} supports a web search or tools, not both: it has no tools while web search is on (/web off, --no-web).`;
}
