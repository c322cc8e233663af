import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { refusal, type VendorAnswer } from './vendor-server.js';
import type { Dialect } from './vendors.js';

/** Something that a server does not take, and what it says then. */
export interface Rule {
  readonly name: string;
  breaks(body: JsonObject): boolean;
  readonly status: number;
  readonly said: string;
  readonly more?: JsonObject;
}

const text = (body: JsonObject): string => JSON.stringify(body);
const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const messagesOf = (body: JsonObject): JsonObject[] => list(body.messages ?? body.input ?? body.contents);
const rolesOf = (body: JsonObject): string[] => messagesOf(body).map(({ role, type }) => String(role ?? type));
const hasSystem = (body: JsonObject): boolean =>
  rolesOf(body).includes('system') || body.system !== undefined || body.systemInstruction !== undefined;
const callsOf = (message: JsonObject): readonly JsonValue[] => [
  ...list(message.tool_calls),
  ...[...list(message.content), ...list(message.parts)].filter((one) => one.type === 'tool_use' || one.functionCall),
];
const thinks = (word: string) => (body: JsonObject) => text(body).includes(word);
const LEVEL =
  /"(?:reasoning_effort|effort|think|thinkingLevel)":"?(\w+)|"thinking":\{"type":"(disabled|enabled)|"thinkingBudget":(\d+)/;
const levelOf = (body: JsonObject): string | null => {
  const found = LEVEL.exec(text(body));
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? '').toLowerCase();
};
const isStream = ({ stream }: JsonObject): boolean => stream === true;
const hasTemperature = (body: JsonObject): boolean => text(body).includes('"temperature"');
const IMAGE = /"image_url":|"input_image"|"type":"image"|"mimeType":"image|"images":\[/;
const DOCUMENT = /"type":"file"|"input_file"|"type":"document"|application\/pdf/;
const FILE = new RegExp(`${IMAGE.source}|${DOCUMENT.source}`, 'g');
const OPAQUE =
  /"signature":|"encrypted_content"|"thoughtSignature":"(?!skip_)|"reasoning_content"|"reasoning_details"|"redacted_thinking"/;

/** What real services and templates refuse, in their own words. */
export const RULES: readonly Rule[] = [
  rule('images (OpenRouter)', 404, 'No endpoints found that support image input', (body) => IMAGE.test(text(body))),
  rule(
    'images (llama.cpp)',
    500,
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    (body) => IMAGE.test(text(body)),
  ),
  rule('images (Volcengine)', 400, 'Model do not support image input.', (body) => IMAGE.test(text(body))),
  rule(
    'one image (Anthropic)',
    400,
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 8716288 bytes > 5242880 bytes',
    (body) => IMAGE.test(text(body)),
  ),
  rule(
    'documents (DeepSeek)',
    400,
    'Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `file`, expected `text` at line 1 column 80',
    (body) => DOCUMENT.test(text(body)),
  ),
  rule(
    'anything but words (Groq)',
    400,
    "'messages.0.content' : value must be a string",
    (body) => IMAGE.test(text(body)) || DOCUMENT.test(text(body)),
  ),
  rule('signatures (Anthropic)', 400, 'messages.1.content.0: Invalid `signature` in `thinking` block', (body) =>
    OPAQUE.test(text(body)),
  ),
  rule(
    'encrypted reasoning (OpenAI)',
    400,
    'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
    (body) => OPAQUE.test(text(body)),
    { code: 'invalid_encrypted_content' },
  ),
  rule('thought signatures (Gemini)', 400, 'Corrupted thought signature.', (body) => OPAQUE.test(text(body)), {
    status: 'INVALID_ARGUMENT',
  }),
  rule(
    'reasoning_content (Groq)',
    400,
    "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'reasoning_content' is unsupported)]",
    (body) => OPAQUE.test(text(body)),
  ),
  rule(
    'tools (vLLM)',
    400,
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    (body) => list(body.tools).length > 0,
  ),
  rule('tools (llama.cpp)', 500, 'tools param requires --jinja flag', (body) => list(body.tools).length > 0),
  rule(
    'tools (OpenRouter)',
    404,
    'No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs',
    (body) => list(body.tools).length > 0,
  ),
  rule(
    'tools (Ollama)',
    400,
    'registry.ollama.ai/library/gemma:2b does not support tools',
    (body) => list(body.tools).length > 0,
  ),
  rule(
    'the role of results (Gemma 2)',
    500,
    'Conversation roles must alternate user/assistant/user/assistant/...',
    (body) => messagesOf(body).some((message) => callsOf(message).length > 0 || message.type === 'function_call'),
  ),
  rule('two calls at once (Llama 3)', 500, 'This model only supports single tool-calls at once!', (body) =>
    messagesOf(body).some((message) => callsOf(message).length > 1),
  ),
  rule('long ids (Mistral)', 400, 'Tool call IDs should be alphanumeric strings with length 9!', (body) =>
    /"(?:id|tool_call_id|call_id|tool_use_id)":"(?![a-zA-Z0-9]{9}")(?!rs_|msg_)[^"]+"/.test(text(body)),
  ),
  rule('a system message (Gemma)', 400, 'System role not supported', hasSystem),
  rule(
    'a level (OpenAI)',
    400,
    "Unsupported value: 'none' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.",
    (body) => ![null, 'high'].includes(levelOf(body)),
    { param: 'reasoning.effort', code: 'unsupported_value' },
  ),
  rule(
    'a level (Gemini)',
    400,
    'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
    (body) => ['minimal', 'none', 'disabled', 'false', '0', 'low'].includes(levelOf(body) ?? ''),
  ),
  rule(
    'thinking off (Anthropic)',
    400,
    '"thinking.type.disabled" is not supported for this model.',
    thinks('"disabled"'),
  ),
  rule(
    'any thinking (xAI)',
    400,
    'Model grok-4 does not support parameter reasoningEffort.',
    (body) => levelOf(body) !== null,
  ),
  rule('any thinking (Ollama)', 400, '"llama3" does not support thinking', (body) => levelOf(body) !== null),
  rule(
    'reasoning summaries (OpenAI)',
    400,
    'Your organization must be verified to generate reasoning summaries. Please go to: https://platform.openai.com/settings/organization/general',
    (body) => isJsonObject(body.reasoning) && body.reasoning.summary !== undefined,
    { param: 'reasoning.summary', code: 'unsupported_value' },
  ),
  rule('marks for a cache (a gateway)', 422, 'cache_control: Extra inputs are not permitted', (body) =>
    text(body).includes('"cache_control"'),
  ),
  rule('usage in the stream (an old server)', 400, 'unknown field: stream_options', (body) => 'stream_options' in body),
  rule('pieces (OpenAI)', 400, 'Your organization must be verified to stream this model.', isStream, {
    param: 'stream',
    code: 'unsupported_value',
  }),
  rule('pieces (a gateway)', 501, 'Streaming is not supported.', isStream),
  rule(
    'an option (OpenAI)',
    400,
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
    hasTemperature,
    { param: 'temperature', code: 'unsupported_value' },
  ),
  rule('an option (Anthropic)', 400, '`temperature` is deprecated for this model.', hasTemperature),
  rule(
    'a long answer (Anthropic)',
    400,
    'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022',
    ({ max_tokens }) => Number(max_tokens) > 8192,
  ),
  rule('tools (a key)', 401, 'Your API key may not use tools.', (body) => list(body.tools).length > 0),
  rule('tools (a conflict)', 409, 'Tools are not supported here.', (body) => list(body.tools).length > 0),
  rule('tools (a plan)', 402, 'Tool use requires a paid plan.', (body) => list(body.tools).length > 0),
  rule('images (a plan)', 403, 'Vision is not enabled for this account.', (body) => IMAGE.test(text(body))),
  rule(
    'all files together (nginx)',
    413,
    'Request Entity Too Large',
    (body) => (text(body).match(FILE) ?? []).length > 1,
  ),
];

/** The same, without a word that tells why. A 500 that is not to be tried again, so that a spec need not wait. */
export const WORDLESS: readonly Rule[] = [
  rule('images', 400, 'Bad Request', (body) => IMAGE.test(text(body))),
  rule('documents', 500, 'Internal Server Error', (body) => DOCUMENT.test(text(body))),
  rule('signatures', 422, '', (body) => OPAQUE.test(text(body))),
  rule('calls', 500, 'unexpected EOF', (body) =>
    messagesOf(body).some((one) => callsOf(one).length > 0 || one.type === 'function_call'),
  ),
  rule('tools', 400, 'Invalid request.', (body) => list(body.tools).length > 0),
  rule('a system message', 500, '', hasSystem),
  rule('any level', 400, 'Bad Request', (body) => levelOf(body) !== null),
  rule('options', 400, 'Bad Request', hasTemperature),
  rule('usage in the stream', 400, 'Bad Request', (body) => 'stream_options' in body),
  rule('pieces', 400, 'Bad Request', isStream),
  rule('marks for a cache', 422, '', (body) => text(body).includes('"cache_control"')),
  rule('a long answer', 400, 'Bad Request', ({ max_tokens }) => Number(max_tokens) > 4096),
  rule('images (a firewall)', 403, '<html><head><title>Access denied</title></head></html>', (body) =>
    IMAGE.test(text(body)),
  ),
  rule('calls (a firewall)', 403, 'Forbidden', (body) => messagesOf(body).some((one) => callsOf(one).length > 0)),
];

function rule(name: string, status: number, said: string, breaks: Rule['breaks'], more: JsonObject = {}): Rule {
  return { name, status, said, breaks, more };
}

/** What a server with these rules says to a request: the first rule that it breaks, or an answer. */
export function refusing(dialect: Dialect, rules: readonly Rule[]): (body: JsonObject, path?: string) => VendorAnswer {
  return (body, path = '') => {
    // Gemini is asked for a stream by the path alone.
    const stream = body.stream === true || path.includes(':stream');
    const broken = rules.find((one) => one.breaks({ ...body, stream }));
    if (broken === undefined) return stream || path === '' ? dialect.text('Fine.') : dialect.whole('Fine.');
    const { status, said, more } = broken;
    const headers = { 'x-should-retry': 'false' };
    if (said.startsWith('<')) return { status, headers: { ...headers, 'content-type': 'text/html' }, chunks: [said] };
    if (dialect.provider === 'ollama')
      return refusal(status, { error: `${more?.param ?? ''} ${said}`.trim() }, headers);
    return refusal(status, { error: { message: said, code: status, ...more } }, headers);
  };
}
