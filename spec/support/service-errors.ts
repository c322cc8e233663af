import type { JsonObject } from '../../lib/chat/json.js';
import type { ErrorCode } from '../../lib/errors.js';

/** What a service says instead of an answer, and what that is. */
export interface ServiceError {
  /** The name of the service in the table of known servers. */
  readonly service: string;
  readonly kind: ErrorCode;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  /** How long to wait, in seconds, where the service says so. */
  readonly wait?: number;
  /**
   * Where the words were shown: the service's documentation, or who quoted or recorded them. `words of …`: the status
   * is documented there, the words are of its table.
   */
  readonly source: string;
}

const github = (thread: string): string => `https://github.com/${thread}`;

const OPENROUTER = 'https://openrouter.ai/docs/api/reference/errors-and-debugging';
const GROQ = 'https://console.groq.com/docs/errors';
const MISTRAL = 'https://docs.mistral.ai/resources/error-glossary';
const DEEPSEEK = 'https://api-docs.deepseek.com/quick_start/error_codes';
const XAI = 'https://docs.x.ai/docs/key-information/debugging';
const TOGETHER = 'https://docs.together.ai/docs/error-codes';
const FIREWORKS = 'https://docs.fireworks.ai/guides/inference-error-codes';
const CEREBRAS = 'https://inference-docs.cerebras.ai/support/error';

const openrouter = (code: number, message: string, metadata?: JsonObject): JsonObject => ({
  error: { message, code, ...(metadata && { metadata }) },
});
const groq = (message: string, type: string, code: string): JsonObject => ({ error: { message, type, code } });
const mistral = (message: string, type: string, code: string | null): JsonObject => ({
  ...{ object: 'error', message, type, param: null, code },
});
const deepseek = (message: string, type: string): JsonObject => ({
  error: { message, type, param: null, code: 'invalid_request_error' },
});
const xai = (code: string, error: string): JsonObject => ({ code, error });
const together = (message: string, type: string, code: string | null = null): JsonObject => ({
  error: { message, type, param: null, code },
});
const cerebras = (message: string, type: string, param: string, code: string): JsonObject => ({
  ...{ message, type, param, code },
});
const models = (code: string, message: string): JsonObject => ({ error: { code, message, details: message } });
const azure = (code: string, message: string): JsonObject => ({ error: { code, message } });

/** The failures of every service of the table. */
export const SERVICE_ERRORS: readonly ServiceError[] = [
  {
    ...{ service: 'openrouter', kind: 'key', status: 401, source: github('apurvsinghgautam/robin/issues/103') },
    body: openrouter(401, 'User not found.'),
  },
  {
    ...{ service: 'openrouter', kind: 'quota', status: 402 },
    body: openrouter(402, 'Insufficient credits. Add more using https://openrouter.ai/settings/credits', {
      limit_source: 'openrouter_credits',
    }),
    source: github('open-assistant-org/open-assistant/issues/80'),
  },
  {
    ...{ service: 'openrouter', kind: 'quota', status: 402, source: github('newo-ether/Agora/issues/8') },
    body: openrouter(
      402,
      'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 3395.',
    ),
  },
  {
    ...{ service: 'openrouter', kind: 'quota', status: 429, source: github('cline/cline/issues/5301') },
    body: openrouter(
      429,
      'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests',
    ),
  },
  {
    ...{ service: 'openrouter', kind: 'rate', status: 429 },
    body: openrouter(429, 'Provider returned error', {
      provider_name: 'Google',
      raw: 'google/gemini-2.0-flash-exp:free is temporarily rate-limited upstream. Please retry shortly',
    }),
    source: github('pydantic/pydantic-ai/blob/main/tests/models/cassettes/test_openrouter'),
  },
  {
    ...{ service: 'openrouter', kind: 'rate', status: 429, headers: { 'retry-after': '30' }, wait: 30 },
    body: openrouter(429, 'Rate limit exceeded'),
    source: OPENROUTER,
  },
  {
    ...{ service: 'openrouter', kind: 'overload', status: 503, source: `words of ${OPENROUTER}` },
    body: openrouter(503, 'There is no available model provider that meets your routing requirements'),
  },
  {
    ...{ service: 'openrouter', kind: 'refused', status: 403 },
    body: openrouter(
      403,
      'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence/graphic".',
      { reasons: ['violence/graphic'], flagged_input: '…', provider_name: 'OpenAI' },
    ),
    source: OPENROUTER,
  },
  {
    ...{ service: 'groq', kind: 'key', status: 401, source: github('stackblitz-labs/bolt.diy/issues/176') },
    body: groq('Invalid API Key', 'invalid_request_error', 'invalid_api_key'),
  },
  {
    ...{ service: 'groq', kind: 'key', status: 400, source: github('songquanpeng/one-api/issues/1764') },
    body: groq(
      'Organization has been restricted. Please reach out to support if you believe this was in error.',
      'invalid_request_error',
      'organization_restricted',
    ),
  },
  {
    ...{ service: 'groq', kind: 'rate', status: 429, wait: 578.016 },
    body: groq(
      'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens?',
      'tokens',
      'rate_limit_exceeded',
    ),
    source: github('continuedev/continue/issues/10920'),
  },
  {
    ...{ service: 'groq', kind: 'window', status: 413, source: github('elizaOS/eliza/issues/4040') },
    body: groq(
      'Request too large for model `llama-3.1-8b-instant` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 6294, please reduce your message size and try again.',
      'tokens',
      'rate_limit_exceeded',
    ),
  },
  {
    ...{ service: 'groq', kind: 'overload', status: 498, source: 'https://console.groq.com/docs/flex-processing' },
    body: { error: { message: 'Flex tier capacity exceeded', code: 'capacity_exceeded' } },
  },
  {
    ...{ service: 'groq', kind: 'overload', status: 503, source: `words of ${GROQ}` },
    body: { error: { message: 'Service Unavailable' } },
  },
  {
    ...{ service: 'mistral', kind: 'key', status: 401, source: github('nextcloud/integration_openai/issues/332') },
    body: { detail: 'Unauthorized' },
  },
  {
    ...{ service: 'mistral', kind: 'quota', status: 402, source: `words of ${MISTRAL}` },
    body: mistral('Payment required', 'invalid_request_error', null),
  },
  {
    ...{ service: 'mistral', kind: 'rate', status: 429, source: github('cline/cline/issues/9085') },
    body: mistral('Rate limit exceeded', 'rate_limited', '1300'),
  },
  {
    ...{ service: 'mistral', kind: 'rate', status: 429, source: github('continuedev/continue/issues/6185') },
    body: mistral('Service tier capacity exceeded for this model.', 'invalid_request_error', null),
  },
  {
    ...{ service: 'mistral', kind: 'overload', status: 503, source: github('BerriAI/litellm/pull/25078') },
    body: mistral('Service tier capacity exceeded for this model.', 'service_tier_capacity_exceeded', '3505'),
  },
  {
    ...{ service: 'deepseek', kind: 'key', status: 401, source: github('BerriAI/litellm/issues/10403') },
    body: deepseek('Authentication Fails, Your api key: ****cd15 is invalid', 'authentication_error'),
  },
  {
    ...{ service: 'deepseek', kind: 'quota', status: 402, source: github('1Panel-dev/MaxKB/issues/3797') },
    body: deepseek('Insufficient Balance', 'unknown_error'),
  },
  {
    ...{ service: 'deepseek', kind: 'rate', status: 429, source: `words of ${DEEPSEEK}` },
    body: deepseek('Rate Limit Reached', 'unknown_error'),
  },
  {
    ...{ service: 'deepseek', kind: 'overload', status: 503, source: `words of ${DEEPSEEK}` },
    body: deepseek('Server Overloaded', 'unknown_error'),
  },
  {
    ...{ service: 'deepseek', kind: 'refused', status: 400, source: github('666ghj/BettaFish/issues/691') },
    body: deepseek('Content Exists Risk', 'invalid_request_error'),
  },
  {
    ...{ service: 'xai', kind: 'key', status: 400, source: XAI },
    body: xai('Client specified an invalid argument', 'Incorrect API key provided: XA***ET.'),
  },
  {
    ...{ service: 'xai', kind: 'quota', status: 403, source: github('tetsuo-ai/agenc-core/pull/2483') },
    body: xai('personal-team-blocked:spending-limit', 'You have run out of credits or need a Grok subscription.'),
  },
  {
    ...{ service: 'xai', kind: 'quota', status: 429, source: github('continuedev/continue/issues/10373') },
    body: xai(
      'resource-exhausted',
      'Your team 16f2 has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    ),
  },
  {
    ...{ service: 'xai', kind: 'rate', status: 429, source: github('cline/cline/issues/4826') },
    body: xai(
      'resource-exhausted',
      "Too many requests for team e9fe and model grok-4.6. Your team's rate limit is - Requests per Minute (actual/limit): 2/2.",
    ),
  },
  {
    ...{ service: 'xai', kind: 'overload', status: 503, source: github('Cloudgeni-ai/opengeni/pull/1643') },
    body: { error: 'The model is currently at capacity due to high demand.' },
  },
  {
    ...{ service: 'xai', kind: 'refused', status: 403, source: github('UKGovernmentBEIS/inspect_ai/pull/2267') },
    body: xai(
      'The caller does not have permission to execute the specified operation',
      'Content violates usage guidelines. Team: T, API key ID: K, Model: grok-4-0709, Failed check: SAFETY_CHECK_TYPE_BIO',
    ),
  },
  {
    ...{ service: 'together', kind: 'key', status: 401, source: github('harshitv804/LawGPT/issues/4') },
    body: together(
      'Invalid API key provided. You can find your API key at https://api.together.xyz/settings/api-keys.',
      'invalid_request_error',
      'invalid_api_key',
    ),
  },
  {
    ...{ service: 'together', kind: 'quota', status: 402, source: github('expectedparrot/edsl/issues/2098') },
    body: together(
      'Credit limit exceeded. Please navigate to https://api.together.xyz/settings/billing to add credit or upgrade your plan.',
      'credit_limit',
    ),
  },
  {
    ...{ service: 'together', kind: 'rate', status: 429, source: github('togethercomputer/MoA/issues/27') },
    body: together(
      'You have been rate limited. Your rate limit is 60 queries per minute. Please navigate to https://api.together.xyz/settings/billing to upgrade to a paid plan.',
      'credit_limit',
    ),
  },
  {
    ...{ service: 'together', kind: 'overload', status: 503, source: github('cline/cline/issues/440') },
    body: together('server is overloaded.', 'invalid_request_error'),
  },
  {
    ...{ service: 'together', kind: 'overload', status: 529, source: `words of ${TOGETHER}` },
    body: { error: { message: 'Unexpected server error' } },
  },
  {
    ...{ service: 'fireworks', kind: 'key', status: 401, source: `words of ${FIREWORKS}` },
    body: { error: { object: 'error', type: 'invalid_request_error', message: 'Unauthorized' } },
  },
  {
    ...{ service: 'fireworks', kind: 'quota', status: 412, source: github('pollinations/pollinations/issues/12136') },
    body: {
      error: {
        message:
          'Account pollinations is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.',
        param: null,
        code: 'PRECONDITION_FAILED',
        type: 'error',
      },
    },
  },
  {
    ...{ service: 'fireworks', kind: 'quota', status: 402, source: `words of ${FIREWORKS}` },
    body: { error: { message: 'Payment Required', type: 'error' } },
  },
  {
    ...{ service: 'fireworks', kind: 'rate', status: 429, source: github('GordeyZuev/LEAP/issues/6') },
    body: {
      error: 'Too Many Requests',
      message:
        'You have exceeded your usage limits. Please try again later or contact Fireworks to explore dedicated capacity.',
    },
  },
  {
    ...{ service: 'fireworks', kind: 'overload', status: 503, source: `words of ${FIREWORKS}` },
    body: { error: { message: 'Service Unavailable', type: 'error' } },
  },
  {
    ...{ service: 'cerebras', kind: 'key', status: 401, source: CEREBRAS },
    body: cerebras('Wrong API Key', 'invalid_request_error', 'api_key', 'wrong_api_key'),
  },
  {
    ...{ service: 'cerebras', kind: 'quota', status: 402, source: `words of ${CEREBRAS}` },
    body: { message: 'Payment required' },
  },
  {
    ...{ service: 'cerebras', kind: 'rate', status: 429, source: github('nminaya/grammar-nazi-bot/issues/958') },
    body: cerebras(
      'Requests per minute limit exceeded - too many requests sent.',
      'too_many_requests_error',
      'quota',
      'request_quota_exceeded',
    ),
  },
  {
    ...{ service: 'cerebras', kind: 'rate', status: 429, source: github('continuedev/continue/issues/9800') },
    body: cerebras(
      'Tokens per minute limit exceeded - too many tokens processed.',
      'too_many_tokens_error',
      'quota',
      'token_quota_exceeded',
    ),
  },
  {
    ...{ service: 'cerebras', kind: 'rate', status: 429, source: CEREBRAS },
    body: cerebras(
      "We're experiencing high traffic right now! Please try again soon.",
      'too_many_requests_error',
      'queue',
      'queue_exceeded',
    ),
  },
  {
    ...{ service: 'cerebras', kind: 'overload', status: 503, source: `words of ${CEREBRAS}` },
    body: { message: 'Service Unavailable' },
  },
  {
    ...{ service: 'github', kind: 'key', status: 401, source: github('CherryHQ/cherry-studio/issues/7438') },
    body: models('unauthorized', 'Bad credentials'),
  },
  {
    ...{ service: 'github', kind: 'key', status: 401, source: github('github/gh-models/issues/35') },
    body: models('unauthorized', 'Resource not accessible by integration'),
  },
  {
    ...{
      service: 'github',
      kind: 'rate',
      status: 429,
      wait: 60,
      source: github('microsoft/foundry-dev-tools/issues/222'),
    },
    body: models(
      'RateLimitReached',
      'Rate limit of 40000 per 60s exceeded for UserByModelByMinuteTokens. Please wait 60 seconds before retrying.',
    ),
  },
  {
    ...{ service: 'github', kind: 'rate', status: 429, wait: 42_567 },
    body: models(
      'RateLimitReached',
      'Rate limit of 150 per 86400s exceeded for UserByModelByDay. Please wait 42567 seconds before retrying.',
    ),
    source: 'https://docs.github.com/en/github-models/use-github-models/prototyping-with-ai-models',
  },
  {
    ...{ service: 'azure', kind: 'key', status: 401, source: github('SciSharp/BotSharp/issues/386') },
    body: azure(
      '401',
      'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
    ),
  },
  {
    ...{ service: 'azure', kind: 'rate', status: 429, wait: 86_400, source: github('jasonacox/TinyLLM/issues/17') },
    body: azure(
      '429',
      'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 86400 seconds.',
    ),
  },
  {
    ...{ service: 'azure', kind: 'rate', status: 429, wait: 2, source: github('microsoft/copilot-camp/issues/551') },
    body: azure('429', 'Rate limit is exceeded. Try again in 2 seconds.'),
  },
  {
    ...{ service: 'azure', kind: 'rate', status: 429, wait: 20 },
    body: azure(
      '429',
      'The system is currently experiencing high demand and cannot process your request. Your request exceeds the maximum usage size allowed during peak load. Please retry after 20 seconds.',
    ),
    source: github('pollinations/pollinations/issues/6260'),
  },
  {
    ...{ service: 'azure', kind: 'refused', status: 400, source: github('compl-ai/compl-ai/issues/20') },
    body: {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
  },
];
