import { describe, expect, it } from '@jest/globals';
import { tokenCount, windowIn } from '../../../lib/chat/text.js';

describe('the window that an overflow sentence names', () => {
  it.each([
    ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192],
    ["This endpoint's maximum context length is 131,072 tokens. However, you requested about 150,000 tokens", 131_072],
    ['request (6031 tokens) exceeds the available context size (4096 tokens), try increasing it', 4096],
    ['{"message":"too long","n_prompt_tokens":6031,"n_ctx":512}', 512],
    ['The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
    ['prompt is too long: 213462 tokens > 200000 maximum', 200_000],
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000', 200_000],
    ['Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.', 272_000],
    ['The input token count is 40000 but model only supports up to 32768.', 32_768],
    ['However, the model is loaded with context length of only 4096 tokens, keep the first 5000 tokens', 4096],
    ['the first 5000 tokens do not fit: loaded with context length of only 4096 tokens', 4096],
    ['total number of tokens in the prompt cannot exceed 4081 - received 5000.', 4081],
    ['`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens', 4096],
    ['`inputs` must have less than 4095 tokens. Given: 5000', 4095],
    ["The input (9000 tokens) is longer than the model's context length (8192 tokens).", 8192],
    ['The decoder prompt (length 9000) is longer than the maximum model length of 8192.', 8192],
    ["However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192", 8192],
    ['Input length 5000 exceeds the maximum allowed input length of 4096 tokens', 4096],
    ['Range of input length should be [1, 30720]', 30_720],
    ['Your request exceeded model token limit: 131072 (requested: 140000)', 131_072],
    ['prompt token count of 150000 exceeds the limit of 128000', 128_000],
    ['Request body too large for gpt-4o model. Max size: 8000 tokens.', 8000],
    ['Prompt contains 40000 tokens, too large for model with 32768 maximum context length', 32_768],
    ['prompt of 9000 tokens, limit 8192', 8192],
    ["This model's maximum context length is 32.8k tokens. However, you requested 40.1k tokens", 32_800],
    ['The maximum context length is 8192.0 tokens', 8192],
    ['Maximum context length is 8192.0.', 8192],
    ['maximum context length is 32.768 tokens', 32_768],
    ['moonshot-v1-8k: the maximum context length is 1M tokens', 1_000_000],
    ['prompt is too long: 213.4K tokens > 200K maximum', 200_000],
  ])('is read: %s', (words, window) => expect(windowIn(words)).toBe(window));

  it.each([
    'the input length exceeds the context length',
    'invalid params, context window exceeds limit (2013)',
    'prompt too long; exceeded max context length by 12 tokens',
    'Your input exceeds the context window of this model. (HTTP 400)',
    'Prompt exceeds max length',
    'Please reduce the length of the messages: there are 300 of them.',
  ])('is not read from: %s', (words) => expect(windowIn(words)).toBeNull());
});

describe('a number of tokens in a list', () => {
  it.each([
    [8192, 8192],
    [8192.0, 8192],
    [8192.7, 8192],
    ['8192.0', 8192],
    ['131,072', 131_072],
    ['32.8k', 32_800],
    ['128K', 128_000],
    ['1M', 1_000_000],
    [0, 0],
  ])('is read: %j', (value, count) => expect(tokenCount(value)).toBe(count));

  it.each([null, undefined, true, '', 'many', 'v1-8k', -1, Number.NaN, Number.POSITIVE_INFINITY, [8192], { n: 1 }])(
    'is not invented: %j',
    (value) => expect(tokenCount(value)).toBeNull(),
  );
});
