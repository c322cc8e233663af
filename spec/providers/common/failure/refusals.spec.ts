import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../lib/chat/json.js';
import type { Feature } from '../../../../lib/chat/model.js';
import { RefusedRequest } from '../../../../lib/http/fetch.js';
import { type Refused, RequestRefusal } from '../../../../lib/providers/common/provider.js';
import { asFailure } from '../../../../lib/providers/common/provider-failure.js';
import { openai } from '../../../../lib/providers/openai.js';

const takesNo = (...features: readonly Feature[]): Refused => ({ what: 'features', features });
const level: Refused = { what: 'thinking', levels: 'this' };
const noLevel: Refused = { what: 'thinking', levels: 'all' };
const files: Refused = { what: 'files' };
const unsaid = (isCertain: boolean): Refused => ({ what: 'unsaid', isCertain });

/** The error that a body is taken for. */
function failureOf(status: number, body: JsonObject | string) {
  return asFailure(new RefusedRequest(status, new Headers(), typeof body === 'string' ? body : JSON.stringify(body)), {
    member: openai,
    model: 'm',
    apiKey: null,
  });
}

/** The refusal that a body is taken for; null for any other error. */
function refusedBy(status: number, body: JsonObject | string): Refused | null {
  const error = failureOf(status, body);
  return error instanceof RequestRefusal ? error.refused : null;
}

const said = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } });

describe('a feature that a server refuses', () => {
  it.each<[string, number, Refused]>([
    ['this model does not support image input (ref: b8bd630e-4a39-4b57-82af-9158ee9d5703)', 400, takesNo('images')],
    ['Model do not support image input. Request id: 021772629268392a', 400, takesNo('images')],
    ['No endpoints found that support image input', 404, takesNo('images')],
    ['Images are not available on the free tier', 429, takesNo('images')],
    ['Function calling requires a paid plan', 402, takesNo('tools')],
    ['tools are not supported by this deployment', 503, takesNo('tools')],
    ['cache_control: Extra inputs are not permitted', 400, takesNo('extras')],
    ['unknown field: stream_options', 400, takesNo('extras')],
    ['reasoning_effort is not supported', 400, noLevel],
    [
      'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      500,
      takesNo('images'),
    ],
    ['Invalid content type. image_url is only supported by certain models.', 400, takesNo('images')],
    ['At most 0 image(s) may be provided in one request.', 418, takesNo('images')],
    [
      'template: :12:34: executing "" at <.ToolCalls>: nil pointer evaluating interface {}.tool_calls',
      500,
      { what: 'roles' },
    ],
    ['Image input modality is not enabled for models/gemma-3-1b-it', 400, takesNo('images')],
    ['qwen3-8b is not a multimodal model', 400, takesNo('images')],
    ['At most 0 image(s) may be provided in one prompt.', 400, takesNo('images')],
    [
      'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, expected `text`',
      400,
      takesNo('images'),
    ],
    [
      'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `file`, expected `text`',
      400,
      takesNo('documents'),
    ],
    ['Unsupported MIME type: application/pdf', 400, takesNo('documents')],
    ["'messages.0.content' : value must be a string", 400, takesNo('images', 'documents', 'audio')],
    ['unsupported content[].type', 500, takesNo('images', 'documents', 'audio')],

    ['messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 8716288 bytes > 5242880 bytes', 400, files],
    ['Could not process image', 400, files],
    [
      'The image data you provided does not represent a valid image. Please check your input and try again.',
      400,
      files,
    ],
    ['You uploaded an unsupported image. Please make sure your image has of one the following formats', 400, files],

    ['messages.1.content.0: Invalid `signature` in `thinking` block', 400, takesNo('opaque')],
    ['Corrupted thought signature.', 400, takesNo('opaque')],
    ['Function call is missing a thought_signature in functionCall parts.', 400, takesNo('opaque')],
    ["Item 'rs_68a' of type 'reasoning' was provided without its required following item.", 400, takesNo('opaque')],
    [
      "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
      400,
      takesNo('opaque'),
    ],
    [
      '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
      400,
      takesNo('opaque'),
    ],

    ['"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set', 400, takesNo('tools')],
    ['tools param requires --jinja flag', 500, takesNo('tools')],
    [
      'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs',
      404,
      takesNo('tools'),
    ],
    ['registry.ollama.ai/library/gemma:2b does not support tools', 400, takesNo('tools')],
    [
      'tools is not supported in this model. For a list of supported models, refer to https://platform.openai.com/docs',
      400,
      takesNo('tools'),
    ],
    ['Function calling is not enabled for models/gemma-3-27b-it', 400, takesNo('tools')],
    ['Tool use with function calling is unsupported', 400, takesNo('tools')],
    ['Functions are not supported for this API version or this model version.', 400, takesNo('tools')],
    ['<400> InternalError.Algo.InvalidParameter: The tool call is not supported.', 400, takesNo('tools')],
    ['deepseek-reasoner does not support Function Calling', 400, takesNo('tools')],

    ['This model only supports single tool-calls at once!', 500, takesNo('parallel_calls')],
    ['Tool call IDs should be alphanumeric strings with length 9!', 500, takesNo('call_ids')],
    ['Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9.', 400, takesNo('call_ids')],
    ['System role not supported', 400, takesNo('system')],
    ['Developer instruction is not enabled for models/gemma-3-27b-it', 400, takesNo('system')],
    ["Unsupported value: 'messages[0].role' does not support 'system' with this model.", 400, takesNo('system')],
    ['Conversation roles must alternate user/assistant/user/assistant/...', 400, { what: 'roles' }],
    [
      "Role 'function' is not supported. Please use a valid role: SYSTEM, USER, ASSISTANT, MODEL.",
      400,
      { what: 'roles' },
    ],
    ['No user query found in messages.', 500, { what: 'roles' }],

    ['Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.', 400, level],
    ['Budget 0 is invalid. This model only works in thinking mode.', 400, level],
    ['"thinking.type.disabled" is not supported for this model.', 400, level],
    [
      "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
      400,
      level,
    ],
    [
      'Function tools with reasoning_effort are not supported for gpt-5.6-sol in /v1/chat/completions.',
      400,
      takesNo('chat'),
    ],
    ['Tool calling requires the Responses API for this model.', 400, takesNo('chat')],
    [
      'gpt-6.1-terra does not support function calling via Chat Completions. Migrate to /v1/responses.',
      400,
      takesNo('chat'),
    ],
    [
      'Unsupported parameter: tools is not supported here on /chat/completions; use /responses instead.',
      400,
      takesNo('chat'),
    ],
    ['The chatCompletion operation does not work with the specified model, gpt-6.1-sol.', 400, takesNo('chat')],
    ['Tools are not supported by the Responses API.', 400, takesNo('responses')],
    ['"llama3" does not support thinking', 400, noLevel],
    ['Model grok-4 does not support parameter reasoningEffort.', 400, noLevel],
    ['Unrecognized request argument supplied: reasoning_effort', 400, noLevel],
    ['adaptive thinking is not supported on this model', 400, noLevel],
    ['This model does not support the effort parameter.', 400, noLevel],
    [
      "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
      400,
      { what: 'thinking', levels: ['off', 'xhigh'] },
    ],
    [
      'output_config.effort "xhigh" is not supported by model claude-opus-4.7; supported values: [medium]',
      400,
      { what: 'thinking', levels: ['off', 'low', 'high', 'xhigh', 'max'] },
    ],

    ['Internal Server Error', 500, unsaid(false)],
    ['', 500, unsaid(false)],
    ['', 502, unsaid(false)],
    ['The server had an error while processing your request. Please try again later.', 500, unsaid(false)],
    ['llama runner process has terminated: exit status 2', 500, unsaid(false)],
    ['', 400, unsaid(true)],
    ['Unprocessable Entity', 422, unsaid(true)],
    ['Vision is not enabled for this account.', 403, takesNo('images')],
    ['This model does not support image inputs', 401, takesNo('images')],
    ['Tool use is not allowed on your plan', 403, takesNo('tools')],
    ['Request Entity Too Large', 413, files],
    ['The request is wrong.', 400, unsaid(true)],
    ['File Not Found', 404, unsaid(true)],
    ['Cannot POST /v2/chat/completions', 404, unsaid(true)],
  ])('%s (%i)', (message, status, refused) => {
    expect(refusedBy(status, said(message))).toEqual(refused);
  });

  it('may be named by a page, unless that says that nothing exists there', () => {
    const page = (title: string) => `<html><title>${title}</title></html>`;
    expect(refusedBy(400, page('Bad Request'))).toEqual(unsaid(true));
    expect(refusedBy(451, said('No.'))).toEqual(unsaid(true));
    expect(refusedBy(404, page('Not Found'))).toBeNull();
    const body = (text: string) => `${page('Not Found')}<script>x = 'unsupported image'</script><p>${text}</p>`;
    expect(refusedBy(404, body('unsupported content type <code>image_url</code>'))).toEqual(takesNo('images'));
    expect(refusedBy(404, body('Unrecognized argument: &quot;tools&quot;'))).toEqual(takesNo('tools'));
    expect(refusedBy(404, body('Unsupported value.'))).toEqual(unsaid(true));
    expect(refusedBy(404, body('The requested document was not found on this server.'))).toBeNull();
    expect(refusedBy(404, body('Unknown path'))).toBeNull();
    expect(refusedBy(404, JSON.stringify('Unrecognized argument: tools'))).toEqual(takesNo('tools'));
    expect(refusedBy(403, page('Forbidden'))).toEqual(unsaid(false));
    expect(refusedBy(403, 'Forbidden')).toEqual(unsaid(false));
  });

  it('is no reason to send the same request again, unless the message says nothing and the failure may be temporary', () => {
    for (const [message, status] of [
      ['image input is not supported', 500],
      ['Bad Request', 400],
      ['No vision here', 403],
    ] as const) {
      expect(failureOf(status, said(message))).toMatchObject({ code: 'request', retryable: false });
    }
    expect(failureOf(500, said('Internal Server Error'))).toMatchObject({ code: 'overload', retryable: true });
    expect(failureOf(413, said('Request Entity Too Large'))).toMatchObject({ code: 'window', retryable: false });
  });

  it('is read from the `param` of OpenAI and compatible servers', () => {
    const values =
      "Unsupported value: 'none' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.";
    expect(refusedBy(400, said(values, { param: 'reasoning.effort', code: 'unsupported_value' }))).toEqual({
      what: 'thinking',
      levels: ['off', 'low', 'medium', 'xhigh', 'max'],
    });
    expect(refusedBy(400, said('Unsupported parameter.', { param: 'parallel_tool_calls' }))).toEqual(
      takesNo('parallel_calls'),
    );
    expect(refusedBy(400, said('Extra inputs are not permitted.', { param: 'tools' }))).toEqual(takesNo('tools'));
  });

  it('is read from a list of details', () => {
    const detail = [
      { type: 'extra_forbidden', loc: ['body', 'reasoning_effort'], msg: 'Extra inputs are not permitted' },
    ];
    expect(refusedBy(422, { detail })).toEqual(noLevel);
  });
});

describe('an error that is not a refusal of a feature', () => {
  it.each<[string, number]>([
    ['prompt is too long: 200001 tokens > 200000 maximum', 400],
    ['Incorrect API key provided: sk-1234', 401],
    ['Rate limit reached for tools', 429],
    ['The model `gpt-9` does not exist or you do not have access to it.', 404],
    ['Your credit balance is too low to access the Anthropic API.', 400],
    ['Your project has exceeded its monthly spending cap.', 429],
    ['You have hit your monthly spend limit.', 429],
    ['Your API key does not have access to this project.', 403],
    ['Country, region, or territory not supported', 403],
    ['The image service is overloaded', 503],
    ['The model is loading, try again later.', 500],
    ['Service Unavailable', 503],
    ['upstream connect error or disconnect/reset before headers', 500],
    ['model requires more system memory (18.1 GiB) than is available (11.9 GiB)', 500],
    ['Incorrect API key provided: sk-1234. It may not be used for images.', 401],
    ['The request signature we calculated does not match the one of your image request', 403],
    ['User location is not supported for the API use.', 400],
    ['Method Not Allowed', 405],
  ])('%s (%i)', (message, status) => {
    expect(refusedBy(status, said(message))).toBeNull();
  });
});
