import { type Message, textOf, typedText } from '../../chat/message.js';
import { isOwnAddress } from '../../chat/model.js';
import { percent, quantity } from '../../chat/text.js';
import type { Config } from '../../config/config.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import { type AnswerStyle, renderMarkdown } from '../../screen/answer-writer.js';
import { wrapLines } from '../../screen/print.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { KNOWN_SERVERS } from '../../servers/known-servers.js';
import type { Session } from '../../session/session.js';
import { hideHistoryProgress } from '../base/output.js';
import type { Settings, SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import type { WiredSession } from '../wiring/wire.js';
import { AwaySummaries, IdleIndex } from './away.js';

/** So long after the first prompt the servers are started, which by then is on the screen. Milliseconds. */
const SERVERS_BEGIN = 50;

/** The prompt of a chat, and the work that goes on while it waits for the user. */
export class ChatPrompt {
  readonly #wired: WiredSession;
  readonly #usage: WindowUsage;
  readonly #idle: IdleIndex;
  readonly #away: AwaySummaries;
  /** Before the first input nothing is done that the start would have to wait for. */
  #hasSpoken = false;

  constructor(wired: WiredSession, usage: WindowUsage) {
    this.#wired = wired;
    this.#usage = usage;
    this.#idle = new IdleIndex(wired.session);
    this.#away = new AwaySummaries(wired.session);
  }

  /** The text of the next prompt. Begins the work. */
  async next(): Promise<string> {
    const { session, servers, config } = this.#wired;
    hideHistoryProgress();
    if (!this.#hasSpoken) setTimeout(() => servers.begin(), SERVERS_BEGIN).unref();
    if (this.#hasSpoken && session.history.isKept) this.#idle.begin();
    const text = promptText(await this.#usage.read(), session.history.keeping === 'off-record');
    if (this.#hasSpoken && config.compaction.background) {
      void session.ahead.begin();
      this.#away.begin();
    }
    return text;
  }

  /** The user entered something, which may change how full the window is. */
  leave(): void {
    this.#hasSpoken = true;
    this.#idle.wait();
    this.#usage.expire();
    this.#away.end();
  }
}

/** The prompt shows how full the window is from this share on. */
const SHOWN_FROM = 0.5;

/** How much of an answer is laid out to show its end, in characters. */
const LAID_OUT = 8000;

/** `openai/gpt-4o · 42 messages · 12% of the window used · /help`. */
export function greeting(session: Session, used: number): string {
  const { provider, server = provider, model } = session.target;
  const { messages } = session.history.totals;
  const length = messages === 0 ? 'a new conversation' : quantity(messages, 'message');
  if (session.history.isAside) return `${server}/${model} · an aside, without the conversation · /help`;
  // A share of a window that is only assumed would be wrong.
  const share = session.target.window_is_known === false ? [] : [`${percent(used)} of the window used`];
  return [`${server}/${model}`, length, ...share, '/help'].join(' · ');
}

/** How much room there is, and how answers look in it. */
interface Room {
  readonly rows: number;
  readonly style: AnswerStyle;
}

/**
 * The last exchange, shown dimmed at the start in at most so many rows: the beginning of the question and the end of
 * the answer. Empty if there is none.
 */
export async function lastExchange(messages: readonly Message[], { rows, style }: Room): Promise<string> {
  const begin = messages.findLastIndex(({ role }) => role === 'user');
  if (begin < 0) return '';
  const question = messages[begin];
  const answer = messages
    .slice(begin + 1)
    .findLast((message) => message.role === 'assistant' && textOf(message.content) !== '');
  const asked = laidOut(
    `> ${typedText(question?.content ?? [])
      .trim()
      .replaceAll('\n', '\n> ')}`,
    style,
  );
  if (answer === undefined) return firstRows(asked, rows).join('\n');
  const text = neutralise(textOf(answer.content).trim());
  const shown = text.length <= LAID_OUT ? text : text.slice(text.indexOf('\n', text.length - LAID_OUT) + 1);
  const answered = (await renderMarkdown(shown, { ...style, colour: false })).trimEnd().split('\n');
  const head = firstRows(asked, Math.max(1, rows - answered.length));
  return [...head, ...lastRows(answered, rows - head.length)].join('\n');
}

/** Leaves room for the mark of a cut. */
const laidOut = (text: string, { columns }: AnswerStyle): readonly string[] =>
  wrapLines(text, columns() - 2).split('\n');

function firstRows(all: readonly string[], rows: number): readonly string[] {
  return all.length <= rows ? all : [...all.slice(0, rows - 1), `${all[rows - 1]} …`];
}

function lastRows(all: readonly string[], rows: number): readonly string[] {
  return all.length <= rows ? all : ['…', ...all.slice(all.length - rows + 1)];
}

/** `hi> `, `hi 62%> ` once half of the window is used, and `hi off> ` off the record. */
function promptText(used: number, isOffRecord: boolean): string {
  const share = used < SHOWN_FROM ? '' : ` ${percent(used)}`;
  return `hi${share}${isOffRecord ? ' off' : ''}> `;
}

/** How full the window is. Measured when it is asked for, and again after an input. */
export class WindowUsage {
  readonly #session: Session;
  #used: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  async read(): Promise<number> {
    this.#used ??= (await this.#session.status(new AbortController().signal)).used;
    return this.#used;
  }

  expire(): void {
    this.#used = null;
  }
}

/** Whether neither the file nor the command line nor a variable of hi's own chooses a provider. */
function isProviderUnset({ env }: World, options: SettingsOptions, { file, config }: Settings): boolean {
  const server = config?.server ?? '';
  const isNamed = Object.hasOwn(file?.servers ?? {}, server) || file?.model?.split('/')[0] === server;
  return !(isNamed || file?.provider || options.provider || options.model || env.HI_PROVIDER || env.HI_MODEL);
}

/** Why hi uses this provider although none was chosen; null when one was. */
export function detectedProviderNotice(world: World, options: SettingsOptions, settings: Settings): string | null {
  const { config } = settings;
  if (config === null || !isProviderUnset(world, options, settings)) return null;
  const member: ProviderMember = pick(providers, config.provider, 'provider');
  return `Using ${reasonOf(member, config, world)}. To choose a provider or model, run: hi config init`;
}

function reasonOf(member: ProviderMember, { api_base, server }: Config, { env }: World): string {
  const known = KNOWN_SERVERS.find(({ name }) => name === server);
  if (known !== undefined) return `${known.title}: its key is in ${known.keyVariable}`;
  const { title, keyVariables, baseVariable, ownHosts } = member;
  if (api_base !== null && env[baseVariable] && !isOwnAddress(member, api_base)) {
    const host = `'${new URL(api_base).host}'`;
    return `${ownHosts.length === 0 ? `${title} at ${host}` : `the server at ${host}`}: ${baseVariable} names it`;
  }
  const variable = keyVariables.find((name) => env[name]?.trim());
  return `${title}: ${variable === undefined ? 'it runs on this machine' : `its key is in ${variable}`}`;
}
