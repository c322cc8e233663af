import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ElicitRequest,
  type ElicitResult,
  type Progress,
  ProtocolError,
  type RequestOptions,
  type Client as SdkClient,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type StandardSchemaV1,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { monotonic } from '../../waits.js';
import type { Elicitation, ElicitationAnswer } from '../base/elicitation.js';
import type { Listing } from '../definitions/read-offer.js';
import { type CallLimits, type Client, ErrorResponse, SessionExpired } from './client.js';

/** How many pages of a list are read. */
const MOST_PAGES = 64;

/** Disables the SDK's own limit, which would also count while the user is asked. */
const NEVER = 2 ** 31 - 1;

/** How long after a server stopped reporting changes it is asked again, in milliseconds. */
const LISTEN_AGAIN_MS = 10_000;

/** How long the answer to a call may come after something that is no message, in milliseconds. */
const LATE_ANSWER_MS = 1000;

/** The SDK itself reports this progress when it passes a question on. */
const OWN_PROGRESS = 'Fulfilling input required by ';

/** Accepts any result. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'hi', validate: (value) => ({ value }) },
};

/** Asks the user. */
export type AskUser = (question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

/** A call that is waited for. */
interface RunningCall {
  readonly silence: Silence;
  readonly limits: CallLimits;
}

/** An open connection of the SDK's client. */
export class AdaptedClient implements Client {
  readonly #client: SdkClient;
  readonly #timeout: number;
  readonly #ask: AskUser | null;
  /** The running calls. */
  readonly #calls = new Set<RunningCall>();
  #changed: () => void = () => {};
  #isClosed = false;
  /** The latest question to the user: one question at a time. */
  #question: Promise<unknown> = Promise.resolve();

  constructor(client: SdkClient, timeout: number, ask: AskUser | null) {
    this.#client = client;
    this.#timeout = timeout;
    this.#ask = ask;
    client.setRequestHandler('elicitation/create', (request) => this.#elicit(request));
  }

  /**
   * Ends the running calls when something went wrong on the way: at once if the server is gone, which `isThere` asks,
   * and after a moment if it sent what is no message, unless the answer comes after all.
   */
  async failed(error: unknown, isThere: () => Promise<boolean>): Promise<void> {
    const running = [...this.#calls];
    if (running.length === 0 || this.#isClosed) return;
    const isWrong = error instanceof Error && error.name.includes('ZodError');
    if (isWrong) await sleep(LATE_ANSWER_MS, undefined, { ref: false });
    else if (await isThere()) return;
    const reason = isWrong ? 'It sent an answer that is none of the protocol.' : 'The connection was lost.';
    for (const { silence } of running) silence.end(new HiError('network', reason));
  }

  async list(): Promise<Listing> {
    const limit = { timeout: this.#timeout, cacheMode: 'refresh' } as const;
    const offers = this.#client.getServerCapabilities() ?? {};
    const hasResources = offers.resources !== undefined;
    const [tools, prompts, resources, templates] = await Promise.all([
      offers.tools === undefined ? { tools: [] } : this.#tools(limit.timeout),
      offers.prompts === undefined
        ? { prompts: [] }
        : this.#client.listPrompts({}, limit).catch(() => ({ prompts: [] })),
      hasResources ? this.#client.listResources({}, limit).catch(() => ({ resources: [] })) : { resources: [] },
      hasResources
        ? this.#client.listResourceTemplates({}, limit).catch(() => ({ resourceTemplates: [] }))
        : { resourceTemplates: [] },
    ]);
    const lifetime: unknown = Reflect.get(tools, 'ttlMs');
    return {
      tools: tools.tools,
      prompts: prompts.prompts,
      resources: resources.resources,
      templates: templates.resourceTemplates,
      instructions: this.#client.getInstructions(),
      prior: this.#prior,
      expires: typeof lifetime === 'number' && lifetime > 0 ? Date.now() + lifetime : null,
    };
  }

  /** The SDK refuses a whole list for one malformed tool. If so, every page is accepted unchecked. */
  async #tools(timeout: number): Promise<{ readonly tools: readonly unknown[] }> {
    try {
      return await this.#client.listTools({}, { timeout, cacheMode: 'refresh' });
    } catch (thrown) {
      if (!SdkError.isInstance(thrown) || thrown.code !== SdkErrorCode.InvalidResult) throw thrown;
    }
    let tools: readonly unknown[] | null = null;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const given = await this.#client.request({ method: 'tools/list', params }, ANYTHING, { timeout });
      const result: JsonObject = isJsonObject(given) ? given : {};
      if (Array.isArray(result.tools)) tools = [...(tools ?? []), ...result.tools];
      if (typeof result.nextCursor !== 'string' || result.nextCursor === cursor) break;
      cursor = result.nextCursor;
    }
    if (tools === null) throw new HiError('network', 'Its answer is not a list of tools.');
    return { tools };
  }

  async call(tool: string, args: JsonObject, limits: CallLimits): Promise<unknown> {
    const params = { name: tool, arguments: { ...args } };
    // Only the newer form puts arguments into headers, which this does; it refuses a result for one part of a kind that
    // it does not know.
    return await this.#within(limits, (options) =>
      this.#client.getProtocolEra() === 'modern'
        ? this.#client.callTool(params, options)
        : this.#client.request({ method: 'tools/call', params }, ANYTHING, options),
    );
  }

  async prompt(name: string, args: Readonly<Record<string, string>>, limits: CallLimits): Promise<unknown> {
    return await this.#within(limits, (options) => this.#client.getPrompt({ name, arguments: { ...args } }, options));
  }

  async read(uri: string, limits: CallLimits): Promise<unknown> {
    return await this.#within(limits, (options) => this.#client.readResource({ uri }, options));
  }

  /** Waits for an answer, within the limit of silence. */
  async #within<Result>(limits: CallLimits, ask: (options: RequestOptions) => Promise<Result>): Promise<Result> {
    const { signal, progress } = limits;
    const silence = new Silence(limits.silence);
    const running = { silence, limits };
    this.#calls.add(running);
    try {
      return await ask({
        signal: AbortSignal.any([signal, silence.signal]),
        timeout: NEVER,
        // Without it, servers are not asked to report progress.
        onprogress: (reported: Progress) => {
          silence.heard();
          if (!reported.message?.startsWith(OWN_PROGRESS)) progress(progressText(reported));
        },
      });
    } catch (thrown) {
      silence.signal.throwIfAborted();
      if (UrlElicitationRequiredError.isInstance(thrown)) throw await this.#afterAddresses(thrown, limits);
      throw requestFailure(thrown, this.#client.transport?.sessionId !== undefined);
    } finally {
      silence.pause();
      this.#calls.delete(running);
    }
  }

  /**
   * A call that first needs the user to visit an address is not repeated automatically, because hi cannot know when
   * that is done.
   */
  async #afterAddresses({ elicitations }: UrlElicitationRequiredError, limits: CallLimits): Promise<HiError> {
    for (const { message, url } of elicitations) {
      const answer = await this.#answer({ kind: 'url', message, url }, limits);
      if (answer.action !== 'accept')
        return new HiError('usage', 'The user must visit an address first, and declined.');
    }
    return new HiError(
      'usage',
      'The user must visit an address first. Ask whether that is done, and call the tool again.',
    );
  }

  async #answer(question: Elicitation, { signal, asked }: CallLimits): Promise<ElicitationAnswer> {
    const answer: ElicitationAnswer = (await this.#ask?.(question, signal)) ?? { action: 'decline' };
    asked?.(question, answer.action);
    return answer;
  }

  /** Asks only during a call, and if there is somebody to ask. Declines every other question. */
  async #elicit({ params }: ElicitRequest): Promise<ElicitResult> {
    const [call] = this.#calls;
    if (call === undefined) return { action: 'decline' };
    const { message } = params;
    const question: Elicitation =
      params.mode === 'url'
        ? { kind: 'url', message, url: params.url }
        : { kind: 'form', message, schema: asObject(params.requestedSchema) };
    const asked = this.#question.then(async () => {
      for (const { silence } of this.#calls) silence.pause();
      try {
        return await this.#answer(question, call.limits);
      } finally {
        for (const { silence } of this.#calls) silence.resume();
      }
    });
    this.#question = asked.catch(() => {});
    const answer = await asked;
    if (answer.action !== 'accept' || answer.content === undefined) return { action: answer.action };
    const content = Object.entries(answer.content).map(([name, value]) => [
      name,
      typeof value === 'object' ? [...value] : value,
    ]);
    return { action: 'accept', content: Object.fromEntries(content) };
  }

  onClose(gone: () => void): void {
    this.#client.onclose = gone;
  }

  onChange(changed: () => void): void {
    this.#changed = changed;
    // Servers send these notifications whether or not they declared them.
    for (const list of ['tools', 'prompts', 'resources'] as const)
      this.#client.setNotificationHandler(`notifications/${list}/list_changed`, changed);
  }

  async listen(): Promise<void> {
    if (this.#client.getProtocolEra() !== 'modern') return;
    const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
    const filter = {
      ...(tools?.listChanged && { toolsListChanged: true }),
      ...(prompts?.listChanged && { promptsListChanged: true }),
      ...(resources?.listChanged && { resourcesListChanged: true }),
    };
    if (Object.keys(filter).length === 0) return;
    for (;;) {
      const { closed } = await this.#client.listen(filter, { timeout: this.#timeout });
      if ((await closed) === 'local' || this.#isClosed) return;
      await sleep(LISTEN_AGAIN_MS, undefined, { ref: false });
      if (this.#isClosed) return;
      // Changes while nobody listened were not reported.
      this.#changed();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  get #prior(): JsonObject {
    const discover: unknown = this.#client.getDiscoverResult();
    return isJsonObject(discover) ? { kind: 'modern', discover } : { kind: 'legacy' };
  }
}

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});

function progressText({ progress, total, message }: Progress): string {
  const share = total === undefined || total <= 0 ? String(progress) : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${message}`;
}

/** How much of an invalid answer is quoted. */
const LONGEST_QUOTE = 300;

/** Codes that servers choose for an unknown session instead of answering with 404. */
const OF_SERVERS: readonly unknown[] = [-32000, -32001];

/** What a failed request means, in the terms of a `Client`. */
function requestFailure(thrown: unknown, hasSession: boolean): unknown {
  if (ProtocolError.isInstance(thrown)) return refusal(thrown.code, thrown.message, hasSession);
  if (!SdkHttpError.isInstance(thrown) || thrown.status < 400) return thrown;
  const { status, data } = thrown;
  const text = typeof data.text === 'string' ? data.text.trim() : '';
  // The protocol then requires a new session; the request was not processed.
  if (status === 404 && hasSession) return new SessionExpired('It no longer knows the session.');
  const error = parseObject(text)?.error;
  if (isJsonObject(error) && typeof error.message === 'string') return refusal(error.code, error.message, hasSession);
  return new Error(`It answered with HTTP ${status}${text === '' ? '.' : `: ${text.slice(0, LONGEST_QUOTE)}`}`);
}

function refusal(code: unknown, message: string, hasSession: boolean): Error {
  if (hasSession && OF_SERVERS.includes(code) && /\bsession\b/i.test(message)) return new SessionExpired(message);
  return new ErrorResponse(message);
}

/** How long a call may take in total, in multiples of the limit. */
const MOST_SILENCES = 10;

/** Stops a call whose server is silent for too long. The clock stops while the user is asked something. */
export class Silence {
  readonly #limit: number;
  readonly #stop = new AbortController();
  #left: number;
  #since = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `limit` is how long the server may say nothing, in milliseconds. */
  constructor(limit: number) {
    this.#limit = limit;
    this.#left = MOST_SILENCES * limit;
    this.resume();
  }

  /** Aborts with a `HiError` after too long a silence. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Stops the call for another reason. */
  end(reason: HiError): void {
    this.#stop.abort(reason);
  }

  /** The server has said something. */
  heard(): void {
    if (this.#timer === null) return;
    this.pause();
    this.resume();
  }

  pause(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#left -= monotonic() - this.#since;
  }

  resume(): void {
    if (this.#timer !== null) return;
    this.#since = monotonic();
    const isLast = this.#left <= this.#limit;
    const said = isLast
      ? `it took more than ${(MOST_SILENCES * this.#limit) / 1000} s in total`
      : `it was silent for ${this.#limit / 1000} s`;
    this.#timer = setTimeout(
      () => this.#stop.abort(new HiError('network', `The call timed out: ${said}.`)),
      Math.max(0, Math.min(this.#limit, this.#left)),
    );
  }
}
