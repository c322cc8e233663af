import { mkdirSync, writeFileSync } from 'node:fs';
import type { Entry, NewCompressBlock } from '../../lib/chat/entry.js';
import type { Message } from '../../lib/chat/message.js';
import { printed, zstd } from './history.js';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, type RunOptions, runProgram } from './program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from './scripted-server.js';
import { openTerminal, type Terminal } from './terminal.js';

type Say = (request: SentRequest, index: number) => Reply;

/** What a spec of compaction scripts; what it leaves out works. */
export interface Script {
  /** What the model says that the conversation is held with. */
  readonly answer?: Say;
  /** What the model says that summaries are asked of. */
  readonly summary?: Say;
  /** More of the configuration. */
  readonly config?: object;
  /** What was said before. */
  readonly entries?: readonly Entry[];
}

/** The built program with a small window, a history and a scripted server that is both of its models. */
export interface Compacting extends AsyncDisposable {
  readonly home: Home;
  /** What the main model was asked, oldest first. */
  readonly asked: () => readonly SentRequest[];
  /** What summaries were asked of the small model. */
  readonly summaries: () => readonly SentRequest[];
  hi(args: readonly string[], options?: RunOptions): Promise<Run>;
  /**
   * The last request to the main model: the texts of its system messages, and those of the others, without what stands
   * before an answer that comes first.
   */
  readonly sent: () => { readonly system: readonly string[]; readonly texts: readonly string[] };
  /** What `hi ask --json` reports. */
  json(...words: readonly string[]): Promise<Report>;
  status(): Promise<Readonly<Record<string, unknown>>>;
  /** Starts `hi chat` in a terminal and waits for its prompt. */
  chat(): Promise<Terminal>;
  /** What is on disk. */
  stored(): readonly Entry[];
  /** The compress blocks that are on disk. */
  blocks(): readonly NewCompressBlock[];
}

/** The user's message that compatible servers get before an answer that a compaction left at the head. */
const NOT_SHOWN = '(Earlier messages are not shown.)';

/** What `hi ask --json` prints. */
export interface Report {
  readonly text: string;
  readonly stop_reason: string;
  readonly usage: Readonly<Record<string, number>>;
  readonly tool_calls: readonly unknown[];
  readonly compaction: Readonly<Record<string, unknown>> | null;
}

/** The window in tokens; a compaction is due at 3200 of them, which are 12,800 characters. */
export const WINDOW = 4000;
/** The characters of every message that `turns` makes: 150 tokens. */
const LENGTH = 600;
/** A question that makes ten turns, which are 3000 tokens, reach the trigger. */
export const LAST_STRAW = words('the last straw', 1200);

/** The prompt on the last line, with nothing typed. */
export const PROMPT = (screen: string): boolean => /^hi( \d+%)?>$/.test(screen.trimEnd().split('\n').at(-1) ?? '');

/** Starts the server and makes the home. */
export async function compacting(script: Script = {}): Promise<Compacting> {
  const { answer = () => ({ text: 'ok' }), summary = () => ({ text: 'They talked.' }) } = script;
  const [asked, summaries]: [SentRequest[], SentRequest[]] = [[], []];
  const server: ScriptedServer = await startScriptedServer((request) => {
    const own = request.model === 'small' ? summaries : asked;
    own.push(request);
    return (own === asked ? answer : summary)(request, own.length - 1);
  });
  const home = makeHome({
    provider: 'openai',
    model: 'main',
    api_base: server.base,
    // What was asked is looked for in what was sent.
    clock: false,
    small_model: { model: 'small', context_window: 32_000 },
    context_window: WINDOW,
    tools: { enabled: false },
    ...script.config,
  });
  if (script.entries) store(home, script.entries);
  let terminal: Terminal | null = null;
  const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);
  const stored = (): Entry[] => JSON.parse(printed(home.data));
  return {
    home,
    asked: () => asked,
    summaries: () => summaries,
    hi,
    sent: () => ({
      system: textsOf(asked.at(-1), (role) => role === 'system'),
      texts: textsOf(asked.at(-1), (role) => role !== 'system').filter((one) => one !== NOT_SHOWN),
    }),
    json: async (...text) => JSON.parse((await hi(['ask', '--json', ...text])).stdout),
    async chat() {
      const options = { env: home.env, cwd: home.work, rows: 40, columns: 100 };
      terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], options);
      await terminal.until(PROMPT, 20_000);
      return terminal;
    },
    status: async () => JSON.parse((await hi(['status', '--json'])).stdout),
    stored,
    blocks: () => stored().filter((entry) => 'type' in entry && entry.type === 'compress'),
    async [Symbol.asyncDispose]() {
      await terminal?.close();
      await server.close();
      home.remove();
    },
  };
}

/** That many finished turns: question 1 and answer 1, question 2 and so on, each message with 150 tokens. */
export function turns(count: number, length = LENGTH): Message[] {
  return Array.from({ length: count }, (_, index) => {
    const turn = 2 * index + 1;
    const asked = { ...message(turn, turn, 'user'), content: text(`question ${index + 1}`, length) };
    const answered = { ...message(turn + 1, turn, 'assistant'), content: text(`answer ${index + 1}`, length) };
    return [asked, { ...answered, provider: 'openai', model: 'main', stop_reason: 'end' as const }];
  }).flat();
}

/** A message without content. */
export function message(id: number, turn: number, role: Message['role']): Message {
  const at = new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString();
  return { id, turn, at, cwd: '/', role, content: [] };
}

/** Text of exactly that many characters, beginning with these words. */
export function words(beginning: string, length: number): string {
  return `${beginning} ${'and so on '.repeat(length / 10 + 1)}`.slice(0, length - 1).padEnd(length, '.');
}

/** Writes what was said as the file it is in. */
export function store(home: Home, entries: readonly Entry[]): void {
  mkdirSync(home.data, { recursive: true, mode: 0o700 });
  writeFileSync(home.historyFile, zstd(Buffer.from(JSON.stringify(entries))), { mode: 0o600 });
}

/** The prompt of a request for a summary. */
export const promptOf = (request: SentRequest | undefined): string => String(request?.messages.at(-1)?.content);

/** True when a model is asked for a summary, whichever it is. */
export function isSummary({ messages }: SentRequest): boolean {
  return String(messages[0]?.content).startsWith('You keep the record');
}

/** The first words of each message, up to three. */
export const heads = (texts: readonly string[]): readonly string[] =>
  texts.map((one) => one.split(' ').slice(0, 2).join(' '));

function text(beginning: string, length: number): Message['content'] {
  return [{ type: 'text', text: words(beginning, length) }];
}

function textsOf(request: SentRequest | undefined, isWanted: (role: string) => boolean): readonly string[] {
  return (request?.messages ?? [])
    .filter(({ role }) => isWanted(role))
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}
