import type { Hash } from 'node:crypto';
import type { ContentBlockParam, ToolUnion } from '@anthropic-ai/sdk/resources/messages';
import { isJsonObject } from '../../chat/json.js';
import type { Part } from '../../chat/message.js';
import type { VendorTurn } from '../common/request/normalise-history.js';

/**
 * What stands before an answer in a request: the system text, the tools and the messages, without thinking and cache marks. Claude refuses thinking that
 * comes back behind anything else than it was written behind (platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks), so
 * each thinking part is stored with the id of its prefix and goes back only where the prefix has the same one. Other makers' models check nothing, and some
 * refuse answers whose thinking is missing.
 */
export class ThinkingPrefix {
  /** What is not hashed yet. Most requests are never hashed, because there is no thinking. */
  #unread: unknown[];
  #hash: Hash | null = null;
  readonly #isChecked: boolean;
  /** The blocks of an answer that is not finished: the server paused it. They do not stand before it. */
  #paused: readonly unknown[] = [];

  /** `isChecked`: whether the server is one of Claude's. */
  constructor(system: readonly string[], tools: readonly ToolUnion[], isChecked: boolean) {
    this.#unread = [system, tools];
    this.#isChecked = isChecked;
  }

  /** Sixteen hexadecimal digits. */
  get id(): string {
    this.#hash ??= process.getBuiltinModule('node:crypto').createHash('sha256');
    for (const one of this.#unread) this.#hash.update(JSON.stringify(one));
    this.#unread = [];
    return this.#hash.copy().digest('hex').slice(0, 16);
  }

  /** The next turn of the conversation, without thinking that was written behind another prefix. */
  fit(turn: VendorTurn): VendorTurn {
    if (!this.#isChecked || turn.role !== 'assistant' || !turn.content.some(isThinking)) return turn;
    const { id } = this;
    return { ...turn, content: turn.content.filter((part) => !isThinking(part) || part.opaque?.prefix === id) };
  }

  /** Adds what is sent of the turn. */
  add(role: 'user' | 'assistant', content: readonly ContentBlockParam[]): void {
    const blocks = content.filter(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
    if (role === 'assistant') this.#paused = [...this.#paused, ...blocks];
    else {
      this.#unread.push(this.#paused, blocks);
      this.#paused = [];
    }
  }
}

/** Whether a block of an answer is thinking that Anthropic encrypted. */
export const isRedacted = (block: unknown): boolean => isJsonObject(block) && block.type === 'redacted_thinking';

const isThinking = (part: Part): boolean =>
  part.type === 'thinking' || (part.type === 'vendor' && isRedacted(part.opaque.block));
