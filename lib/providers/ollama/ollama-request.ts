import type { Tool, Message as VendorMessage, ChatRequest as VendorRequest } from 'ollama/browser';
import type { ThinkingLevel } from '../../chat/model.js';
import type { ChatRequest, ToolSpec } from '../../chat/request.js';
import { HiError, unreachable } from '../../errors.js';
import {
  formTurns,
  normaliseHistory,
  replaceSurrogates,
  resultText,
  systemTexts,
  type TurnForm,
  type UserPart,
  type VendorTurn,
} from '../common/normalise-history.js';
import { base64Of, missingText, noImageSupport, unseenText } from '../common/request-media.js';
import { type SentRequest, withSchemaInWords } from '../common/vendor-schema.js';
import { windowOption } from './ollama-facts.js';

const FORM: TurnForm = { strict: true, textBesideCalls: false };

/**
 * Options of servers since 0.12 that are missing from the SDK's types: they make the server refuse a prompt that
 * exceeds the window instead of cutting it.
 */
interface Uncut {
  readonly truncate: false;
  readonly shift: false;
}

const UNCUT: Uncut = { truncate: false, shift: false };

/** The request in the form of /api/chat. */
export function toVendorRequest(
  request: SentRequest<object>,
  provider: string,
  sees: boolean,
): VendorRequest & { stream: true } & Partial<Uncut> {
  const { model, tools, thinking, max_output_tokens } = request;
  const num_ctx = windowOption(request);
  const { keep_alive, ...options } = request.options ?? {};
  return {
    model,
    messages: toVendorMessages(request, provider, sees),
    stream: true,
    ...(request.facts?.takes?.extras !== false && UNCUT),
    ...(tools.length > 0 && { tools: toVendorTools(tools) }),
    ...(request.format !== undefined && { format: request.format }),
    ...(thinking !== null && { think: toVendorThinking(model, thinking) }),
    ...((typeof keep_alive === 'string' || typeof keep_alive === 'number') && { keep_alive }),
    ...request.extra?.body,
    options: {
      ...options,
      ...(num_ctx !== null && { num_ctx }),
      ...(max_output_tokens !== null && { num_predict: max_output_tokens }),
    },
  };
}

/** gpt-oss has three levels and cannot be switched off. For any other model the server accepts only true or false. */
function toVendorThinking(model: string, thinking: ThinkingLevel): boolean | 'low' | 'medium' | 'high' {
  if (!/gpt-oss/.test(model)) return thinking !== 'off';
  if (thinking === 'off') return 'low';
  return thinking === 'low' || thinking === 'medium' ? thinking : 'high';
}

export function toVendorTools(tools: readonly ToolSpec[]): Tool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { ...parameters, type: 'object' } },
  }));
}

/**
 * The system text, then the conversation, in the form that every template accepts. Throws for an unsupported attachment
 * in the user's newest message; in earlier ones it becomes text.
 */
export function toVendorMessages(request: ChatRequest, provider: string, sees: boolean): VendorMessage[] {
  const turns = formTurns(normaliseHistory(request, provider), FORM);
  const lastUser = turns.findLastIndex((turn) => turn.role === 'user');
  return [
    ...systemTexts(request.system, FORM).map((content) => ({ role: 'system', content })),
    ...turns.flatMap((turn, at): VendorMessage[] => {
      switch (turn.role) {
        case 'user':
          return [toVendorUser(turn.content, request, { sees, newest: at === lastUser })];
        case 'assistant':
          return toVendorAnswer(turn, at > lastUser);
        case 'tool':
          return turn.content.map((part) => ({
            role: 'tool',
            tool_name: part.name,
            content: replaceSurrogates(resultText(part)),
          }));
        default:
          return unreachable(turn);
      }
    }),
  ];
}

function toVendorUser(
  parts: readonly UserPart[],
  { attachments, model }: ChatRequest,
  { sees, newest }: { readonly sees: boolean; readonly newest: boolean },
): VendorMessage {
  const images: string[] = [];
  const words = parts.flatMap((part): string[] => {
    if (part.type === 'text') return [part.text];
    const isTaken = part.type === 'image' && sees;
    if (!isTaken && newest)
      throw part.type === 'image'
        ? noImageSupport(model, ' (ollama show NAME lists what a model can do)')
        : noDocuments(model);
    if (!isTaken) return [unseenText(part)];
    const data = base64Of(part, attachments);
    if (data === null) return [missingText(part)];
    images.push(data);
    return [];
  });
  return { role: 'user', content: words.join('\n\n'), ...(images.length > 0 && { images }) };
}

/**
 * Models that think between tool calls need their thoughts of the running turn; earlier thoughts only fill the window.
 */
function toVendorAnswer({ content }: Extract<VendorTurn, { role: 'assistant' }>, running: boolean): VendorMessage[] {
  const wordsOf = (type: 'text' | 'thinking') => content.map((part) => (part.type === type ? part.text : '')).join('');
  const thinking = running ? wordsOf('thinking') : '';
  const calls = content.flatMap((part) =>
    part.type === 'tool_call' ? [{ function: { name: part.name, arguments: part.args } }] : [],
  );
  const text = wordsOf('text');
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text,
      ...(thinking !== '' && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function noDocuments(model: string): HiError {
  return new HiError('request', `Ollama cannot send a PDF to '${model}'.`, {
    hint: 'Send its text instead (pdftotext extracts it), or use another provider. The conversation goes on without this message.',
  });
}

/**
 * The request with its schema as `format`, and as text: the server enforces the format, but the model does not see it.
 * With a format it cannot call tools.
 */
export function shapeRequest(request: ChatRequest): SentRequest<object> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  return asked.needsTools && tools.length > 0 ? inWords : { ...inWords, format: asked.schema };
}
