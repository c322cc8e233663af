import type { JsonObject } from '../../lib/chat/json.js';
import type { ProviderSettings } from '../../lib/providers/common/provider.js';
import { namedSse, ndjson, sse, type VendorAnswer } from './vendor-server.js';

/** How one vendor says the same few things, for specs that run over all of them. */
export interface Dialect {
  /** As it reads in a spec's title. */
  readonly title: string;
  readonly provider: string;
  readonly settings: Partial<ProviderSettings>;
  /** What is put behind the server's address. */
  readonly path: string;
  /** The answer is these pieces of text. 7 tokens in, 3 out. */
  text(...pieces: readonly string[]): VendorAnswer;
  /** The same in one piece, as a server sends it that was asked for no stream. */
  whole(text: string): VendorAnswer;
  /**
   * The answer thinks, says something, and calls tools. Every argument object comes in two pieces where the vendor does
   * that.
   */
  tools(...calls: readonly { readonly name: string; readonly args: JsonObject }[]): VendorAnswer;
  /** The answer is stopped because it got too long. */
  length(text: string): VendorAnswer;
  /**
   * The answer says something, calls a tool, and is stopped in the middle of the call: this much of its arguments came.
   */
  cutCall(text: string, name: string, args: JsonObject): VendorAnswer;
  /** A piece of text and the beginning of an error, as events of one stream. */
  failure(text: string, message: string): VendorAnswer;
}

const chat: Dialect = {
  title: 'OpenAI Chat Completions',
  provider: 'openai',
  settings: { options: { api: 'chat' } },
  path: '/v1',
  text: (...pieces) => sse(...pieces.map((content) => delta({ content })), finish('stop'), chatUsage, '[DONE]'),
  whole: (content) =>
    json({ ...chatUsage, choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }] }),
  tools: (...calls) =>
    sse(
      delta({ role: 'assistant', reasoning_content: 'Hm.' }),
      delta({ content: 'Let me look.' }),
      ...calls.flatMap(({ name, args }, index) => {
        const [first, second] = halves(JSON.stringify(args));
        return [
          delta({
            tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: first } }],
          }),
          delta({ tool_calls: [{ index, function: { arguments: second } }] }),
        ];
      }),
      finish('tool_calls'),
      chatUsage,
      '[DONE]',
    ),
  length: (content) => sse(delta({ content }), finish('length'), chatUsage, '[DONE]'),
  cutCall: (content, name, args) =>
    sse(
      delta({ content }),
      delta({
        tool_calls: [{ index: 0, id: 'call_0', type: 'function', function: { name, arguments: cutShort(args) } }],
      }),
      finish('length'),
      chatUsage,
      '[DONE]',
    ),
  failure: (content, message) => sse(delta({ content }), { error: { message } }),
};

const responses: Dialect = {
  title: 'OpenAI Responses',
  provider: 'openai',
  settings: { options: { api: 'responses' } },
  path: '/v1',
  text: (...pieces) => namedSse(created, ...messageItem(0, pieces), completed()),
  whole: (text) =>
    json({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'test-model-1',
      output: [
        { type: 'message', id: 'msg_0', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
      ],
      usage: { input_tokens: 7, output_tokens: 3 },
    }),
  tools: (...calls) =>
    namedSse(
      created,
      { type: 'response.output_item.added', output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } },
      { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Hm.' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm.' }],
          encrypted_content: 'SIGNED',
        },
      },
      ...messageItem(1, ['Let me look.'], 'commentary'),
      ...calls.flatMap(({ name, args }, at) => {
        const [first, second] = halves(JSON.stringify(args));
        const item = { type: 'function_call', id: `fc_${at}`, call_id: `call_${at}`, name };
        const output_index = at + 2;
        return [
          { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
          { type: 'response.function_call_arguments.delta', output_index, delta: first },
          { type: 'response.function_call_arguments.delta', output_index, delta: second },
          { type: 'response.output_item.done', output_index, item: { ...item, arguments: JSON.stringify(args) } },
        ];
      }),
      completed(),
    ),
  length: (text) => namedSse(created, ...messageItem(0, [text]), completed('max_output_tokens')),
  cutCall: (text, name, args) => {
    const item = { type: 'function_call', id: 'fc_0', call_id: 'call_0', name };
    return namedSse(
      created,
      ...messageItem(0, [text]),
      { type: 'response.output_item.added', output_index: 1, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 1, item_id: 'fc_0', delta: cutShort(args) },
      completed('max_output_tokens'),
    );
  },
  failure: (text, message) =>
    namedSse(created, ...messageItem(0, [text]).slice(0, 2), { type: 'error', error: { message } }),
};

const anthropic: Dialect = {
  title: 'Anthropic',
  provider: 'anthropic',
  settings: {},
  path: '',
  text: (...pieces) => namedSse(...opening, ...textBlock(0, pieces), ...closing('end_turn')),
  whole: (text) =>
    json({
      type: 'message',
      id: 'm1',
      model: 'test-model-1',
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 3 },
    }),
  tools: (...calls) =>
    namedSse(
      ...opening,
      { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SIGNED' } },
      { type: 'content_block_stop', index: 0 },
      ...textBlock(1, ['Let me look.']),
      ...calls.flatMap(({ name, args }, at) => {
        const [first, second] = halves(JSON.stringify(args));
        const index = at + 2;
        return [
          {
            type: 'content_block_start',
            index,
            content_block: { type: 'tool_use', id: `toolu_${at}`, name, input: {} },
          },
          { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: first } },
          { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: second } },
          { type: 'content_block_stop', index },
        ];
      }),
      ...closing('tool_use'),
    ),
  length: (text) => namedSse(...opening, ...textBlock(0, [text]), ...closing('max_tokens')),
  cutCall: (text, name, args) =>
    namedSse(
      ...opening,
      ...textBlock(0, [text]),
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_0', name, input: {} } },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: cutShort(args) },
      },
      { type: 'content_block_stop', index: 1 },
      ...closing('max_tokens'),
    ),
  failure: (text, message) =>
    namedSse(...opening, ...textBlock(0, [text]).slice(0, 2), { type: 'error', error: { type: 'api_error', message } }),
};

const gemini: Dialect = {
  title: 'Gemini',
  provider: 'gemini',
  settings: {},
  path: '',
  text: (...pieces) => sse(...pieces.map((text) => candidate([{ text }])), candidate([{ text: '' }], 'STOP')),
  whole: (text) => json(candidate([{ text }], 'STOP')),
  tools: (...calls) =>
    sse(
      candidate([{ text: 'Hm.', thought: true }]),
      candidate([{ text: 'Let me look.' }]),
      candidate(
        calls.map((functionCall, at) => ({ functionCall, ...(at === 0 && { thoughtSignature: 'U0lHTkVE' }) })),
        'STOP',
      ),
    ),
  length: (text) => sse(candidate([{ text }], 'MAX_TOKENS')),
  cutCall: (text, name, args) =>
    sse(candidate([{ text }]), candidate([{ functionCall: { name, args } }], 'MAX_TOKENS')),
  failure: (text, message) => sse(candidate([{ text }]), { error: { code: 500, message, status: 'INTERNAL' } }),
};

const ollama: Dialect = {
  title: 'Ollama',
  provider: 'ollama',
  settings: {},
  path: '',
  text: (...pieces) => ndjson(...pieces.map((content) => line({ content })), done('stop')),
  whole: (content) => json({ ...done('stop'), message: { role: 'assistant', content } }),
  tools: (...calls) =>
    ndjson(
      line({ content: '', thinking: 'Hm.' }),
      line({ content: 'Let me look.' }),
      ...calls.map(({ name, args }) => line({ content: '', tool_calls: [{ function: { name, arguments: args } }] })),
      done('stop'),
    ),
  length: (content) => ndjson(line({ content }), done('length')),
  cutCall: (content, name, args) =>
    ndjson(
      line({ content }),
      line({ content: '', tool_calls: [{ function: { name, arguments: args } }] }),
      done('length'),
    ),
  failure: (content, message) => ndjson(line({ content }), { error: message }),
};

export const dialects: readonly Dialect[] = [chat, responses, anthropic, gemini, ollama];

function halves(text: string): [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** Arguments as they stand where the length limit cuts them. */
function cutShort(args: JsonObject): string {
  return JSON.stringify(args).slice(0, -3);
}

function delta(piece: JsonObject): JsonObject {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'test-model-1',
    choices: [{ index: 0, delta: piece, finish_reason: null }],
  };
}

function finish(finish_reason: string): JsonObject {
  return {
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'test-model-1',
    choices: [{ index: 0, delta: {}, finish_reason }],
  };
}

const json = (body: JsonObject): VendorAnswer => ({ chunks: [JSON.stringify(body)] });

const chatUsage: JsonObject = {
  id: 'c1',
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
};

const created: JsonObject = { type: 'response.created', response: { id: 'resp_1', model: 'test-model-1', output: [] } };

function messageItem(output_index: number, pieces: readonly string[], phase?: string): JsonObject[] {
  const item = { type: 'message', id: `msg_${output_index}`, role: 'assistant', ...(phase !== undefined && { phase }) };
  const text = pieces.join('');
  return [
    { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', output_index, content_index: 0, delta })),
    {
      type: 'response.output_item.done',
      output_index,
      item: { ...item, content: [{ type: 'output_text', text, annotations: [] }] },
    },
  ];
}

function completed(reason?: string): JsonObject {
  return {
    type: reason === undefined ? 'response.completed' : 'response.incomplete',
    response: {
      id: 'resp_1',
      model: 'test-model-1',
      output: [],
      incomplete_details: reason === undefined ? null : { reason },
      usage: { input_tokens: 7, output_tokens: 3, input_tokens_details: { cached_tokens: 2 } },
    },
  };
}

const opening: readonly JsonObject[] = [
  {
    type: 'message_start',
    message: {
      id: 'm1',
      model: 'test-model-1',
      role: 'assistant',
      content: [],
      usage: { input_tokens: 4, cache_read_input_tokens: 2, cache_creation_input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: 'ping' },
];

function textBlock(index: number, pieces: readonly string[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })),
    { type: 'content_block_stop', index },
  ];
}

function closing(stop_reason: string): JsonObject[] {
  return [{ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } }, { type: 'message_stop' }];
}

function candidate(parts: readonly JsonObject[], finishReason?: string): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason !== undefined && { finishReason }) }],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1, thoughtsTokenCount: 2, cachedContentTokenCount: 2 },
    modelVersion: 'test-model-1',
  };
}

function line(message: JsonObject): JsonObject {
  return { model: 'test-model-1', message: { role: 'assistant', ...message }, done: false };
}

function done(done_reason: string): JsonObject {
  return {
    model: 'test-model-1',
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason,
    prompt_eval_count: 7,
    eval_count: 3,
  };
}
