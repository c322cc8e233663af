import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../lib/chat/json.js';
import { type ErrorCode, EXIT_STATUS } from '../../../../lib/errors.js';
import { RefusedRequest } from '../../../../lib/http/fetch.js';
import { asFailure } from '../../../../lib/providers/common/provider-failure.js';
import { saysOverflow } from '../../../../lib/providers/common/vendor-error.js';
import { providers } from '../../../../lib/providers/index.js';
import { pick } from '../../../../lib/registry.js';
import { adapter, ask, chatRequest } from '../../../support/providers.js';
import { refusal, vendorServer } from '../../../support/vendor-server.js';
import { dialects } from '../../../support/vendors.js';

const KEY = 'sk-secret-0123456789';
const said = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } });

describe('a refusal by status', () => {
  it.each<[number, ErrorCode, boolean]>([
    [400, 'request', false],
    [401, 'key', false],
    [402, 'quota', false],
    [403, 'key', false],
    [404, 'request', false],
    [408, 'network', true],
    [413, 'window', false],
    [422, 'request', false],
    [429, 'rate', true],
    [500, 'overload', true],
    [502, 'overload', true],
    [503, 'overload', true],
    [529, 'overload', true],
  ])('%i is %s, with retry %s, for every vendor', async (status, code, retryable) => {
    for (const dialect of dialects) {
      await using server = await vendorServer(refusal(status, { error: { message: 'Something is wrong' } }));
      const { error } = await ask(
        await adapter(dialect.provider, server.url + dialect.path, dialect.settings),
        chatRequest(),
      );
      expect(error).toMatchObject({
        code,
        retryable,
        message: expect.stringMatching(/Something is wrong\.$/),
        hint: expect.any(String),
      });
    }
  });
});

describe("a server's error message", () => {
  it.each<[string, number, JsonObject, ErrorCode]>([
    ...['contract_spend_limit_reached', 'enforced_spend_limit_reached'].map(
      (error_code): [string, number, JsonObject, ErrorCode] => [
        error_code,
        429,
        { type: 'error', error: { type: 'rate_limit_error', message: 'A limit is reached', details: { error_code } } },
        'quota',
      ],
    ),
    [
      'an organisation on hold',
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'This organization is on hold.',
          details: { error_code: 'organization_on_hold' },
        },
      },
      'quota',
    ],
    ['a policy', 400, { error: { code: 'misalignment_policy_violation', message: 'Not this.' } }, 'refused'],
    ['another policy', 400, { error: { code: 'bio_policy', message: 'Not this.' } }, 'refused'],
    ['a residency', 400, { error: { code: 'data_residency_mismatch', message: 'Not here.' } }, 'request'],
    [
      'insufficient quota',
      429,
      { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your quota' } },
      'quota',
    ],
    [
      'a day used up',
      429,
      google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', [violation('GenerateRequestsPerDayPerProject', '50')]),
      'quota',
    ],
    [
      'a minute used up',
      429,
      google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', [violation('GenerateRequestsPerMinute', '10')]),
      'rate',
    ],
    [
      'a model outside the plan',
      429,
      google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', [violation('PerMinute', '0')]),
      'quota',
    ],
    [
      'a rate limit that speaks of tokens',
      429,
      { error: { message: 'Request too large: maximum context length' } },
      'rate',
    ],
    [
      'a request that is larger than what a minute allows',
      429,
      {
        error: {
          message:
            'Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced in order to run successfully.',
          code: 'rate_limit_exceeded',
        },
      },
      'window',
    ],
    [
      'the same with a limit that it is below',
      429,
      { error: { message: 'Rate limit reached on tokens per min (TPM): Limit 30,000, Used 25,000, Requested 6,000.' } },
      'rate',
    ],
    ['an OpenAI window', 400, { error: { code: 'context_length_exceeded', message: 'Too long' } }, 'window'],
    [
      'an Anthropic window',
      400,
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 2 tokens > 1 maximum' } },
      'window',
    ],
    [
      'a window with max_tokens',
      400,
      { error: { message: 'input length and `max_tokens` exceed context limit: 1 + 2 > 2' } },
      'window',
    ],
    [
      'a request too large for a minute',
      413,
      { error: { code: 'rate_limit_exceeded', message: 'Request too large (TPM)' } },
      'window',
    ],
    [
      'a model without access',
      403,
      { error: { code: 'model_not_found', message: 'Project does not have access to model x' } },
      'model',
    ],
    ['an unknown gateway model', 400, { error: { message: 'x is not a valid model ID', code: 400 } }, 'model'],
    ['a filtered prompt', 400, { error: { code: 'content_filter', message: 'Filtered' } }, 'refused'],
    ['a moderated prompt', 403, { error: { code: 'moderation_blocked', message: 'Flagged' } }, 'refused'],
    [
      'an older vLLM',
      404,
      { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 },
      'model',
    ],
    ['an option, not a model', 400, { error: { message: 'invalid model parameter: temperature' } }, 'request'],
    [
      'an option that a model has not',
      404,
      { error: { message: 'This model has no such setting.', param: 'temperature' } },
      'request',
    ],
    ['FastAPI', 422, { detail: 'Field required' }, 'request'],
    ['Ollama', 404, { error: "model 'x' not found" }, 'model'],
  ])('%s is recognised by its kind', (_, status, body, code) => {
    const error = failure(new RefusedRequest(status, new Headers(), JSON.stringify(body)));
    expect(error.code).toBe(code);
  });

  it('is not read from an HTML page, except for its title', () => {
    const error = failure(new RefusedRequest(502, new Headers(), '<html><body>Bad gateway</body></html>'));
    expect(error).toMatchObject({ code: 'overload', message: 'OpenAI had an error (HTTP 502).' });
    const page = '\n<!doctype html>\n<html><head><title lang="en">\n 502 Bad\nGateway </title></head>';
    expect(failure(new RefusedRequest(502, new Headers(), page)).message).toBe('OpenAI had an error: 502 Bad Gateway.');
  });

  it('is not about the key if a page forbids the request: that is a firewall', () => {
    const page = '<html><title>Blocked by policy 17</title><h1>No</h1></html>';
    const error = failure(new RefusedRequest(403, new Headers(), page));
    expect(error).toMatchObject({
      code: 'request',
      message: 'OpenAI did not accept the request: Blocked by policy 17.',
      hint: expect.stringContaining('firewall'),
    });
  });

  it.each([
    'Your request was blocked by our content policy.',
    'The prompt violates the acceptable use rules.',
    'Input flagged: unsafe content.',
    'Rejected for safety reasons.',
    'Guardrail intervened.',
  ])('is about the content, not the key, if 403 comes with: %s', (message) => {
    const body = JSON.stringify({ error: { type: 'permission_error', message } });
    expect(failure(new RefusedRequest(403, new Headers(), body))).toMatchObject({
      code: 'refused',
      message: `OpenAI refused the content: ${message}`,
    });
  });

  it.each([
    'Attention Required! | Cloudflare',
    'Blocked by the web application firewall',
    'Request blocked. Ray ID: 8f',
  ])('is from a firewall if 403 comes with: %s', (message) => {
    const error = failure(new RefusedRequest(403, new Headers(), JSON.stringify({ success: false, error: message })));
    expect(error).toMatchObject({ code: 'request', refused: { what: 'unsaid', isCertain: false } });
    expect(error.hint).toContain('firewall');
  });

  it.each([
    'The API key violates the policies of its project.',
    "Request is prohibited by your organization's content policy.",
    'Your account was suspended for prohibited content.',
    'You do not have permission to use content filters.',
  ])('is about the key if 403 comes with: %s', (message) => {
    const body = JSON.stringify({ error: { message } });
    expect(failure(new RefusedRequest(403, new Headers(), body))).toMatchObject({ code: 'key' });
  });

  it('says what to do if the key is valid but lacks the permission', () => {
    const body = { error: { message: 'Country, region, or territory not supported' } };
    const error = failure(new RefusedRequest(403, new Headers(), JSON.stringify(body)));
    expect(error).toMatchObject({ code: 'key', hint: expect.stringContaining('Fix this in the account') });
  });

  it.each(['', '{}', 'Forbidden', '{"error":{"message":"Access denied."}}', '{"error":"403 Forbidden"}'])(
    'is how to go on where all that is said is %j: the key, or what was said before',
    (body) => {
      const error = failure(new RefusedRequest(403, new Headers(), body));
      expect(error).toMatchObject({
        code: 'key',
        hint: expect.stringMatching(/valid key.*config check --live.*\/undo/),
      });
    },
  );

  it('includes the message of the server behind a gateway', () => {
    const body = {
      error: { message: 'Provider returned error', code: 429, metadata: { raw: 'free models are busy' } },
    };
    const error = failure(new RefusedRequest(429, new Headers(), JSON.stringify(body)));
    expect(error.message).toContain('Provider returned error: free models are busy.');
  });

  it('never shows the key, even if the server repeats it', () => {
    const error = failure(
      new RefusedRequest(401, new Headers(), JSON.stringify({ error: { message: `Wrong key: ${KEY}` } })),
    );
    expect(
      `${error.message}${error.hint}${error.stack}${String(error.cause)}${JSON.stringify(error.cause)}`,
    ).not.toContain(KEY);
    expect(error.message).toBe('OpenAI refused the API key: Wrong key: ***.');
  });
});

describe('the code and the hint of an error', () => {
  it.each<[string, number, JsonObject, ErrorCode, RegExp]>([
    ['a key, with 400 (xAI)', 400, said('Incorrect API key provided: sk-secret-0123456789.'), 'key', /valid key/],
    ['a key, with 400 (Gemini)', 400, said('API key not valid. Please pass a valid API key.'), 'key', /valid key/],
    [
      'a deployment (Azure)',
      404,
      said('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' }),
      'model',
      /model/,
    ],
    [
      'a model that is gone (DeepSeek)',
      400,
      said('The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed deepseek-chat.'),
      'model',
      /model/,
    ],
    [
      'a balance (Anthropic)',
      400,
      said('Your credit balance is too low to access the Anthropic API.'),
      'quota',
      /billing/,
    ],
    [
      'a limit of the account (Anthropic)',
      400,
      said('You have reached your specified API usage limits.'),
      'quota',
      /billing/,
    ],
    [
      'a budget (LiteLLM)',
      400,
      said('Budget has been exceeded! Current cost: 10.1, Max budget: 10.0'),
      'quota',
      /billing/,
    ],
    ['a week (Ollama)', 429, { error: 'you (x) have reached your weekly usage limit' }, 'quota', /plan/],
    [
      'a long context (Anthropic)',
      429,
      said('Extra usage is required for long context requests.', { type: 'rate_limit_error' }),
      'window',
      /compact/,
    ],
    [
      'too little memory (Ollama)',
      500,
      { error: 'model requires more system memory (18.1 GiB) than is available (11.9 GiB)' },
      'request',
      /smaller context_window/,
    ],
    [
      'an image that is too large (Anthropic)',
      400,
      said('messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 8716288 bytes > 5242880 bytes'),
      'request',
      /smaller/,
    ],
    [
      'a level of thinking (OpenAI)',
      400,
      said("Unsupported value: 'none' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.", {
        param: 'reasoning.effort',
      }),
      'request',
      /--think/,
    ],
    [
      'tools (vLLM)',
      400,
      said('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
      'request',
      /--no-tools/,
    ],
    ['tools (llama.cpp)', 500, said('tools param requires --jinja flag'), 'request', /--no-tools/],
    ['tools (OpenRouter)', 404, said('No endpoints found that support tool use.'), 'request', /--no-tools/],
    [
      'images (llama.cpp)',
      500,
      said('image input is not supported - hint: you may need to provide the mmproj'),
      'request',
      /vision/,
    ],
    [
      'a region (Gemini)',
      400,
      said('User location is not supported for the API use.', { status: 'FAILED_PRECONDITION' }),
      'request',
      /region/,
    ],
    [
      'a policy (OpenAI)',
      400,
      said('Invalid prompt: your prompt was flagged as potentially violating our usage policy.', {
        code: 'invalid_prompt',
      }),
      'refused',
      /Rephrase/,
    ],
    [
      'a window (Perplexity)',
      400,
      said('The total length of all messages is too long.', { type: 'too_many_prompt_tokens' }),
      'window',
      /compact/,
    ],
  ])('%s', (_, status, body, code, hint) => {
    const error = failure(new RefusedRequest(status, new Headers(), JSON.stringify(body)));
    expect(error).toMatchObject({ code, retryable: false, hint: expect.stringMatching(hint) });
    expect(EXIT_STATUS[error.code]).toBe(code === 'key' ? 4 : code === 'window' ? 6 : 5);
  });

  it('are those of the window if the limit per minute is below the size of the request', () => {
    const body = google(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded', [
      violation('GenerateContentInputTokensPerModelPerMinute-FreeTier', '250000'),
    ]);
    const thrown = new RefusedRequest(429, new Headers(), JSON.stringify(body));
    const member = pick(providers, 'gemini', 'provider');
    expect(asFailure(thrown, { member, model: 'x', apiKey: KEY, tokens: 260_000 }).code).toBe('window');
    expect(asFailure(thrown, { member, model: 'x', apiKey: KEY, tokens: 240_000 }).code).toBe('rate');
  });

  it('say that the model misused a tool', () => {
    const body = said('Failed to call a function. Please adjust your prompt.', { code: 'tool_use_failed' });
    const error = failure(new RefusedRequest(400, new Headers(), JSON.stringify(body)));
    expect(error).toMatchObject({
      code: 'malformed',
      retryable: true,
      message: expect.stringContaining('misused a tool'),
    });
  });
});

describe('the delay before a retry', () => {
  it.each<[string, Record<string, string>, string, number | null]>([
    ['seconds', { 'retry-after': '7' }, '', 7000],
    ['milliseconds', { 'retry-after': '2', 'retry-after-ms': '1574' }, '', 1574],
    ['a sentence', {}, 'Rate limit reached. Please try again in 1m2.5s.', 62_500],
    ['a sentence in milliseconds', {}, 'Please try again in 120ms.', 120],
    ['nothing', {}, 'Slow down.', null],
    ['no time at all', { 'retry-after': '0' }, '', null],
    ['less than that', { 'retry-after': '-5' }, '', null],
    ['a date that is past', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, '', null],
  ])('is read from %s', (_, headers, message, wait) => {
    const error = failure(new RefusedRequest(429, new Headers(headers), JSON.stringify({ error: { message } })));
    expect(error.retryAfter).toBe(wait);
  });

  it('is reported if it is long', () => {
    const hint = (wait: string) => failure(new RefusedRequest(429, new Headers({ 'retry-after': wait }), '{}')).hint;
    expect(hint('59')).toContain('Wait a moment');
    expect(hint('600')).toContain('asks to wait 10 min');
    expect(hint('36000')).toContain('asks to wait 10 h');
  });

  it('is read from a date', () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const error = failure(new RefusedRequest(503, new Headers({ 'retry-after': date }), '{}'));
    expect(Math.round((error.retryAfter ?? 0) / 10_000)).toBe(6);
  });

  it('does not exist if the server forbids a retry', () => {
    const headers = new Headers({ 'x-should-retry': 'false' });
    expect(failure(new RefusedRequest(500, headers, '{}')).retryable).toBe(false);
  });
});

describe('an answer that cannot be read', () => {
  it.each(dialects.map((dialect) => [dialect.title, dialect] as const))(
    'is malformed, and what came before it is kept (%s)',
    async (_, dialect) => {
      const { headers = {}, chunks = [] } = dialect.text('Hello', ' you', ' there');
      const event = String(chunks.find((chunk) => String(chunk).includes('" you"'))).replaceAll('{', '{{');
      const kept = chunks.slice(
        0,
        chunks.findIndex((chunk) => String(chunk).includes('" you"')),
      );
      await using server = await vendorServer({ headers, chunks: [...kept, event, ...chunks.slice(-3)] });
      const got = await ask(
        await adapter(dialect.provider, server.url + dialect.path, dialect.settings),
        chatRequest(),
      );
      expect(got.text).toBe('Hello');
      expect(got.error).toMatchObject({ code: 'malformed', refused: { what: 'unsaid', isCertain: false } });
    },
  );
});

describe('the messages for a full window', () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
    'Your input exceeds the context window of this model.',
    'the request exceeds the available context size, try increasing it',
    'the input length exceeds the context length',
    'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
    'prompt too long; exceeded max context length by 12 tokens',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'Input is too long for requested model.',
    'prompt is too long: 213462 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
    'Unable to submit request because the input token count is 40000 but model only supports up to 32768.',
    'Please reduce the length of the messages or completion.',
    'Context size has been exceeded.',
    'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens',
    'Reached context length of 4096 tokens with this model, but it does not currently support mid-generation context overflow',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'litellm.BadRequestError: ContextWindowExceededError: OpenAIException',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens',
    'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    'The decoder prompt (length 9000) is longer than the maximum model length of 8192.',
    'The prompt (total length 66000) is too long to fit into the model (context length 32768).',
    "However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8192 tokens.",
    'Input length 5000 exceeds the maximum allowed input length of 4096 tokens',
    'Range of input length should be [1, 30720]',
    'Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)',
    'invalid params, context window exceeds limit (2013)',
    'Prompt exceeds max length',
    'too_many_prompt_tokens The total length of all messages is too long.',
    'prompt token count of 150000 exceeds the limit of 128000',
    'tokens_limit_reached Request body too large for gpt-4o model. Max size: 8000 tokens.',
    'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    'Input prompt is too big compared to KV size. Please try increasing KV size.',
    'GGML_ASSERT(n_tokens_all <= cparams.n_batch) failed',
    'The conversation is longer than what is supported here.',
    'A sequence of 30211 tokens exceeds the 8192 positions of the engine',
  ])('include: %s', (words) => expect(saysOverflow(words)).toBe(true));

  it.each([
    'Rate limit reached on tokens per min (TPM)',
    'max_tokens is too large',
    'Overloaded',
    'context deadline exceeded',
    'Too many tokens, please wait before trying again.',
    'Daily token limit exceeded',
    'requested context size too large for model',
    'The response exceeds the allowed length of an answer',
    'The prompt has an image that exceeds the maximum of 5 MB',
    'The system prompt has more than the allowed number of blocks',
    'max_tokens of the sequence exceeds the limit',
  ])('do not include: %s', (words) => expect(saysOverflow(words)).toBe(false));
});

function failure(thrown: unknown) {
  return asFailure(thrown, { member: pick(providers, 'openai', 'provider'), model: 'x', apiKey: KEY });
}

function google(code: number, status: string, message: string, details: readonly JsonObject[]): JsonObject {
  return { error: { code, status, message, details } };
}

function violation(quotaId: string, quotaValue: string): JsonObject {
  return { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId, quotaValue }] };
}
