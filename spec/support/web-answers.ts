import type { JsonObject } from '../../lib/chat/json.js';
import { namedSse, sse, type VendorAnswer } from './vendor-server.js';

/** The pages that the answers below name, in this order. */
export const PAGES = [
  { url: 'https://weather.example/oslo?day=1', title: 'Oslo today' },
  { url: 'https://met.example/no', title: 'Met office' },
] as const;

const [OSLO, MET] = PAGES;

/** How each service names the pages that its answer `It is cold.` rests on. */
export const WEB_ANSWERS: Readonly<Record<string, { readonly config: JsonObject; readonly answer: VendorAnswer }>> = {
  'OpenAI Responses': {
    config: { provider: 'openai', openai: { api: 'responses' } },
    answer: namedSse(
      { type: 'response.created', response: { id: 'r', model: 'm', output: [] } },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: {
          type: 'web_search_call',
          id: 'ws_1',
          status: 'completed',
          action: { type: 'search', query: 'weather oslo' },
        },
      },
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
      },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'It is cold.' },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [
            {
              type: 'output_text',
              text: 'It is cold.',
              annotations: [OSLO, MET, OSLO].map((page) => ({
                type: 'url_citation',
                ...page,
                start_index: 11,
                end_index: 11,
              })),
            },
          ],
        },
      },
      {
        type: 'response.completed',
        response: { id: 'r', model: 'm', output: [], usage: { input_tokens: 7, output_tokens: 3 } },
      },
    ),
  },
  OpenRouter: {
    config: { provider: 'openai' },
    answer: sse(
      { choices: [{ index: 0, delta: { content: 'It is cold.' } }] },
      {
        choices: [
          {
            index: 0,
            delta: { annotations: PAGES.map((page) => ({ type: 'url_citation', url_citation: page })) },
            finish_reason: 'stop',
          },
        ],
      },
      '[DONE]',
    ),
  },
  Perplexity: {
    config: { provider: 'openai' },
    answer: sse(
      ...['It is ', 'cold.'].map((content) => ({
        citations: PAGES.map(({ url }) => url),
        search_results: PAGES.toReversed().map((page) => ({ ...page, date: null })),
        choices: [{ index: 0, delta: { content } }],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      '[DONE]',
    ),
  },
  Anthropic: {
    config: { provider: 'anthropic' },
    answer: namedSse(
      { type: 'message_start', message: { model: 'm', usage: { input_tokens: 7, output_tokens: 1 } } },
      ...searchBlocks(0),
      ...citedText(2, 'It is cold.', PAGES),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ),
  },
  Gemini: {
    config: { provider: 'gemini' },
    answer: sse(
      { candidates: [{ content: { role: 'model', parts: [{ text: 'It is cold.' }] }, index: 0 }] },
      {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '' }] },
            finishReason: 'STOP',
            groundingMetadata: {
              webSearchQueries: ['weather oslo'],
              groundingChunks: PAGES.map(({ url, title }) => ({ web: { uri: url, title } })),
              groundingSupports: [
                {
                  segment: { endIndex: 11, text: 'It is cold.' },
                  groundingChunkIndices: [0, 1],
                  confidenceScores: [1, 0.5],
                },
                { segment: { text: 'It is cold.' }, groundingChunkIndices: [1, 7] },
              ],
            },
          },
        ],
        usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 },
      },
    ),
  },
};

/** A search of Anthropic's server and what it found, as two blocks from `index` on. */
export function searchBlocks(index: number, id = 'srvtoolu_1'): JsonObject[] {
  return [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'server_tool_use', id, name: 'web_search', input: {} },
    },
    {
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: '{"query":"weather oslo"}' },
    },
    { type: 'content_block_stop', index },
    {
      type: 'content_block_start',
      index: index + 1,
      content_block: {
        type: 'web_search_tool_result',
        tool_use_id: id,
        content: PAGES.map((page) => ({
          type: 'web_search_result',
          ...page,
          encrypted_content: 'SEALED',
          page_age: null,
        })),
      },
    },
    { type: 'content_block_stop', index: index + 1 },
  ];
}

/** A block of text with its citations, as Anthropic streams it. */
export function citedText(
  index: number,
  text: string,
  pages: readonly { readonly url: string; readonly title: string }[],
): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '', citations: [] } },
    ...pages.map((page) => ({
      type: 'content_block_delta',
      index,
      delta: {
        type: 'citations_delta',
        citation: { type: 'web_search_result_location', ...page, cited_text: 'cold', encrypted_index: 'E' },
      },
    })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ];
}
