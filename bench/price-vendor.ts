import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isJsonObject, type JsonObject, type JsonValue } from '../lib/chat/json.js';
import { type Cache, dollars, MarkedCache, type Piece, PrefixCache, type Prices, tokensOf } from './price-cache.js';

/** A vendor as its documentation describes it. */
interface VendorRules {
  readonly model: string;
  readonly smallModel: string;
  readonly path: string;
  /** Null where nothing is paid for. */
  readonly prices: { readonly main: Prices; readonly small: Prices } | null;
  /** Input above this number of tokens costs twice as much, and all output too. */
  readonly doubleAbove: number;
  cache(): Cache;
}

const flat = (input: number, read: number, output: number): Prices => {
  return { input, write: null, slowWrite: null, read, output };
};

export const RULES = {
  anthropic: {
    model: 'claude-sonnet-5.5',
    smallModel: 'claude-haiku-5',
    path: '',
    prices: { main: { input: 2, write: 2.5, slowWrite: 4, read: 0.1, output: 10 }, small: flat(0.1, 0.01, 0.5) },
    doubleAbove: Number.POSITIVE_INFINITY,
    cache: () => new MarkedCache(),
  },
  openai: {
    model: 'gpt-6.1-sol',
    smallModel: 'gpt-6.1-mini',
    path: '/v1',
    prices: { main: { input: 2, write: 2.5, slowWrite: null, read: 0.1, output: 10 }, small: flat(0.1, 0.01, 0.5) },
    doubleAbove: 272_000,
    cache: () => new PrefixCache({ life: 1800, step: 128, isWritten: true }),
  },
  gemini: {
    model: 'gemini-3.8-flash',
    smallModel: 'gemini-3.8-flash-lite',
    path: '',
    prices: { main: flat(0.75, 0.075, 3.75), small: flat(0.3, 0.03, 2.5) },
    doubleAbove: Number.POSITIVE_INFINITY,
    cache: () => new PrefixCache({ life: 300, step: 1, isWritten: false }),
  },
  ollama: {
    model: 'large',
    smallModel: 'small',
    path: '',
    prices: null,
    doubleAbove: Number.POSITIVE_INFINITY,
    cache: () => new PrefixCache({ life: 300, step: 1, isWritten: false }),
  },
} as const satisfies Readonly<Record<string, VendorRules>>;

export type PricedVendor = keyof typeof RULES;

export const VENDOR_NAMES = Object.keys(RULES) as readonly PricedVendor[];

/** What the model does next: it reads these files, one after another, and then answers. */
interface Script {
  readonly files: readonly string[];
  readonly answer: string;
}

/** One request as the vendor saw it. */
export interface Billed {
  /** Characters of the body. */
  readonly body: number;
  readonly isSummary: boolean;
  readonly read: number;
  readonly all: number;
  readonly dollars: number;
}

/** A question as it was sent. */
export interface AskedOnce {
  readonly pieces: readonly Piece[];
  readonly at: number;
  readonly output: number;
}

export interface PricedServer {
  readonly base: string;
  readonly bills: readonly Billed[];
  /** All requests but summaries. */
  readonly asked: readonly AskedOnce[];
  /** Sets what the next question brings, and when it is asked, in seconds. */
  next(script: Script, now: number): void;
  close(): Promise<void>;
}

/** The window that the vendors report. */
const WINDOW = 1_000_000;

/** The seconds from one request of a turn to the next. */
const STEP = 4;

const SUMMARY = `=== SUMMARY ===\n${'They talked about what was asked and went on with it. '.repeat(40)}\n=== NEW FACTS ===\n`;

/** A vendor on loopback that counts what each request would cost, and tells it as usage. */
export async function startPricedServer(vendor: PricedVendor): Promise<PricedServer> {
  const rules: VendorRules = RULES[vendor];
  const caches = { main: rules.cache(), small: rules.cache() };
  const bills: Billed[] = [];
  const asked: AskedOnce[] = [];
  let [script, now, step] = [{ files: [], answer: '' } as Script, 0, 0];
  const answered = (text: string, path: string): { readonly type: string; readonly text: string } => {
    const body: JsonObject = JSON.parse(text);
    const isSummary = modelOf(body, path) !== rules.model;
    const [pieces, at] = [piecesOf(vendor, body), now + STEP * step];
    const counted = caches[isSummary ? 'small' : 'main'].take(pieces, at);
    const all = counted.read + counted.written + counted.writtenSlowly + counted.rest;
    const file = isSummary ? undefined : script.files[step];
    const reply = isSummary ? SUMMARY : file === undefined ? script.answer : '';
    if (!isSummary) step += 1;
    const output = file === undefined ? tokensOf(reply.length) : 30;
    if (!isSummary) asked.push({ pieces, at, output });
    const price = rules.prices?.[isSummary ? 'small' : 'main'];
    const times = all > rules.doubleAbove ? 2 : 1;
    const cost = price === undefined ? 0 : times * dollars(counted, output, price);
    bills.push({ body: text.length, isSummary, read: counted.read, all, dollars: cost });
    const usage = { read: counted.read, written: counted.written + counted.writtenSlowly, all, output };
    const told = { text: reply, file: file ?? null, usage, number: bills.length };
    return path.endsWith('/responses') ? responses(told) : DIALECTS[vendor](told);
  };
  const server = createServer(async (request, response) => {
    const text = await bodyOf(request);
    const path = request.url ?? '';
    const told = request.method === 'GET' || path.startsWith('/api/show') ? factsOf(rules, path) : null;
    const { type, text: sent } =
      told === null ? answered(text, path) : { type: 'application/json', text: JSON.stringify(told) };
    response.writeHead(200, { 'content-type': type }).end(sent);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}${rules.path}`,
    bills,
    asked,
    next: (given, at) => {
      [script, now, step] = [given, at, 0];
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function modelOf({ model }: JsonObject, path: string): string {
  return typeof model === 'string' ? model : (/models\/([^:]+):/.exec(path)?.[1] ?? '');
}

/** What a vendor tells of its models: their window, each in its own words. */
function factsOf({ model, smallModel }: VendorRules, path: string): JsonObject {
  const facts = { context_window: WINDOW, context_length: WINDOW, max_input_tokens: WINDOW, inputTokenLimit: WINDOW };
  if (path.startsWith('/api/show')) return { model_info: { 'general.architecture': 'x', 'x.context_length': WINDOW } };
  const models = [model, smallModel].map((id) => ({ ...facts, id, name: id, model: id, object: 'model' }));
  if (path.startsWith('/api/')) return { models };
  return models.find(({ id }) => path.endsWith(`/${id}`)) ?? { object: 'list', data: models };
}

const list = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** The pieces of a request in the order in which its vendor reads it. */
function piecesOf(vendor: PricedVendor, body: JsonObject): readonly Piece[] {
  const plain = (value: JsonValue | undefined): Piece => ({ text: JSON.stringify(value ?? null), kept: null });
  if (vendor !== 'anthropic') {
    const { tools, systemInstruction, messages, contents, input, prompt_cache_options: options } = body;
    const { ttl, mode } = isJsonObject(options) ? options : {};
    const kept = ttl === '12h' ? 12 * 3600 : mode === 'explicit' ? 0 : null;
    const pieces = [plain(tools), plain(systemInstruction), ...list(messages ?? contents ?? input).map(plain)];
    return pieces.map((piece) => ({ ...piece, kept }));
  }
  const system = typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : list(body.system);
  const said = list(body.messages).flatMap(({ role, content }) => {
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
    return blocks.map((block): JsonObject => ({ ...block, role: role ?? null }));
  });
  return [...list(body.tools), ...system, ...said].map(({ cache_control: mark, ...block }) => ({
    text: JSON.stringify(block),
    kept: isJsonObject(mark) ? (mark.ttl === '1h' ? 3600 : 300) : null,
  }));
}

interface Told {
  readonly text: string;
  /** A file to read; null for none. */
  readonly file: string | null;
  readonly usage: { readonly read: number; readonly written: number; readonly all: number; readonly output: number };
  readonly number: number;
}

const sse = (...events: readonly JsonObject[]): { readonly type: string; readonly text: string } => ({
  type: 'text/event-stream',
  text: events
    .map((event) => `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`)
    .join(''),
});

/** An answer of OpenAI's Responses API. */
function responses({ text, usage: { read, all, output }, number }: Told) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const item = { type: 'message', id: `msg_${number}`, role: 'assistant', content };
  const usage = { input_tokens: all, output_tokens: output, input_tokens_details: { cached_tokens: read } };
  return sse(
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id: `r${number}`, model: RULES.openai.model, output: [], usage } },
  );
}

/** An answer in each vendor's form. */
const DIALECTS: Readonly<Record<PricedVendor, (told: Told) => { readonly type: string; readonly text: string }>> = {
  anthropic: ({ text, file, usage, number }) => {
    const { read, written, all, output } = usage;
    const input = { cache_read_input_tokens: read, cache_creation_input_tokens: written };
    const message = { id: `m${number}`, type: 'message', role: 'assistant', model: RULES.anthropic.model, content: [] };
    const [block, delta]: [JsonObject, JsonObject] =
      file === null
        ? [
            { type: 'text', text: '' },
            { type: 'text_delta', text },
          ]
        : [
            { type: 'tool_use', id: `toolu_${number}`, name: 'read_file', input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify({ path: file }) },
          ];
    return sse(
      {
        type: 'message_start',
        message: { ...message, usage: { ...input, input_tokens: all - read - written, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: file === null ? 'end_turn' : 'tool_use' },
        usage: { output_tokens: output },
      },
      { type: 'message_stop' },
    );
  },
  openai: ({ text, file, usage: { read, all, output }, number }) => {
    const chunk = { id: `c${number}`, object: 'chat.completion.chunk', created: 1, model: RULES.openai.model };
    const call = { name: 'read_file', arguments: JSON.stringify({ path: file }) };
    const delta =
      file === null
        ? { content: text }
        : { tool_calls: [{ index: 0, id: `call_${number}`, type: 'function', function: call }] };
    const usage = { prompt_tokens: all, completion_tokens: output, prompt_tokens_details: { cached_tokens: read } };
    const events = sse(
      { ...chunk, choices: [{ index: 0, delta, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: file === null ? 'stop' : 'tool_calls' }] },
      { ...chunk, choices: [], usage },
    );
    return { ...events, text: `${events.text}data: [DONE]\n\n` };
  },
  gemini: ({ text, file, usage: { read, all, output } }) => {
    const part = file === null ? { text } : { functionCall: { name: 'read_file', args: { path: file } } };
    return sse({
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: all, candidatesTokenCount: output, cachedContentTokenCount: read },
    });
  },
  ollama: ({ text, file, usage: { all, output } }) => {
    const { model } = RULES.ollama;
    const calls = file === null ? {} : { tool_calls: [{ function: { name: 'read_file', arguments: { path: file } } }] };
    const lines = [
      { model, message: { role: 'assistant', content: text, ...calls }, done: false },
      { model, message: { role: 'assistant', content: '' }, done: true, done_reason: 'stop' },
    ];
    const counts = { prompt_eval_count: all, eval_count: output };
    return {
      type: 'application/x-ndjson',
      text: lines.map((line) => `${JSON.stringify(line.done ? { ...line, ...counts } : line)}\n`).join(''),
    };
  },
};
