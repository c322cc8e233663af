import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../lib/chat/json.js';
import { windowIn } from '../../../../lib/chat/text.js';
import { RefusedRequest } from '../../../../lib/http/fetch.js';
import { RequestRefusal } from '../../../../lib/providers/common/provider.js';
import { asFailure } from '../../../../lib/providers/common/provider-failure.js';
import { openai } from '../../../../lib/providers/openai.js';

const said = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } });

/**
 * What services say, in the forms in which they say it, and what it is taken for: the kind of the error, what is
 * refused, or the window that it names. Of OpenAI, Azure, Anthropic, Bedrock, Google, Groq, xAI, Mistral, DeepSeek,
 * Moonshot, Zhipu, Alibaba, Cohere, Cerebras, Fireworks, Together, SambaNova, NVIDIA, watsonx, Databricks, Cloudflare,
 * Perplexity, OpenRouter, Copilot, vLLM, SGLang, TGI, LM Studio, llama.cpp, LocalAI, KoboldCpp, TabbyAPI and Ollama.
 */
const BODIES: readonly (readonly [status: number, body: JsonObject | string, is: string])[] = [
  [
    400,
    said(
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages, Please reduce the length of the messages.",
      { type: 'BadRequestError', code: 400 },
    ),
    'window:4096',
  ],
  [
    400,
    said(
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    ),
    'window:4096',
  ],
  [
    400,
    said(
      "This model's maximum context length is 2048 tokens. However, your request has 3000 input tokens. Please reduce the length of the input messages.",
    ),
    'window:2048',
  ],
  [
    400,
    said(
      "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens and your request has 100 input tokens (4096 > 2048 - 100).",
    ),
    'window:2048',
  ],
  [
    400,
    said(
      "You passed 2049 input tokens and requested 0 output tokens. However, the model's context length is only 2048 tokens, resulting in a maximum input length of 2048 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=2049)",
    ),
    'window:2048',
  ],
  [
    400,
    {
      object: 'error',
      message: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    'window:8192',
  ],
  [
    400,
    {
      object: 'error',
      message:
        "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
      type: 'BadRequestError',
      code: 400,
    },
    'window:8192',
  ],
  [
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
      error_type: 'validation',
    },
    'window:4096',
  ],
  [
    422,
    {
      error: 'Input validation error: `inputs` must have less than 1024 tokens. Given: 2000',
      error_type: 'validation',
    },
    'window:1024',
  ],
  [
    400,
    {
      error:
        'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    },
    'window:4096',
  ],
  [
    400,
    said(
      'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input',
    ),
    'window',
  ],
  [
    400,
    {
      error:
        'Reached context length of 4096 tokens with model (arch: llama) which does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.',
    },
    'window:4096',
  ],
  [
    400,
    said('the request exceeds the available context size. try increasing the context size or enable context shift', {
      type: 'exceed_context_size_error',
      n_prompt_tokens: 5000,
      n_ctx: 4096,
    }),
    'window',
  ],
  [
    400,
    said(
      "This model's maximum context length is 512 tokens, however you requested 700 tokens (600 in your prompt; 100 for the completion). Please reduce your prompt; or completion length.",
      { code: 'context_length_exceeded' },
    ),
    'window:512',
  ],
  [500, said('Requested tokens (2500) exceed context window of 2048'), 'window:2048'],
  [
    500,
    said('rpc error: code = Unknown desc = the request exceeds the available context size (4096 tokens)'),
    'window:4096',
  ],
  [400, { detail: 'Prompt too long: 9000 tokens exceeds max context length 8192' }, 'window:8192'],
  [400, { detail: 'Prompt length 9000 is greater than max_seq_len 8192' }, 'window:8192'],
  [400, said('Context length 9000 is greater than max_seq_len 8192'), 'window:8192'],
  [400, said('Prompt length (9000) exceeds context length (8192)'), 'window:8192'],
  [400, said('Truncation length exceeded: prompt has 9000 tokens, limit is 8192'), 'window:8192'],
  [
    400,
    said("This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.", {
      code: 'context_length_exceeded',
      param: 'messages',
    }),
    'window:128000',
  ],
  [
    400,
    said('Your input exceeds the context window of this model. Please adjust your input and try again.', {
      code: 'context_length_exceeded',
      param: 'input',
    }),
    'window',
  ],
  [400, { message: 'Input is too long for requested model.' }, 'window'],
  [
    400,
    {
      message:
        'The model returned the following errors: input length and `max_tokens` exceed context limit: 198000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
    },
    'window:200000',
  ],
  [
    400,
    {
      message:
        'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    },
    'window',
  ],
  [
    400,
    { message: "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt" },
    'window:8192',
  ],
  [
    400,
    {
      object: 'error',
      message: 'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_prompt',
      code: '3051',
    },
    'window:32768',
  ],
  [
    400,
    said('Please reduce the length of the messages or completion.', {
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
    'window',
  ],
  [
    413,
    said(
      'Request too large for model `llama-3.1-8b-instant` in organization `org` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size and try again.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    'window:6000',
  ],
  [
    400,
    said(
      "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
    ),
    'window:65536',
  ],
  [
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    },
    'window:131072',
  ],
  [
    400,
    {
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 128000 - received 130000. Try using a shorter prompt',
    },
    'window:128000',
  ],
  [
    400,
    {
      message: 'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
    'window:8192',
  ],
  [
    400,
    said('The prompt is too long: 140000, model maximum context length: 131071', {
      object: 'error',
      type: 'invalid_request_error',
      code: 'invalid_request_error',
    }),
    'window:131071',
  ],
  [
    422,
    said('`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`'),
    'window:8193',
  ],
  [
    400,
    said('The input token count (9000) plus max_tokens exceeds the model context length limit of 8192'),
    'window:8192',
  ],
  [400, said('Input length 9000 exceeds maximum context length of 8192'), 'window:8192'],
  [
    400,
    said('Invalid request: Your request exceeded model token limit: 8192', { type: 'invalid_request_error' }),
    'window:8192',
  ],
  [400, said('Prompt 超长', { code: '1261' }), 'window'],
  [400, said('模型输入长度超过上限', { code: '1261' }), 'window'],
  [
    400,
    said('<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]', {
      code: 'invalid_parameter_error',
    }),
    'window:30720',
  ],
  [400, said('invalid params, context window exceeds limit (2013)', { type: 'bad_request_error' }), 'window'],
  [
    400,
    said('Total tokens of image and text exceed max message tokens. Request id: 0217', {
      code: 'InvalidParameter',
      param: '',
    }),
    'window',
  ],
  [
    422,
    said('Input validation error: inputs tokens + max_new_tokens must be <= 4096', { http_status_code: 422 }),
    'window:4096',
  ],
  [
    400,
    {
      object: 'error',
      message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
      type: 'BadRequestError',
    },
    'window:8192',
  ],
  [
    400,
    {
      errors: [
        {
          code: 'invalid_input_argument',
          message:
            "Invalid input argument for Model 'x': the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model",
        },
      ],
    },
    'window:8192',
  ],
  [
    400,
    {
      error_code: 'BAD_REQUEST',
      message: '{"error_code":"BAD_REQUEST","message":"prompt token count (9000) cannot exceed 8192."}',
    },
    'window:8192',
  ],
  [
    400,
    said('The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).', {
      code: 400,
      status: 'INVALID_ARGUMENT',
    }),
    'window:1048576',
  ],
  [
    400,
    said(
      'Unable to submit request because the input token count is 1100000 but model only supports up to 1048576. Reduce the input token count and try again.',
    ),
    'window:1048576',
  ],
  [
    413,
    said('Request body too large for gpt-4o model. Max size: 8000 tokens.', { code: 'tokens_limit_reached' }),
    'window:8000',
  ],
  [
    400,
    said('prompt token count of 140000 exceeds the limit of 128000', { code: 'model_max_prompt_tokens_exceeded' }),
    'window:128000',
  ],
  [400, said('The total length of all messages is too long.', { type: 'too_many_prompt_tokens', code: 400 }), 'window'],
  [400, { error: 'prompt too long; exceeded max context length by 10 tokens' }, 'window'],
  [500, { error: 'the input length exceeds the context length' }, 'window'],
  [400, said('the prompt exceeds the context size (n_ctx: 2048)'), 'window:2048'],
  [
    413,
    {
      errors: [
        {
          message:
            'AiError: AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
          code: 5021,
        },
      ],
      success: false,
      result: {},
      messages: [],
    },
    'window:8192',
  ],
  [
    400,
    said(
      'litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - x',
      { type: null, code: '400' },
    ),
    'window',
  ],
  [
    400,
    { code: 400, reason: 'INVALID_REQUEST_BODY', message: 'The input length 9000 exceeds the maximum length 8192' },
    'window:8192',
  ],
  [
    400,
    { detail: { error: 'Input tokens 9000 + max tokens 512 must be less than model max length 8192' } },
    'window:8192',
  ],
  [400, { detail: 'Prompt exceeds max length of 256000 tokens' }, 'window:256000'],
  [400, said('input tokens exceeds model max context length'), 'window'],
  [
    400,
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message:
          'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022',
      },
    },
    'output:8192',
  ],
  [
    400,
    said(
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
      { param: 'max_tokens', code: 'invalid_value' },
    ),
    'output:16384',
  ],
  [
    400,
    said(
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
      { param: 'max_output_tokens', code: 'integer_above_max_value' },
    ),
    'output:16384',
  ],
  [400, said('Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'), 'output:8192'],
  [
    400,
    said(
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ),
    'output:8192',
  ],
  [
    400,
    said(
      'Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.',
    ),
    'output:65536',
  ],
  [
    400,
    {
      message:
        'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
    },
    'output:4096',
  ],
  [400, said('<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]'), 'output:8192'],
  [
    422,
    {
      detail: [
        { type: 'less_than_equal', loc: ['body', 'max_tokens'], msg: 'Input should be less than or equal to 4096' },
      ],
    },
    'output:4096',
  ],
  [400, said('max_tokens参数非法。取值范围为[1, 4095]', { code: '1210' }), 'output:4095'],
  [400, said('max_tokens must be <= 4096 for non-streaming requests'), 'output:4096'],
  [
    400,
    said("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", {
      param: 'max_tokens',
      code: 'unsupported_parameter',
    }),
    'features:output_limit',
  ],
  [400, { detail: 'Unsupported parameter: max_output_tokens' }, 'features:output_limit'],
  [400, said('Unrecognized request argument supplied: max_completion_tokens'), 'features:output_limit'],
  [
    400,
    said(
      "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
      { param: 'stream', code: 'unsupported_value' },
    ),
    'features:stream',
  ],
  [
    400,
    said(
      'Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings/organization/general and click on Verify Organization.',
      { param: 'stream', code: 'unsupported_value' },
    ),
    'features:stream',
  ],
  [400, said('streaming is not supported'), 'features:stream'],
  [400, { message: 'The model is unsupported for streaming. Try your request with InvokeModel.' }, 'features:stream'],
  [501, said('Streaming not implemented'), 'features:stream'],
  [400, { message: "This model doesn't support tool use in streaming mode." }, 'features:stream'],
  [
    422,
    {
      error: '`stream` != `True` only.. `best_of` != 1 is not supported when streaming tokens',
      error_type: 'validation',
    },
    'features:stream',
  ],
  [500, said('Cannot use tools with stream'), 'features:stream'],
  [400, said('Streaming is not available for models/x'), 'features:stream'],
  [
    422,
    { detail: [{ loc: ['body', 'stream'], msg: 'Input should be False', type: 'literal_error' }] },
    'features:stream',
  ],
  [400, said('Tool use is not enabled. Start the server with --enable-auto-tool-choice'), 'features:tools'],
  [
    400,
    { object: 'error', message: 'Tool call parser is not set. Please set --tool-call-parser', type: 'BadRequestError' },
    'features:tools',
  ],
  [400, said('`tool calling` is not supported with this model', { type: 'invalid_request_error' }), 'features:tools'],
  [405, { detail: 'Tools are not supported for this model' }, 'features:tools'],
  [400, said('Tool calling is not supported by this model: x'), 'features:tools'],
  [400, { message: "This model doesn't support tool use." }, 'features:tools'],
  [
    400,
    {
      message: 'Tools are not supported for this model',
      type: 'invalid_request_error',
      param: 'tools',
      code: 'wrong_api_format',
    },
    'features:tools',
  ],
  [
    400,
    said('Tool calling is not supported for this model: sonar', { type: 'invalid_parameter', code: 400 }),
    'features:tools',
  ],
  [400, said('["At body -> tools: Extra inputs are not permitted"]', { type: 'bad_request' }), 'features:tools'],
  [422, { error: 'Template error: tools not supported', error_type: 'template_error' }, 'features:tools'],
  [
    400,
    said(
      "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools'], for model=x. To drop these, set `litellm.drop_params=True`",
    ),
    'features:tools',
  ],
  [
    400,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'tools'], msg: 'Extra inputs are not permitted' }] },
    'features:tools',
  ],
  [400, { error: 'tools: array schema items is not an object' }, 'features:tools'],
  [
    400,
    { code: 'x', error: "Invalid arguments passed to the model: Tool 'bash' has an invalid schema" },
    'features:tools',
  ],
  [
    400,
    said(
      "Invalid schema for function 'bash': In context=(), 'additionalProperties' is required to be supplied and to be false.",
      { param: 'tools[0].function.parameters', code: 'invalid_function_parameters' },
    ),
    'features:tools',
  ],
  [
    400,
    said(
      '* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties: should be non-empty for OBJECT type',
      { status: 'INVALID_ARGUMENT' },
    ),
    'features:tools',
  ],
  [
    400,
    said(
      'Invalid JSON payload received. Unknown name "additionalProperties" at \'tools[0].function_declarations[0].parameters\': Cannot find field.',
      { status: 'INVALID_ARGUMENT' },
    ),
    'features:tools',
  ],
  [400, said("Function calling with a response mime type: 'application/json' is unsupported"), 'features:schema'],
  [401, said('Your key may not use tools.'), 'features:tools'],
  [401, said('This API key is not allowed to use tools'), 'features:tools'],
  [403, said('API key does not have permission to use function calling'), 'features:tools'],
  [403, said('This token has no access to vision'), 'features:images'],
  [401, said('may not use tools'), 'features:tools'],
  [
    401,
    said(
      'Incorrect API key provided: sk-xx. You can find your API key at https://platform.openai.com/account/api-keys.',
      { type: 'invalid_request_error', code: 'invalid_api_key' },
    ),
    'key',
  ],
  [
    401,
    said(
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth",
    ),
    'key',
  ],
  [401, said('User not found.', { code: 401 }), 'key'],
  [401, said('No auth credentials found', { code: 401 }), 'key'],
  [403, said('API key is disabled'), 'key'],
  [403, said('You have insufficient permissions for this operation. Missing scopes: model.request.'), 'key'],
  [
    401,
    said(
      'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      { code: '401' },
    ),
    'key',
  ],
  [401, { detail: 'Unauthorized' }, 'key'],
  [
    403,
    said(
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
      { code: 403, status: 'PERMISSION_DENIED' },
    ),
    'key',
  ],
  [403, { message: 'The security token included in the request is invalid.' }, 'key'],
  [403, { message: 'The request signature we calculated does not match the signature you provided.' }, 'key'],
  [403, { message: "You don't have access to the model with the specified model ID." }, 'key'],
  [
    400,
    { message: 'Access to Anthropic models is not allowed from unsupported countries, regions, or territories.' },
    'request',
  ],
  [
    400,
    said('At most 0 image(s) may be provided in one prompt. Set --limit-mm-per-prompt to increase this limit.'),
    'features:images',
  ],
  [400, said('x is not a multimodal model'), 'features:images'],
  [500, said('Unknown part type: image_url'), 'features:images'],
  [400, said('Unknown part type: file'), 'features:documents'],
  [
    400,
    { object: 'error', message: 'Image is not supported for this model', type: 'BadRequestError' },
    'features:images',
  ],
  [422, { error: 'Template error: unknown filter: image', error_type: 'template_error' }, 'features:images'],
  [400, { error: 'Model does not support images. Please use a model that does.' }, 'features:images'],
  [
    400,
    { error: "Invalid 'content': 'content' field must be a string or an array of objects. Got 'object'" },
    'features:images,documents,audio',
  ],
  [
    400,
    { error: "Invalid 'content': 'content' objects must have a 'type' field that is either 'text' or 'image_url'." },
    'features:images',
  ],
  [
    500,
    said(
      'rpc error: code = Unknown desc = image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    ),
    'features:images',
  ],
  [
    400,
    said(
      'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 100',
    ),
    'features:images',
  ],
  [400, said('messages[1].content must be a string'), 'features:images,documents,audio'],
  [
    400,
    said(
      "'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]",
    ),
    'features:images,documents,audio',
  ],
  [
    400,
    {
      message: "messages.1.content.1.type: Input should be 'text'",
      type: 'invalid_request_error',
      param: 'validation_error',
    },
    'features:images,documents,audio',
  ],
  [
    422,
    {
      detail: [{ type: 'string_type', loc: ['body', 'messages', 1, 'content'], msg: 'Input should be a valid string' }],
    },
    'features:images,documents,audio',
  ],
  [
    422,
    {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'messages', 1, 'content', 'list[x]', 1, 'type'],
          msg: "Input should be 'text'",
        },
      ],
    },
    'features:images,documents,audio',
  ],
  [
    400,
    { code: 'Client specified an invalid argument', error: 'Image inputs are not supported by this model.' },
    'features:images',
  ],
  [
    400,
    { object: 'error', message: 'Image input is not enabled for this model', type: 'invalid_request_message_content' },
    'features:images',
  ],
  [400, { message: 'image content is not supported for this model' }, 'features:images'],
  [
    400,
    {
      message: "This model doesn't support the image content block that you provided. Update the content and try again",
    },
    'features:images',
  ],
  [400, { message: "This model doesn't support documents. Try again without document content" }, 'features:documents'],
  [
    400,
    said('Invalid content type. image_url is only supported by certain models.', {
      type: 'invalid_request_error',
      param: 'messages.[1].content.[0].type',
    }),
    'features:images',
  ],
  [
    400,
    said("Invalid value: 'file'. Supported values are: 'text','image_url','input_audio','refusal','audio'", {
      param: 'messages[0].content[0].type',
      code: 'invalid_value',
    }),
    'features:documents',
  ],
  [400, said("Invalid value: 'input_image'. Supported values are: 'input_text'."), 'features:images'],
  [400, said('Invalid image data. Expected a base64-encoded data URL with an image MIME type'), 'files'],
  [400, said('The image is too small: 1x1. Minimum 2x2'), 'files'],
  [
    500,
    {
      error:
        'Failed to create new sequence: failed to process inputs: this model is missing data required for image input',
    },
    'features:images',
  ],
  [400, { error: 'this model does not support image input' }, 'features:images'],
  [500, { error: 'Failed to create new sequence: failed to process inputs: image: unknown format' }, 'files'],
  [
    400,
    said(
      'Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      { status: 'INVALID_ARGUMENT' },
    ),
    'files',
  ],
  [400, said('The document has no pages.', { status: 'INVALID_ARGUMENT' }), 'files'],
  [
    400,
    said(
      'messages.3.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
    ),
    'files',
  ],
  [
    400,
    said(
      'messages.0.content.21.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
    ),
    'files',
  ],
  [400, said('messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.'), 'files'],
  [
    400,
    said(
      'messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image',
    ),
    'files',
  ],
  [413, { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }, 'files'],
  [413, '<html><head><title>413 Payload Too Large</title></head></html>', 'files'],
  [
    400,
    said('Developer instruction is not enabled for models/gemma-3-1b-it', { status: 'INVALID_ARGUMENT' }),
    'features:system',
  ],
  [
    400,
    said("Unsupported value: 'messages[0].role' does not support 'system' with this model.", {
      param: 'messages[0].role',
      code: 'unsupported_value',
    }),
    'features:system',
  ],
  [
    400,
    {
      object: 'error',
      message: 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
      type: 'invalid_request_message_order',
      code: '3230',
    },
    'roles',
  ],
  [
    400,
    { object: 'error', message: "Unexpected role 'user' after role 'tool'", type: 'invalid_request_message_order' },
    'roles',
  ],
  [
    400,
    {
      object: 'error',
      message: 'Not the same number of function calls and responses',
      type: 'invalid_request_message_order',
      code: '3230',
    },
    'features:calls',
  ],
  [400, said('Last message must have role `user`.', { type: 'invalid_message', code: 400 }), 'roles'],
  [
    400,
    said('After the (optional) system message(s), user and assistant roles should be alternating.', {
      type: 'invalid_message',
    }),
    'roles',
  ],
  [
    400,
    said(
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: call_x",
    ),
    'features:calls',
  ],
  [
    400,
    said("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    'features:calls',
  ],
  [
    400,
    said(
      'messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_x. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    ),
    'features:calls',
  ],
  [
    400,
    said(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      { status: 'INVALID_ARGUMENT' },
    ),
    'features:calls',
  ],
  [400, said('Missing `reasoning_content` field in the assistant message at message index 3'), 'thoughts'],
  [
    400,
    said('The reasoning_content in the thinking mode must be passed back to the API.', {
      code: 'invalid_request_error',
    }),
    'thoughts',
  ],
  [400, said('The `content[].thinking` in the thinking mode must be passed back to the API.'), 'thoughts'],
  [400, said('Assistant messages with tool calls require the field reasoning_content in thinking mode.'), 'thoughts'],
  [400, said('messages[3].reasoning_content has to be provided with thinking enabled'), 'thoughts'],
  [400, said('The assistant message at position 2 has tool calls but no reasoning_content; it needs it.'), 'thoughts'],
  [400, said('Please keep the reasoning_content of assistant tool call messages in the context'), 'thoughts'],
  [400, said('The reasoning content of tool calling turns was dropped by the client.'), 'thoughts'],
  [400, said("Additional properties are not allowed ('reasoning_content' was unexpected)"), 'features:opaque'],
  [400, said("'reasoning_content' cannot be sent back to this model"), 'features:opaque'],
  [400, said('reasoning_content must not be sent back: the field is unknown here.'), 'features:opaque'],
  [
    400,
    said("No function calling together with reasoning_effort other than 'none' is supported in chat completions."),
    'features:chat',
  ],
  [
    400,
    said('thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'),
    'thoughts',
  ],
  [
    400,
    said(
      'preserved thinking (thinking.keep=all) requires reasoning_content on every assistant message, but assistant message at index 6 is missing reasoning_content',
    ),
    'thoughts',
  ],
  [
    400,
    said(
      "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning' is unsupported)]",
    ),
    'features:opaque',
  ],
  [
    400,
    said(
      "Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
      { param: 'reasoning_effort' },
    ),
    'features:chat',
  ],
  [
    400,
    said(
      'Function tools with reasoning_effort are not supported for gpt-5.6-luna in /v1/chat/completions. Please use /v1/responses instead.',
      { param: 'reasoning_effort' },
    ),
    'features:chat',
  ],
  [400, said('Tool calling requires the Responses API for this model.', { param: 'tools' }), 'features:chat'],
  [404, said('This model is only supported in v1/responses and not in v1/chat/completions.'), 'features:chat'],
  [
    400,
    said('Azure OpenAI Responses API is enabled only for api-version 2025-03-01-preview and later'),
    'features:responses',
  ],
  [400, said('Conversation roles must alternate user/assistant/user/assistant/... unknown'), 'roles'],
  [500, said('jinja2.exceptions.UndefinedError: dict object has no attribute content'), 'roles'],
  [
    400,
    said('This model does not support assistant message prefill. The conversation must end with a user message.'),
    'roles',
  ],
  [400, said('`reasoning_effort` must be one of `none` or `default`'), 'thinking:low/medium/high/xhigh/max'],
  [400, said('reasoning_effort is not supported with this model'), 'thinking:all'],
  [
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'reasoning_effort'], msg: 'Extra inputs are not permitted' }] },
    'thinking:all',
  ],
  [
    400,
    { message: "reasoning_effort: Input should be 'low', 'medium' or 'high'", type: 'invalid_request_error' },
    'thinking:off/xhigh/max',
  ],
  [
    400,
    said("1 validation error for ChatCompletionRequest reasoning_effort Input should be 'low', 'medium' or 'high'"),
    'thinking:off/xhigh/max',
  ],
  [400, { error: 'invalid think value: "medium" (must be "high", "medium", "low", true, or false)' }, 'thinking:this'],
  [400, { error: 'think value "max" is not supported for this model' }, 'thinking:this'],
  [400, said('The thinking budget 0 is invalid. Please choose a value between 512 and 24576.'), 'thinking:this'],
  [400, said('Thinking is not supported by this model.'), 'thinking:all'],
  [
    400,
    said('`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation'),
    'thinking:this',
  ],
  [400, said('thinking.type: "disabled" is not supported for this model'), 'thinking:this'],
  [
    400,
    said(
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
    ),
    'thinking:this',
  ],
  [
    400,
    said("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", {
      code: 'content_filter',
      status: 400,
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    }),
    'refused',
  ],
  [400, said('Input data may contain inappropriate content.', { code: 'data_inspection_failed' }), 'refused'],
  [400, said('Content Exists Risk', { type: 'invalid_request_error' }), 'refused'],
  [400, said('系统检测到输入或生成内容可能包含不安全或敏感内容', { code: '1301' }), 'refused'],
  [400, said('The request was rejected because it was considered high risk', { type: 'content_filter' }), 'refused'],
  [
    403,
    {
      code: 'The caller does not have permission',
      error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
    },
    'refused',
  ],
  [
    403,
    said('x requires moderation on y. Your input was flagged for "violence"', {
      code: 403,
      metadata: { reasons: ['violence'], flagged_input: 'x' },
    }),
    'refused',
  ],
  [400, said('Output blocked by content filtering policy', { type: 'invalid_request_error' }), 'refused'],
  [
    400,
    said(
      'The model `x` has been decommissioned and is no longer supported. Please refer to https://console.groq.com/docs/deprecations',
      { code: 'model_decommissioned' },
    ),
    'model',
  ],
  [404, { error: "model 'x' not found" }, 'model'],
  [
    404,
    said(
      'Unable to access model x. Please visit https://api.together.ai/models to view the list of supported models.',
      { code: 'model_not_available' },
    ),
    'model',
  ],
  [
    404,
    said('No models loaded. Please load a model in the developer page or use the `lms load` command.', {
      code: 'model_not_found',
    }),
    'model',
  ],
  [402, said('Insufficient credits. Add more using https://openrouter.ai/settings/credits', { code: 402 }), 'quota'],
  [
    402,
    said(
      'This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 1000.',
      { code: 402 },
    ),
    'quota',
  ],
  [402, said('Insufficient Balance'), 'quota'],
  [
    429,
    said('Your account xxx is suspended, please check your plan and billing details', {
      type: 'exceeded_current_quota_error',
    }),
    'quota',
  ],
  [
    429,
    {
      code: 'Some resource has been exhausted',
      error: 'Your team has either used all available credits or reached its monthly spending limit.',
    },
    'quota',
  ],
  [400, said('Access denied, please make sure your account is in good standing.', { code: 'Arrearage' }), 'quota'],
  [402, { error: 'You have exceeded your monthly included credits for Inference Providers.' }, 'quota'],
  [429, said('余额不足或无可用资源包,请充值。', { code: '1113' }), 'quota'],
  [
    429,
    said(
      'Rate limit reached for model `x` in organization `o` on tokens per day (TPD): Limit 100000, Used 99000, Requested 5000. Please try again in 57m36s.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    'rate',
  ],
  [
    429,
    said('Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day', {
      code: 429,
    }),
    'quota',
  ],
  [429, { error: 'Model is overloaded', error_type: 'overloaded' }, 'rate'],
  [503, { error: 'Model x is currently loading', estimated_time: 20 }, 'overload'],
  [503, said('Loading model', { type: 'unavailable_error', code: 503 }), 'overload'],
  [409, said('Request timed out waiting for lock'), 'unsaid(request)'],
  [409, said('tools are not supported while response_format is set'), 'features:schema'],
  [409, said('The deployment is being deleted.', { code: 'Conflict' }), 'unsaid(request)'],
  [410, said('Gone'), 'unsaid(request)'],
  [410, said('The model x has been retired'), 'model'],
  [400, said("Unknown parameter: 'prompt_cache_key'.", { param: 'prompt_cache_key' }), 'features:extras'],
  [400, said("Unknown parameter: 'store'.", { param: 'store', code: 'unknown_parameter' }), 'features:extras'],
  [400, said("Unsupported parameter: 'include'", { param: 'include' }), 'features:extras'],
  [400, said('thinking.enabled.display: Extra inputs are not permitted'), 'features:extras'],
  [400, { error: 'invalid JSON schema in format' }, 'schema'],
  [400, said('Failed to initialize samplers: failed to parse grammar'), 'schema'],
  [400, said("output_config.format.schema: For 'object' type, property 'minimum' is not supported"), 'schema'],
  [400, said('Schema is too complex.'), 'schema'],
  [400, said("Invalid JSON payload received. Unknown name 'x' at 'generation_config.response_schema'"), 'schema'],
  [400, said('Invalid schema.', { param: 'text.format.schema' }), 'schema'],
  [400, said('Search Grounding is not supported.', { status: 'INVALID_ARGUMENT' }), 'features:web'],
  [500, said('audio input is not supported - hint: you may need to provide the mmproj'), 'features:audio'],
  [400, said('stream_options is only allowed when stream is enabled'), 'features:extras'],
  [
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
    'features:extras',
  ],
];

it.each(BODIES)('%i %j is %s', (status, body, is) => {
  expect(takenFor(status, body)).toBe(is);
});

function takenFor(status: number, body: JsonObject | string): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const error = asFailure(new RefusedRequest(status, new Headers(), text), {
    member: openai,
    model: 'm',
    apiKey: null,
    tokens: 5000,
  });
  const refused = error instanceof RequestRefusal ? error.refused : null;
  switch (refused?.what) {
    case undefined:
      return error.code === 'window' ? ['window', windowIn(error.message) ?? []].flat().join(':') : error.code;
    case 'features':
      return `features:${refused.features.join()}`;
    case 'thinking':
      return `thinking:${typeof refused.levels === 'string' ? refused.levels : refused.levels.join('/')}`;
    case 'output':
      return `output:${refused.most}`;
    case 'unsaid':
      return `unsaid(${error.code})`;
    default:
      return refused?.what ?? '';
  }
}
