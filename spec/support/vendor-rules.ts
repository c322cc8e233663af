import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';

/** The protocols whose rules are known here. */
export type Protocol = 'chat' | 'responses' | 'messages' | 'generateContent' | 'ollama';

/** What a vendor would refuse in a request, one sentence each; empty when it would take it. */
export function broken(protocol: Protocol, body: JsonObject): string[] {
  return [...RULES[protocol](body), ...surrogates(body)];
}

/** The protocol that a path of a vendor's service speaks. */
export function protocolOf(path: string): Protocol {
  if (path.endsWith('/chat/completions')) return 'chat';
  if (path.endsWith('/responses')) return 'responses';
  if (path.endsWith('/messages')) return 'messages';
  return path.endsWith('/api/chat') ? 'ollama' : 'generateContent';
}

const RULES: Readonly<Record<Protocol, (body: JsonObject) => string[]>> = {
  chat(body) {
    const messages = list(body.messages);
    return [
      ...expectThat(body.stream === true, 'it is no stream'),
      ...pairs(
        messages.flatMap((message, at) =>
          list(message.tool_calls).map((call) => ({
            id: String(call.id),
            next: following(messages, at, 'tool', 'tool_call_id'),
          })),
        ),
        messages.filter((message) => message.role === 'tool').map((message) => String(message.tool_call_id)),
      ),
      ...messages.flatMap((message) =>
        list(message.tool_calls).flatMap((call) => [
          ...expectThat(/^[\w-]{1,40}$/.test(String(call.id)), `tool call id '${call.id}'`),
          ...expectThat(isJson(object(call.function).arguments), 'arguments that are no JSON'),
        ]),
      ),
      ...messages.flatMap((message) =>
        expectThat(message.content !== '' || message.role === 'tool', `an empty ${message.role} message`),
      ),
      ...expectThat(
        messages.every(
          ({ role, content, tool_calls }) => role !== 'assistant' || content !== null || list(tool_calls).length > 0,
        ),
        'an assistant message of nothing',
      ),
    ];
  },
  responses(body) {
    const items = list(body.input);
    const outputs = items.filter((item) => item.type === 'function_call_output').map((item) => String(item.call_id));
    const calls = items.filter((item) => item.type === 'function_call').map((item) => String(item.call_id));
    return [
      ...expectThat(body.stream === true && body.store === false, 'it is no stream, or it is stored'),
      ...expectThat(calls.join() === outputs.join(), `calls ${calls} with results ${outputs}`),
      ...items.flatMap((item, at) =>
        item.type !== 'reasoning'
          ? []
          : [
              ...expectThat(typeof item.encrypted_content === 'string', 'reasoning that is not encrypted'),
              ...expectThat(
                isJsonObject(items[at + 1]) && typeof items[at + 1]?.id === 'string',
                'reasoning without what followed it',
              ),
            ],
      ),
    ];
  },
  messages(body) {
    const messages = list(body.messages);
    const blocks = messages.map((message) => list(message.content));
    return [
      ...expectThat(body.stream === true && Number(body.max_tokens) > 0, 'it is no stream, or has no max_tokens'),
      ...alternating(messages, 'assistant'),
      ...blocks
        .flat()
        .flatMap((block) => [
          ...expectThat(block.type !== 'text' || String(block.text).trim() !== '', 'an empty text block'),
          ...expectThat(
            block.type !== 'thinking' || typeof block.signature === 'string',
            'thinking without its signature',
          ),
          ...expectThat(block.type !== 'tool_use' || /^[\w-]+$/.test(String(block.id)), `tool use id '${block.id}'`),
        ]),
      ...blocks.flatMap((content, at) => {
        const calls = content.filter((block) => block.type === 'tool_use').map((block) => String(block.id));
        const answers = (blocks[at + 1] ?? []).slice(0, calls.length).map((block) => String(block.tool_use_id));
        return expectThat(same(calls, answers), `calls ${calls} followed by results ${answers}`);
      }),
      ...expectThat(
        count(blocks.flat(), 'tool_use') === count(blocks.flat(), 'tool_result'),
        'a result without its call',
      ),
      ...expectThat(JSON.stringify(body).split('"cache_control"').length <= 5, 'more than four cache breakpoints'),
    ];
  },
  generateContent(body) {
    const contents = list(body.contents);
    const parts = contents.map((content) => list(content.parts));
    return [
      ...alternating(contents, 'model'),
      ...parts.flatMap((own, at) => {
        const calls = own.flatMap((part) => (part.functionCall ? [named(part.functionCall)] : []));
        const answers = (parts[at + 1] ?? []).flatMap((part) =>
          part.functionResponse ? [named(part.functionResponse)] : [],
        );
        return expectThat(calls.join() === answers.join(), `calls ${calls} followed by responses ${answers}`);
      }),
      ...parts.flat().flatMap((part) => expectThat(Object.keys(part).length > 0, 'a part of nothing')),
      ...expectThat(
        parts.every((own) => own.length > 0),
        'a content of nothing',
      ),
    ];
  },
  ollama(body) {
    const messages = list(body.messages);
    return [
      ...expectThat(
        body.stream === true && Number(object(body.options).num_ctx) > 0,
        'it is no stream, or has no num_ctx',
      ),
      ...messages.flatMap((message, at) => {
        const calls = list(message.tool_calls).map((call) => String(object(call.function).name));
        const answers = following(messages, at, 'tool', 'tool_name');
        return expectThat(
          calls.length === 0 || calls.join() === answers.join(),
          `calls ${calls} followed by results ${answers}`,
        );
      }),
      ...expectThat(
        messages.flatMap((message) => list(message.tool_calls)).length ===
          messages.filter((message) => message.role === 'tool').length,
        'a result without its call',
      ),
    ];
  },
};

function alternating(messages: readonly JsonObject[], other: string): string[] {
  const roles = messages.map((message) => message.role);
  return expectThat(
    roles.every((role, at) => role === (at % 2 === 0 ? 'user' : other)),
    `roles ${roles.join(', ')}`,
  );
}

function pairs(
  calls: readonly { readonly id: string; readonly next: readonly string[] }[],
  answered: readonly string[],
): string[] {
  return [
    ...calls.flatMap(({ id, next }) => expectThat(next.includes(id), `call '${id}' is not followed by its result`)),
    ...expectThat(calls.length === answered.length, 'a result without its call'),
  ];
}

/** The `field` of the messages of `role` that follow directly. */
function following(messages: readonly JsonObject[], at: number, role: string, field: string): string[] {
  const rest = messages.slice(at + 1);
  const end = rest.findIndex((message) => message.role !== role);
  return rest.slice(0, end < 0 ? undefined : end).map((message) => String(message[field]));
}

function named(value: JsonValue | undefined): string {
  const { name, id } = object(value);
  return id === undefined ? String(name) : `${name}#${id}`;
}

function surrogates(body: JsonObject): string[] {
  return expectThat(!/(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(JSON.stringify(body)), 'a lone surrogate');
}

function expectThat(holds: boolean, otherwise: string): string[] {
  return holds ? [] : [otherwise];
}

const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const object = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
const count = (blocks: readonly JsonObject[], type: string): number =>
  blocks.filter((block) => block.type === type).length;
const same = (one: readonly string[], other: readonly string[]): boolean =>
  [...one].sort().join() === [...other].sort().join();

function isJson(value: JsonValue | undefined): boolean {
  try {
    JSON.parse(String(value));
    return true;
  } catch {
    return false;
  }
}
