import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { namedSse, refusal, type SeenRequest, sse, type VendorAnswer } from './vendor-server.js';

/**
 * A service as its own documents describe it: where it listens, which key it wants, what it refuses, and in which form
 * its models think.
 */
export interface CompatibleVendor {
  /** As docs/compatible-servers.md names it. */
  readonly name: string;
  readonly wire: 'chat' | 'responses' | 'messages';
  /** Matches the whole address of a question. */
  readonly address: RegExp;
  /** Whether the headers hold the key in the form that the service documents. */
  knows(headers: IncomingHttpHeaders): boolean;
  /** What is said to a request that breaks a documented rule; null if it breaks none. */
  breaks?(body: JsonObject, headers: IncomingHttpHeaders): string | null;
  readonly thinks: 'reasoning_content' | 'reasoning' | 'details' | 'tags' | 'blocks' | 'none';
}

const bearer = ({ authorization }: IncomingHttpHeaders) => authorization === 'Bearer KEY';
const any = () => true;

/**
 * Thinking of calls must come back: https://api-docs.deepseek.com/guides/thinking_mode, and
 * https://github.com/anomalyco/opencode/issues/24722.
 */
function deepSeek({ messages }: JsonObject): string | null {
  const isMissing = list(messages).some((one) => list(one.tool_calls).length > 0 && !('reasoning_content' in one));
  return isMissing ? 'The reasoning_content in the thinking mode must be passed back to the API.' : null;
}

/** The same in Moonshot's words: https://github.com/anomalyco/opencode/issues/16318. */
function kimi({ messages }: JsonObject): string | null {
  const at = list(messages).findIndex(
    (one) => list(one.tool_calls).length > 0 && typeof one.reasoning_content !== 'string',
  );
  return at < 0
    ? null
    : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${at}`;
}

/** The same by Messages: https://api-docs.deepseek.com/guides/anthropic_api. */
function blocksBack({ messages }: JsonObject): string | null {
  const isMissing = list(messages).some(({ content }) => {
    const types = list(content).map(({ type }) => type);
    return types.includes('tool_use') && !types.includes('thinking');
  });
  return isMissing ? 'The `content[].thinking` in the thinking mode must be passed back to the API.' : null;
}

/** https://github.com/danny-avila/LibreChat/issues/14231: also if no effort is sent. */
export function noToolsByChat({ tools, reasoning_effort, model }: JsonObject): string | null {
  if (list(tools).length === 0 || reasoning_effort === 'none') return null;
  return `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
}

/** Groq knows `reasoning` alone, and refuses what it does not know: https://console.groq.com/docs/api-reference. */
function groq({ messages }: JsonObject): string | null {
  const at = list(messages).findIndex((one) => 'reasoning_content' in one);
  return at < 0
    ? null
    : `'messages.${at}' : for 'role:assistant' the following must be satisfied[('messages.${at}' : property 'reasoning_content' is unsupported)]`;
}

/** Ids of nine letters and digits: https://docs.mistral.ai/api. */
function mistral({ messages }: JsonObject): string | null {
  const ids = list(messages).flatMap(({ tool_calls }) => list(tool_calls).map(({ id }) => String(id)));
  return ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))
    ? null
    : 'Tool call IDs should be alphanumeric strings with length 9!';
}

/** Thought signatures of calls must come back: https://ai.google.dev/gemini-api/docs/thought-signatures. */
function vertex({ messages }: JsonObject): string | null {
  const calls = list(messages).flatMap(({ tool_calls }) => list(tool_calls));
  const isMissing = calls.some(({ extra_content }) => !isJsonObject(extra_content));
  return isMissing ? 'Function call is missing a thought_signature in functionCall parts.' : null;
}

/**
 * What models think while they call tools must not be lost: https://docs.vllm.ai/en/v0.11.2/features/reasoning_outputs/
 * and its like.
 */
const loses =
  (field: string) =>
  ({ messages }: JsonObject): string | null =>
    list(messages).some((one) => list(one.tool_calls).length > 0 && !text(one).includes(field))
      ? `What was thought is lost: ${field}.`
      : null;

/**
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude: the model is in the
 * address, the version in the body.
 */
function claudeOnVertex({ model, anthropic_version }: JsonObject): string | null {
  if (model !== undefined) return 'model: Extra inputs are not permitted';
  return anthropic_version === 'vertex-2023-10-16' ? null : 'anthropic_version: Field required';
}

const version = (_: JsonObject, headers: IncomingHttpHeaders): string | null =>
  headers['anthropic-version'] === '2023-06-01' ? null : `anthropic-version: unknown '${headers['anthropic-version']}'`;

export const COMPATIBLE_VENDORS: readonly CompatibleVendor[] = [
  {
    name: 'DeepSeek',
    wire: 'chat',
    address: /^http:\/\/api\.deepseek\.com\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: deepSeek,
    thinks: 'reasoning_content',
  },
  {
    name: 'DeepSeek by Messages',
    wire: 'messages',
    address: /^http:\/\/api\.deepseek\.com\/anthropic\/v1\/messages$/,
    knows: (headers) => headers['x-api-key'] === 'KEY',
    breaks: (body, headers) => version(body, headers) ?? blocksBack(body),
    thinks: 'blocks',
  },
  {
    name: 'Kimi',
    wire: 'chat',
    address: /^http:\/\/api\.moonshot\.ai\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: kimi,
    thinks: 'reasoning_content',
  },
  {
    name: 'Azure OpenAI',
    wire: 'responses',
    address: /^http:\/\/NAME\.openai\.azure\.com\/openai\/v1\/responses$/i,
    knows: bearer,
    thinks: 'none',
  },
  {
    name: 'Azure OpenAI, a deployment',
    wire: 'chat',
    address:
      /^http:\/\/NAME\.openai\.azure\.com\/openai\/deployments\/my-gpt\/chat\/completions\?api-version=2024-10-21$/i,
    knows: (headers) => headers['api-key'] === 'KEY' && headers.authorization === undefined,
    thinks: 'none',
  },
  {
    name: 'Bedrock',
    wire: 'chat',
    address: /^http:\/\/bedrock-runtime\.eu-west-1\.amazonaws\.com\/openai\/v1\/chat\/completions$/,
    knows: bearer,
    thinks: 'none',
  },
  {
    name: 'Claude on Bedrock',
    wire: 'messages',
    address: /^http:\/\/bedrock-mantle\.eu-west-1\.api\.aws\/anthropic\/v1\/messages$/,
    knows: (headers) => headers['x-api-key'] === 'KEY',
    breaks: version,
    thinks: 'blocks',
  },
  {
    name: 'Vertex AI',
    wire: 'chat',
    address:
      /^http:\/\/aiplatform\.googleapis\.com\/v1\/projects\/P\/locations\/global\/endpoints\/openapi\/chat\/completions$/,
    knows: bearer,
    breaks: vertex,
    thinks: 'none',
  },
  {
    name: 'Claude on Vertex AI',
    wire: 'messages',
    address:
      /^http:\/\/aiplatform\.googleapis\.com\/v1\/projects\/P\/locations\/global\/publishers\/anthropic\/models\/claude-sonnet-5-5:streamRawPredict$/,
    knows: bearer,
    breaks: claudeOnVertex,
    thinks: 'blocks',
  },
  {
    name: 'OpenRouter',
    wire: 'chat',
    address: /^http:\/\/openrouter\.ai\/api\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: loses('reasoning_details'),
    thinks: 'details',
  },
  {
    name: 'Groq',
    wire: 'chat',
    address: /^http:\/\/api\.groq\.com\/openai\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: (body) => groq(body) ?? loses('"reasoning"')(body),
    thinks: 'reasoning',
  },
  {
    name: 'Mistral',
    wire: 'chat',
    address: /^http:\/\/api\.mistral\.ai\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: mistral,
    thinks: 'none',
  },
  {
    name: 'xAI',
    wire: 'chat',
    address: /^http:\/\/api\.x\.ai\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: ({ reasoning_effort }) =>
      reasoning_effort === undefined ? null : 'Model grok-4 does not support parameter reasoningEffort.',
    thinks: 'reasoning_content',
  },
  {
    name: 'GitHub Models',
    wire: 'chat',
    address: /^http:\/\/models\.github\.ai\/inference\/chat\/completions$/,
    knows: bearer,
    thinks: 'none',
  },
  {
    name: 'MiniMax',
    wire: 'chat',
    address: /^http:\/\/api\.minimax\.io\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: loses('<think>'),
    thinks: 'tags',
  },
  {
    name: 'LM Studio',
    wire: 'chat',
    address: /\/v1\/chat\/completions$/,
    knows: any,
    thinks: 'reasoning_content',
  },
  {
    name: 'vLLM',
    wire: 'chat',
    address: /\/v1\/chat\/completions$/,
    knows: any,
    breaks: loses('"reasoning"'),
    thinks: 'reasoning',
  },
  {
    name: 'SGLang',
    wire: 'chat',
    address: /\/v1\/chat\/completions$/,
    knows: any,
    breaks: loses('reasoning_content'),
    thinks: 'reasoning_content',
  },
  {
    name: 'llama.cpp',
    wire: 'chat',
    address: /\/v1\/chat\/completions$/,
    knows: any,
    breaks: loses('reasoning_content'),
    thinks: 'reasoning_content',
  },
  {
    name: 'LiteLLM',
    wire: 'chat',
    address: /\/v1\/chat\/completions$/,
    knows: bearer,
    breaks: ({ reasoning_effort }) =>
      reasoning_effort === undefined
        ? null
        : "UnsupportedParamsError: does not support parameters: ['reasoning_effort']",
    thinks: 'none',
  },
];

const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const text = (value: JsonValue): string => JSON.stringify(value);

/**
 * How many calls are still to come: as many as the newest question names ("look 2"), less those that have their result.
 */
export function stepsLeft(body: JsonObject): number {
  const messages = list(body.messages ?? body.input);
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !text(content ?? '').includes('"tool_result"'),
  );
  const wanted = Number(/look (\d)(?!.*look \d)/.exec(text(messages[asked]?.content ?? ''))?.[1] ?? 0);
  return (
    wanted -
    (text(messages.slice(asked + 1)).match(/"(?:tool_result|function_call_output)"|"role":"tool"/g) ?? []).length
  );
}

let made = 0;

/**
 * An answer with a call of `list_files` if one is still to come, else with words; with what the model thinks in the
 * service's own form.
 */
export function answerOf(
  wire: CompatibleVendor['wire'],
  thinks: CompatibleVendor['thinks'],
  body: JsonObject,
): VendorAnswer {
  const calls = list(body.tools).length > 0 && stepsLeft(body) > 0;
  made += 1;
  const id = `call${String(made).padStart(5, '0')}`;
  switch (wire) {
    case 'chat':
      return chatAnswer(thinks, calls, id);
    case 'messages':
      return messagesAnswer(thinks, calls, id);
    case 'responses':
      return responsesAnswer(calls, id);
  }
}

function chatAnswer(thinks: CompatibleVendor['thinks'], calls: boolean, id: string): VendorAnswer {
  const say = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
    id: 'c',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const thought: Readonly<Record<string, JsonObject>> = {
    reasoning_content: { reasoning_content: calls && made % 3 === 0 ? '' : `Hm ${made}.` },
    reasoning: { reasoning: `Hm ${made}.` },
    details: {
      reasoning: 'Hm.',
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Hm.', signature: 'S' }],
    },
    tags: { content: `<think>\nHm ${made}.\n</think>\n\n` },
  };
  const call = {
    index: 0,
    id,
    type: 'function',
    function: { name: 'list_files', arguments: '{"path":"."}' },
    extra_content: { google: { thought_signature: 'S' } },
  };
  return sse(
    ...[thought[thinks]].flatMap((delta) => (delta === undefined ? [] : [say(delta)])),
    say(calls ? { tool_calls: [call] } : { content: `Answer ${made}.` }),
    say({}, calls ? 'tool_calls' : 'stop'),
    '[DONE]',
  );
}

function messagesAnswer(thinks: CompatibleVendor['thinks'], calls: boolean, id: string): VendorAnswer {
  const usage = { input_tokens: 10, output_tokens: 5 };
  const content: JsonObject[] = [
    ...(thinks === 'blocks' ? [{ type: 'thinking', thinking: `Hm ${made}.`, signature: `S${made}` }] : []),
    calls
      ? { type: 'tool_use', id, name: 'list_files', input: { path: '.' } }
      : { type: 'text', text: `Answer ${made}.` },
  ];
  return namedSse(
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage } },
    ...content.flatMap((content_block, index): JsonObject[] => [
      { type: 'content_block_start', index, content_block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: calls ? 'tool_use' : 'end_turn' }, usage },
    { type: 'message_stop' },
  );
}

function responsesAnswer(calls: boolean, id: string): VendorAnswer {
  const item: JsonObject = calls
    ? { type: 'function_call', id: `fc_${id}`, call_id: id, name: 'list_files', arguments: '{"path":"."}' }
    : {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: `Answer ${made}.`, annotations: [] }],
      };
  return namedSse(
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: { id: 'r', model: 'm', output: [], incomplete_details: null, usage: null },
    },
  );
}

/** What the service says to a request. */
export function said(
  vendor: CompatibleVendor,
  { body, path, headers }: Pick<SeenRequest, 'body' | 'path' | 'headers'>,
): VendorAnswer {
  const error = (status: number, message: string) =>
    refusal(status, { type: 'error', error: { type: 'invalid_request_error', message, param: null } });
  if (!vendor.address.test(path)) return error(404, 'Resource not found');
  if (!vendor.knows(headers)) return error(401, 'Invalid API key.');
  const broken = vendor.breaks?.(body, headers) ?? null;
  return broken === null ? answerOf(vendor.wire, vendor.thinks, body) : error(400, broken);
}
