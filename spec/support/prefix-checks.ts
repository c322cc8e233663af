import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { namedSse, refusal, type VendorAnswer } from './vendor-server.js';

/**
 * Claude with preserved thinking, as
 * https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks describes it: a thinking block
 * is bound to the system text, the tools and everything before it, cache marks apart. It is refused where any of that
 * changed, and where a thinking block between others was left out or moved; a leading run of them may be left out. It
 * thinks before each answer, and calls `list_files` as often as the newest message of the user says ("look 2").
 */
export class PrefixChecks {
  readonly #made = new Map<string, { readonly prefix: string; readonly before: readonly string[] }>();
  /**
   * The thinking blocks of each request to the main model, those that the rule allows to be there, and whether it was
   * refused.
   */
  readonly requests: {
    readonly thinking: readonly string[];
    readonly allowed: readonly string[];
    readonly isRefused: boolean;
    readonly body: JsonObject;
  }[] = [];

  readonly answer = (body: JsonObject): VendorAnswer => {
    if (String(body.model).includes('haiku')) return said({ type: 'text', text: 'They said little.' });
    const { thinking, broken } = this.#check(body);
    this.requests.push({ thinking, allowed: this.#allowed(body), isRefused: broken !== null, body });
    if (broken !== null)
      return refusal(400, { type: 'error', error: { type: 'invalid_request_error', message: broken } });
    const signature = `signed-${this.#made.size + 1}`;
    this.#made.set(signature, { prefix: prefixOf(body, blocksOf(body).length), before: thinking });
    const thought = { type: 'thinking', thinking: `Hm ${this.#made.size}.`, signature };
    const steps = stepsLeft(body);
    if (steps <= 0 || !Array.isArray(body.tools) || isJsonObject(body.tool_choice))
      return said(thought, { type: 'text', text: `Answer ${this.#made.size}.` });
    return said(thought, {
      type: 'tool_use',
      id: `toolu_${this.#made.size}`,
      name: 'list_files',
      input: { path: '.' },
    });
  };

  /** The blocks of answers that are still there, behind what they were written behind. */
  #allowed(body: JsonObject): readonly string[] {
    const blocks = blocksOf(body);
    const answers = new Set(blocks.filter(({ role }) => role === 'assistant').map(({ answer }) => answer));
    const prefixes = new Set([...answers].map((answer) => prefixOf(body, answer)));
    return [...this.#made].filter(([, { prefix }]) => prefixes.has(prefix)).map(([signature]) => signature);
  }

  #check(body: JsonObject): { readonly thinking: readonly string[]; readonly broken: string | null } {
    const thinking: string[] = [];
    const blocks = blocksOf(body);
    for (const [at, { block, answer }] of blocks.entries()) {
      if (block.type !== 'thinking') continue;
      const made = this.#made.get(String(block.signature));
      const isSuffix = made?.before.slice(made.before.length - thinking.length).join() === thinking.join();
      if (made === undefined || !isSuffix || made.prefix !== prefixOf(body, answer))
        return { thinking, broken: `messages.${at}: Invalid \`signature\` in \`thinking\` block` };
      thinking.push(String(block.signature));
    }
    return { thinking, broken: null };
  }
}

interface Placed {
  readonly block: JsonObject;
  readonly role: JsonValue | undefined;
  /** How many blocks stand before the message that it is in. */
  readonly answer: number;
}

function blocksOf({ messages }: JsonObject): readonly Placed[] {
  const all: Placed[] = [];
  for (const { role, content } of list(messages)) {
    const answer = all.length;
    for (const block of list(content)) all.push({ block, role, answer });
  }
  return all;
}

function prefixOf(body: JsonObject, end: number): string {
  const before = blocksOf(body).slice(0, end);
  const said = before.filter(({ block }) => block.type !== 'thinking').map(({ block, role }) => [role, block]);
  return JSON.stringify([body.system ?? null, body.tools ?? null, said], (key, value) =>
    key === 'cache_control' ? undefined : value,
  );
}

/** How many calls are still to come: as many as the newest question names, less those that have their result. */
function stepsLeft(body: JsonObject): number {
  const blocks = blocksOf(body).map(({ block }) => block);
  const asked = blocks.findLastIndex(({ type }) => type === 'text');
  const wanted = Number(/look (\d)/.exec(String(blocks[asked]?.text))?.[1] ?? 0);
  return wanted - blocks.slice(asked).filter(({ type }) => type === 'tool_result').length;
}

function said(...content: readonly JsonObject[]): VendorAnswer {
  const stop_reason = content.at(-1)?.type === 'tool_use' ? 'tool_use' : 'end_turn';
  const usage = { input_tokens: 10, output_tokens: 5 };
  return namedSse(
    {
      type: 'message_start',
      message: { id: 'm', type: 'message', role: 'assistant', model: 'claude', content: [], usage },
    },
    ...content.flatMap((block, index): JsonObject[] => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason }, usage },
    { type: 'message_stop' },
  );
}

const list = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
